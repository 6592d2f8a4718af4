"""The pieces that were fetched, beside the file that they will be: FILE.part/.

Each piece is written whole or not at all, so whatever ends the program, what is there counts.
"""

from __future__ import annotations

import io
import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet

from replay.recordgaps import Gap
from replay.recordplan import Asked, Order, Piece, RecordError
from replay.recordtable import KEY

COMPRESSION = "zstd"


class Kept(msgspec.Struct, frozen=True):
    """What a part says of itself."""

    gaps: tuple[Gap, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Parts:
    """The parts of one recording."""

    folder: Path

    @classmethod
    def beside(cls, out: Path) -> Parts:
        return cls(out.with_name(out.name + ".part"))

    def path(self, piece: Piece) -> Path:
        return self.folder / f"{piece.number:05d}.parquet"

    def resumed(self, asked: Asked) -> Order | None:
        """The order that was begun here, if it is for the same.

        Raises:
            RecordError: something else was begun here.
        """
        try:
            order = msgspec.json.decode((self.folder / "order.json").read_bytes(), type=Order)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError:
            order = None
        if order is None or order.asked != asked:
            raise RecordError(
                f"{self.folder} was begun for other times, accounts or rules: ask for the same "
                "again to go on with it, delete it, or choose another --out"
            )
        return order

    @property
    def begun(self) -> bool:
        return (self.folder / "order.json").exists()

    def begin(self, order: Order) -> Order:
        write_whole(self.folder / "order.json", msgspec.json.encode(order))
        return order

    def kept(self, piece: Piece) -> Kept | None:
        """What the part of a piece says of itself; None where there is no such part."""
        if not self.path(piece).exists():
            return None
        schema = pyarrow.parquet.read_schema(self.path(piece))
        return msgspec.json.decode(schema.metadata[KEY], type=Kept)

    def put(self, piece: Piece, table: pa.Table, kept: Kept) -> None:
        sink = io.BytesIO()
        noted = table.replace_schema_metadata({KEY: msgspec.json.encode(kept)})
        pyarrow.parquet.write_table(noted, sink, compression=COMPRESSION)
        write_whole(self.path(piece), sink.getvalue())

    def tables(self, pieces: Sequence[Piece]) -> Iterator[pa.Table]:
        """The rows of each piece, with all columns that any of them has, one spelling a name."""
        schemas = [pyarrow.parquet.read_schema(self.path(piece)) for piece in pieces]
        columns = sorted({name for schema in schemas for name in schema.names[3:]})
        names: dict[tuple[str, str], str] = {}
        for piece in pieces:
            yield _completed(pyarrow.parquet.read_table(self.path(piece)), columns, names)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps others out for the length of a `with`; the system lets go when the program ends.

        Raises:
            RecordError: another program is at it.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        # A lock of SQLite works alike on every system, and none is left behind by a kill.
        lock = sqlite3.connect(self.folder / "lock", timeout=0, isolation_level=None)
        try:
            lock.execute("BEGIN EXCLUSIVE")
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise OSError(str(error)) from None
            target = self.folder.name.removesuffix(".part")
            raise RecordError(
                f"{target} is being recorded by another run of tokenwatch: wait for it, or choose "
                "another --out"
            ) from None
        finally:
            lock.close()


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file so that it is there with all of its content or not at all."""
    unfinished = path.with_name(path.name + ".new")
    with unfinished.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def _completed(
    table: pa.Table, columns: Sequence[str], names: dict[tuple[str, str], str]
) -> pa.Table:
    """With every column, and each deployment in the spelling in which it was first seen."""
    pairs = list(zip(table["account"].to_pylist(), table["deployment"].to_pylist(), strict=True))
    spelled = [names.setdefault((account, name.casefold()), name) for account, name in pairs]
    keys = {
        "time": table["time"],
        "account": table["account"],
        "deployment": pa.array(spelled, pa.string()),
    }
    nothing = pa.nulls(table.num_rows, pa.float64())
    have = set(table.column_names)
    return pa.table(keys | {c: table[c] if c in have else nothing for c in columns})
