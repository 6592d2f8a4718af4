"""Writes recordings: a table as it is, or tapes as they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from emulator.tape import Component, Tape


def write(table: Any, path: Path) -> None:
    """Write a table of the shape above, as CSV or Parquet by the suffix."""
    with _writing(path, table.schema) as file:
        file.write_table(table)


def write_tapes(path: Path, components: Sequence[Component], tapes: Iterable[Tape]) -> int:
    """Writes tapes as they come, and says how many rows: what was written is not held in memory.

    A deployment may come in several tapes, one behind the other in time. Minutes without a point
    take no row. Components that a tape does not have stay empty.
    """
    kinds = [("time", pa.timestamp("s", tz="UTC")), ("account", pa.string())]
    kinds += [("deployment", pa.string()), *((str(one), pa.float64()) for one in components)]
    if path.suffix != ".parquet":
        kinds[0] = ("time", pa.string())
    schema, rows = pa.schema(kinds), 0
    with _writing(path, schema) as file:
        for tape in tapes:
            table = _table(tape, components, schema)
            file.write_table(table)
            rows += table.num_rows
    return rows


def _table(tape: Tape, components: Sequence[Component], schema: Any) -> Any:
    if strangers := [str(one) for one in tape.columns if one not in components]:
        raise ValueError(f"{tape.deployment} has columns that the file has not: {strangers}")
    size = max((len(values) for values in tape.columns.values()), default=0)
    nothing = np.full(size, np.nan)
    values = [tape.columns.get(one, nothing) for one in components]
    told = np.flatnonzero(~np.isnan(values).all(axis=0)) if values else np.array([], dtype=np.int64)
    time = pa.array((tape.begin + told) * 60).cast(pa.timestamp("s", tz="UTC"))
    if pa.types.is_string(schema.field("time").type):
        time = pc.strftime(time, "%Y-%m-%dT%H:%M:%SZ")
    names = [pa.repeat(name, len(told)) for name in (tape.account, tape.deployment)]
    columns = [pa.array(one[told], from_pandas=True) for one in values]
    return pa.table([time, *names, *columns], schema=schema)


@contextmanager
def _writing(path: Path, schema: Any) -> Iterator[Any]:
    if path.suffix == ".parquet":
        with pyarrow.parquet.ParquetWriter(path, schema) as parquet:
            yield parquet
        return
    options = pyarrow.csv.WriteOptions(quoting_style="none", quoting_header="none")
    with pyarrow.csv.CSVWriter(path, schema, write_options=options) as text:
        yield text
