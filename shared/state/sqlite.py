"""State in one SQLite file: the default of the command line, safe with several processes."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from shared.state.keys import bound, escape, unescape
from shared.state.store import Conflict, Entity, Exists, StateUnavailable, check_size

PATIENCE = 20.0
"""Seconds to wait for another process that is writing."""

# AUTOINCREMENT never gives a number twice, not even after a delete: every write takes a new one,
# which makes it the ETag.
_TABLE = """CREATE TABLE IF NOT EXISTS entities (
    etag INTEGER PRIMARY KEY AUTOINCREMENT,
    partition TEXT NOT NULL,
    key TEXT NOT NULL,
    value BLOB NOT NULL,
    UNIQUE (partition, key))"""
_COLUMNS = {"etag", "partition", "key", "value"}
_INSERT = "INSERT INTO entities (partition, key, value) VALUES (?, ?, ?)"
_UPSERT = "INSERT OR REPLACE INTO entities (partition, key, value) VALUES (?, ?, ?)"

_TEXTS = {
    sqlite3.SQLITE_BUSY: f"another process held it for over {PATIENCE:.0f} s: stop that process",
    sqlite3.SQLITE_READONLY: "it is read-only: make it and its directory writable",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: make it and its directory readable and writable",
    sqlite3.SQLITE_FULL: "the disk is full: make room",
    sqlite3.SQLITE_IOERR: "the disk failed: check it and its free space",
    sqlite3.SQLITE_NOTADB: "it is no SQLite database: name another file; this one was left as is",
    sqlite3.SQLITE_CORRUPT: "it is damaged: restore a copy, or move it away to begin afresh",
}


class SqliteStore:
    """A StateStore in a file. One connection, one thread at a time."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = Lock()
        _refuse_path(Path(path))
        with self._explained():
            self._connection = sqlite3.connect(
                path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
        try:
            self._prepare()
        except StateUnavailable:
            self._connection.close()
            raise

    def partition(self, partition: str, low: str = "", high: str = "") -> list[Entity]:
        sql = "SELECT key, value, etag FROM entities WHERE partition = ? AND key >= ?"
        values = [escape(partition), bound(low)]
        if high:
            sql += " AND key < ?"
            values.append(bound(high))
        with self._use() as connection:
            rows = connection.execute(sql + " ORDER BY key", values).fetchall()
        return [Entity(partition, unescape(key), value, str(etag)) for key, value, etag in rows]

    def keys(self, partition: str) -> list[str]:
        sql = "SELECT key FROM entities WHERE partition = ? ORDER BY key"
        with self._use() as connection:
            rows = connection.execute(sql, [escape(partition)]).fetchall()
        return [unescape(key) for (key,) in rows]

    def read(self, partition: str, key: str) -> Entity | None:
        sql = "SELECT value, etag FROM entities WHERE partition = ? AND key = ?"
        with self._use() as connection:
            row = connection.execute(sql, [escape(partition), escape(key)]).fetchone()
        return Entity(partition, key, row[0], str(row[1])) if row else None

    def insert(self, partition: str, key: str, value: bytes) -> Entity:
        check_size(partition, key, value)
        with self._use() as connection:
            try:
                cursor = connection.execute(_INSERT, (escape(partition), escape(key), value))
            except sqlite3.IntegrityError:
                raise Exists(f"row {key} of partition {partition} is already there") from None
        return Entity(partition, key, value, str(cursor.lastrowid))

    def replace(self, entity: Entity, value: bytes) -> Entity:
        partition, key = entity.partition, entity.key
        check_size(partition, key, value)
        where = (escape(partition), escape(key))
        with self._transaction() as connection:
            # Delete and insert, not update, so that the row takes a new number.
            deleted = connection.execute(
                "DELETE FROM entities WHERE partition = ? AND key = ? AND etag = ?",
                (*where, int(entity.etag)),
            )
            if deleted.rowcount == 0:
                raise Conflict(f"row {key} of partition {partition} was changed by another")
            cursor = connection.execute(_INSERT, (*where, value))
        return Entity(partition, key, value, str(cursor.lastrowid))

    def write(self, partition: str, values: Mapping[str, bytes]) -> None:
        for key, value in values.items():
            check_size(partition, key, value)
        rows = [(escape(partition), escape(key), value) for key, value in values.items()]
        with self._transaction() as connection:
            connection.executemany(_UPSERT, rows)

    def delete(self, partition: str, keys: Iterable[str]) -> None:
        rows = [(escape(partition), escape(key)) for key in keys]
        with self._transaction() as connection:
            connection.executemany("DELETE FROM entities WHERE partition = ? AND key = ?", rows)

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _prepare(self) -> None:
        with self._use() as connection:
            self._refuse_foreign(connection)
            _write_ahead(connection)
            connection.execute(_TABLE)

    def _refuse_foreign(self, connection: sqlite3.Connection) -> None:
        """The database of another program is left as it is."""
        sql = "SELECT name FROM sqlite_master WHERE type = 'table'"
        tables = {name for (name,) in connection.execute(sql)}
        columns = {row[1] for row in connection.execute("PRAGMA table_info(entities)")}
        if tables and columns != _COLUMNS:
            raise StateUnavailable(
                f"state {self._path}: it is the database of another program: name another file; "
                "this one was left as is"
            )

    @contextmanager
    def _use(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._explained():
            yield self._connection

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._use() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                # Some errors, such as a full disk, have rolled back already.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            text = _TEXTS.get(code, str(error))
            raise StateUnavailable(f"state {self._path}: {text}") from error


def _refuse_path(path: Path) -> None:
    if path.is_dir():
        raise StateUnavailable(f"state {path}: it is a directory: name a file in it")
    if not path.parent.is_dir():
        raise StateUnavailable(
            f"state {path}: the directory {path.parent} does not exist: create it, or name "
            "another path"
        )


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Readers and one writer at a time. The switch itself does not wait for other processes."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
