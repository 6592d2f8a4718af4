"""The file of a recording, column by column; whatever is wrong is named with line and column."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from emulator.catalogue import metrics
from emulator.source import Array
from emulator.times import minute_of, seconds_of

KEYS = ("time", "account", "deployment")
COMPONENT = re.compile(r"(?P<metric>\w+):(?P<aggregation>\w+)(?:\[(?P<where>[^\]]+)\])?")
Minutes = np.ndarray[Any, np.dtype[np.int64]]


class RecordingError(ValueError):
    """A recording that cannot be read; the text says file, line and column."""


@dataclass(frozen=True, slots=True)
class Component:
    metric: str
    aggregation: str
    where: tuple[tuple[str, str], ...]


def write(table: Any, path: Path) -> None:
    """Write a table of the shape above, as CSV or Parquet by the suffix."""
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        options = pyarrow.csv.WriteOptions(quoting_style="none", quoting_header="none")
        pyarrow.csv.write_csv(table, path, options)


def read(path: Path) -> Any:
    try:
        table = _rows(path)
    except pa.ArrowInvalid as error:
        raise RecordingError(f"{path}: {error}") from error
    names = table.column_names
    if tuple(names[: len(KEYS)]) != KEYS:
        raise RecordingError(f"{path}: line 1: the first columns must be {', '.join(KEYS)}")
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise RecordingError(f"{path}: line 1: column {doubled[0]} is given twice")
    if not table.num_rows:
        raise RecordingError(f"{path}: there are no rows")
    return table


def _rows(path: Path) -> Any:
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path)
    with path.open(encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    # As text, so that a cell that is no number can be named with its line.
    text = {name.strip('"'): pa.string() for name in names}
    options = pyarrow.csv.ConvertOptions(
        column_types=text, strings_can_be_null=True, null_values=[""]
    )

    ragged: list[str] = []

    def note(row: Any) -> str:
        found, wanted = row.actual_columns, row.expected_columns
        ragged.append(f"{path}: line {row.number}: {found} cells instead of {wanted}")
        return "skip"

    table = pyarrow.csv.read_csv(
        path,
        # One thread, because only then do rows know their number.
        read_options=pyarrow.csv.ReadOptions(use_threads=False),
        parse_options=pyarrow.csv.ParseOptions(invalid_row_handler=note),
        convert_options=options,
    )
    if ragged:
        raise RecordingError(ragged[0])
    return table


def component(path: Path, column: str) -> Component:
    match = COMPONENT.fullmatch(column)
    metric = metrics().get(match["metric"].casefold()) if match else None
    if not match or not metric or match["aggregation"] not in metric.aggregations:
        raise RecordingError(f"{path}: line 1: column {column!r} names no metric and aggregation")
    pairs = [pair.partition("=") for pair in (match["where"] or "").split(";") if pair]
    where = tuple((metric.dimension(name), value) for name, _, value in pairs)
    named = tuple((name, value) for name, value in where if name and value)
    if named != where:
        raise RecordingError(f"{path}: line 1: column {column!r} names an unknown dimension")
    return Component(metric.name, match["aggregation"], named)


def refuse_mixtures(path: Path, components: Sequence[Component]) -> None:
    """A whole beside its parts would be counted twice."""
    whole = {(c.metric, c.aggregation) for c in components if not c.where}
    for part in components:
        if part.where and (part.metric, part.aggregation) in whole:
            raise RecordingError(f"{path}: line 1: {part.metric} is given whole and in parts")


def minutes(path: Path, table: Any) -> Minutes:
    if pa.types.is_timestamp(table["time"].type):
        seconds = table["time"].cast(pa.timestamp("s", tz="UTC")).cast(pa.int64())
        minutes: Minutes = seconds.to_numpy() // 60
        return minutes
    known: dict[str | None, int] = {}
    for text in table["time"].unique().to_pylist():
        try:
            known[text] = minute_of(text or "")
            whole = seconds_of(text) % 60 == 0
        except ValueError:
            whole = False
        if not whole:
            line = table["time"].to_pylist().index(text) + 2
            raise RecordingError(f"{path}: line {line}, column time: {text!r} is no UTC minute")
    return np.array([known[text] for text in table["time"].to_pylist()], dtype=np.int64)


def numbers(path: Path, table: Any, column: str) -> Array:
    try:
        numbers = pc.fill_null(table[column].cast(pa.float64()), float("nan"))
    except pa.ArrowInvalid as error:
        for line, cell in enumerate(table[column].to_pylist(), start=2):
            if cell is not None and not _is_number(cell):
                text = f"line {line}, column {column}: {cell!r} is no number"
                raise RecordingError(f"{path}: {text}") from error
        raise RecordingError(f"{path}: column {column}: {error}") from error
    array: Array = numbers.to_numpy()
    return array


def _is_number(cell: str) -> bool:
    try:
        pa.scalar(cell).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True
