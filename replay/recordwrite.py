"""The parts of a recording -> its file, part by part, so that it need not fit into memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from replay.recordparts import COMPRESSION, Parts
from replay.recordplan import Piece
from replay.recordtable import KEY, About

SUFFIXES = (".parquet", ".csv")


def write(out: Path, parts: Parts, pieces: Sequence[Piece], about: About) -> bool:
    """Writes the file whole or not at all; False where there is no row to write."""
    unfinished = parts.folder / f"whole{out.suffix}"
    tables = (table for table in parts.tables(pieces) if table.num_rows)
    first = next(tables, None)
    if first is None:
        return False
    all_tables = chain([first], tables)
    if out.suffix == ".csv":
        _csv(unfinished, first.schema, all_tables)
    else:
        _parquet(unfinished, first.schema, all_tables, about)
    with unfinished.open("rb+") as file:
        os.fsync(file.fileno())
    unfinished.replace(out)
    return True


def _parquet(path: Path, schema: pa.Schema, tables: Iterable[pa.Table], about: About) -> None:
    noted = schema.with_metadata({KEY: msgspec.json.encode(about)})
    with pyarrow.parquet.ParquetWriter(path, noted, compression=COMPRESSION) as writer:
        for table in tables:
            writer.write_table(table)


def _csv(path: Path, schema: pa.Schema, tables: Iterable[pa.Table]) -> None:
    as_text = schema.set(0, pa.field("time", pa.string()))
    options = pyarrow.csv.WriteOptions(quoting_style="none", quoting_header="none")
    with pyarrow.csv.CSVWriter(path, as_text, write_options=options) as writer:
        for table in _worded(tables):
            writer.write_table(table)


def _worded(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """With times as Azure writes them."""
    for table in tables:
        seconds = table["time"].cast(pa.timestamp("s", tz="UTC"))
        yield table.set_column(0, "time", pc.strftime(seconds, format="%Y-%m-%dT%H:%M:%SZ"))
