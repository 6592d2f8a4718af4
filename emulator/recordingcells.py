"""The cells of a recording's file, column by column; what is wrong is named with its place."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from emulator.tape import KEYS, Component, RecordingError, components


@dataclass(frozen=True)
class Cells:
    """A CSV file as text, or a Parquet file that is read a column at a time."""

    path: Path
    components: Mapping[str, Component]
    """By the names of their columns."""
    rows: int
    source: Any = field(repr=False)
    """The table of a CSV file; the open Parquet file."""

    def __getitem__(self, name: str) -> Any:
        if isinstance(self.source, pa.Table):
            return self.source[name]
        with _explained(self.path):
            return self.source.read(columns=[name])[name]

    def wrong(self, row: int, column: str, text: str) -> NoReturn:
        """Ends the reading at a cell; rows count from 0."""
        if isinstance(self.source, pa.Table):
            place = f"line {_line(self.path, row)}"
        else:
            place = f"row {row + 1}"
        raise RecordingError(f"{self.path}: {place}, column {column}: {text}")


@contextmanager
def opened(path: Path) -> Iterator[Cells]:
    """The cells of a file, CSV unless its suffix is .parquet."""
    if path.is_dir():
        raise RecordingError(f"{path} is a directory: name the file of the recording")
    if path.suffix == ".parquet":
        with path.open("rb") as file, _explained(path):
            # Names repeat in every row; as dictionaries they take a fraction of the room.
            whole = pyarrow.parquet.ParquetFile(file, read_dictionary=list(KEYS))
            named = components(path, whole.schema_arrow.names)
            yield Cells(path, named, whole.metadata.num_rows, whole)
    else:
        names = _header(path)
        named, table = components(path, names), _csv(path, names)
        yield Cells(path, named, table.num_rows, table)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise RecordingError(f"{path}: {error}") from error


def _csv(path: Path, names: Sequence[str]) -> Any:
    try:
        return _table(path, names, pa.float64())
    except pa.ArrowInvalid:
        # As text, so that a cell that is no number can be named with its line.
        try:
            return _table(path, names, pa.string())
        except pa.ArrowInvalid as error:
            _refuse_bytes(path)
            raise RecordingError(f"{path}: {error}") from error


def _table(path: Path, names: Sequence[str], kind: Any) -> Any:
    kinds = dict.fromkeys(names, kind)
    kinds |= dict.fromkeys(KEYS, pa.dictionary(pa.int32(), pa.string()))
    options = pyarrow.csv.ConvertOptions(
        column_types=kinds, strings_can_be_null=True, null_values=[""]
    )
    ragged: list[None] = []

    def skip(_row: Any) -> str:
        ragged.append(None)
        return "skip"

    parsing = pyarrow.csv.ParseOptions(invalid_row_handler=skip)
    with path.open("rb") as file:
        table = pyarrow.csv.read_csv(file, parse_options=parsing, convert_options=options)
    if ragged:
        _refuse_ragged(path, len(names))
    return table


def _header(path: Path) -> list[str]:
    """The names of the columns; a mark of UTF-8 that Excel puts before them is none of them."""
    with path.open("rb") as file:
        line = file.readline(1 << 20)
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        _refuse_bytes(path)
        raise
    return next(csv.reader([text]), [])


def _refuse_bytes(path: Path) -> None:
    """Names the first line that is no text, if that is what is wrong."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                raise RecordingError(
                    f"{path}: line {number} is no UTF-8 text: a recording is CSV in UTF-8, or "
                    "Parquet in a file that is named *.parquet"
                ) from None


def _refuse_ragged(path: Path, wanted: int) -> NoReturn:
    for number, cells in _csv_rows(path):
        if len(cells) != wanted:
            found = f"{len(cells)} cell{'' if len(cells) == 1 else 's'}"
            raise RecordingError(f"{path}: line {number}: {found} instead of {wanted}")
    raise RecordingError(f"{path}: the lines do not all have {wanted} cells")


def _line(path: Path, row: int) -> int:
    """The line of a row: empty lines are none."""
    lines = (number for n, (number, _) in enumerate(_csv_rows(path)) if n == row + 1)
    return next(lines, row + 2)


def _csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = csv.reader(file)
        for cells in lines:
            if cells:
                yield lines.line_num, cells
