"""The columns of a recording as arrays: minutes, names, numbers, or the cell that is none."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from emulator.recordingcells import Cells
from emulator.times import seconds_of

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]
_PER_MINUTE = {"s": 60, "ms": 60_000, "us": 60_000_000, "ns": 60_000_000_000}
_LAST = int(seconds_of("9999-12-31T23:59:00Z")) // 60
_CURE = "a value is a number from 0 on, or an empty cell where there is no point"


def minutes_of(cells: Cells) -> Whole:
    """The column `time` as minutes since 1970."""
    column = cells["time"]
    if pa.types.is_timestamp(column.type):
        known = pc.fill_null(column.cast(pa.int64()), -1).to_numpy()
        minutes: Whole = known // _PER_MINUTE[column.type.unit]
        bad = (known % _PER_MINUTE[column.type.unit] != 0) | (minutes < 0) | (minutes > _LAST)
    else:
        codes, texts = _encoded(cells, "time")
        table = np.array([*map(_minute, texts), -1], dtype=np.int64)
        minutes = table[codes]
        bad = minutes < 0
    if bad.any():
        row = int(bad.argmax())
        text = "is no whole UTC minute such as 2026-12-01T00:55:00Z"
        cells.wrong(row, "time", f"{_shown(column, row)} {text}")
    return minutes


def _minute(text: str | None) -> int:
    try:
        minute, rest = divmod(seconds_of(text or ""), 60)
    except ValueError:
        return -1
    return int(minute) if rest == 0 else -1


def names_of(cells: Cells, column: str) -> tuple[Whole, list[str]]:
    """A number a row for each name, and the names in their first spelling: case does not count."""
    codes, texts = _encoded(cells, column)
    missing = np.array([*(not text for text in texts), True])[codes]
    if missing.any():
        cells.wrong(int(missing.argmax()), column, "must not be empty")
    first: dict[str, int] = {}
    same = [first.setdefault((text or "").casefold(), n) for n, text in enumerate(texts)]
    return np.array(same, dtype=np.int64)[codes], [text or "" for text in texts]


def _encoded(cells: Cells, column: str) -> tuple[Whole, list[str | None]]:
    """A number a row, -1 for an empty cell, and the text of each number."""
    values = cells[column]
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        cells.wrong(0, column, f"holds {kind}, and must hold text")
    if not pa.types.is_dictionary(values.type):
        values = pc.dictionary_encode(values)
    values = values.unify_dictionaries()
    texts = values.chunk(0).dictionary.to_pylist() if values.num_chunks else []
    parts = [chunk.indices.fill_null(-1).to_numpy() for chunk in values.chunks]
    return np.concatenate(parts).astype(np.int64), texts


def numbers_of(cells: Cells, name: str) -> Floats:
    """A column of values; NaN where a cell is empty."""
    column = cells[name]
    try:
        cast = column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        _refuse_text(cells, name, column)
    numbers: Floats = pc.fill_null(cast, 0.0).to_numpy()
    bad = ~np.isfinite(numbers) | (numbers < 0)
    if bad.any():
        row = int(bad.argmax())
        cells.wrong(row, name, f"{_shown(column, row)} is no value of a metric: {_CURE}")
    if cast.null_count:
        numbers = np.where(pc.is_null(cast).to_numpy(), np.nan, numbers)
    return numbers


def _refuse_text(cells: Cells, name: str, column: Any) -> NoReturn:
    for row, cell in enumerate(column):
        try:
            cell.cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            cells.wrong(row, name, f"{cell.as_py()!r} is no number: {_CURE}")
    cells.wrong(0, name, f"holds {column.type}: {_CURE}")


def _shown(column: Any, row: int) -> str:
    """A cell as an error quotes it."""
    try:
        value = column[row].as_py()
    except (ValueError, OverflowError):
        return "a time that no calendar has"
    if value is None:
        return "an empty cell"
    return repr(value) if isinstance(value, str | int | float) else str(value)
