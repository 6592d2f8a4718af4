"""What only the SQLite store does."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from shared.state.sqlite import SqliteStore
from shared.state.store import StateUnavailable

_WORKER = """
import sys
from shared.state.sqlite import SqliteStore
from shared.state.store import Conflict, Exists
store = SqliteStore(sys.argv[1])
done = 0
while done < 50:
    entity = store.read("p", "count")
    try:
        if entity is None:
            store.insert("p", "count", b"1")
        else:
            store.replace(entity, str(int(entity.value) + 1).encode())
    except (Conflict, Exists):
        continue
    done += 1
store.close()
"""


def test_two_processes(tmp_path: Path) -> None:
    """Several processes that open and change one new file at once lose no update."""
    path = str(tmp_path / "state.db")
    command = [sys.executable, "-c", _WORKER, path]
    root = Path(__file__).parents[2]
    workers = [subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE) for _ in range(3)]
    errors = [worker.communicate(timeout=30)[1].decode() for worker in workers]
    assert errors == ["", "", ""]
    store = SqliteStore(path)
    entity = store.read("p", "count")
    store.close()
    assert entity is not None
    assert entity.value == b"150"


def test_survives_reopening(tmp_path: Path) -> None:
    """What was written is there when the file is opened again, and ETags do not repeat."""
    path = str(tmp_path / "state.db")
    store = SqliteStore(path)
    entity = store.insert("p", "k", b"v")
    store.close()
    store = SqliteStore(path)
    assert store.read("p", "k") == entity
    store.delete("p", ["k"])
    assert store.insert("p", "k", b"v").etag != entity.etag
    store.close()


def test_missing_directory(tmp_path: Path) -> None:
    """A path in a directory that does not exist says to create it."""
    with pytest.raises(StateUnavailable, match="nowhere does not exist: create it"):
        SqliteStore(str(tmp_path / "nowhere" / "state.db"))


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    """The path of a directory says so."""
    with pytest.raises(StateUnavailable, match="is a directory: name a file in it"):
        SqliteStore(str(tmp_path))


@pytest.mark.parametrize("times", [1, 100])
def test_other_file(tmp_path: Path, times: int) -> None:
    """A file that is no database is refused and left as it is, however short."""
    path = tmp_path / "notes.txt"
    path.write_text("my notes, for years\n" * times)
    with pytest.raises(StateUnavailable, match="no SQLite database: name another file"):
        SqliteStore(str(path))
    assert path.read_text() == "my notes, for years\n" * times


@pytest.mark.parametrize(
    "table",
    [
        "bookmarks (id INTEGER PRIMARY KEY, url TEXT)",
        "entities (id INTEGER PRIMARY KEY, name TEXT)",
    ],
)
def test_the_database_of_another_program(tmp_path: Path, table: str) -> None:
    """It is refused and left as it is, byte for byte, also if it has a table of our name."""
    path = tmp_path / "places.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"CREATE TABLE {table}")
    before = path.read_bytes()
    with pytest.raises(StateUnavailable, match="another program: name another file"):
        SqliteStore(str(path))
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["places.db"]


def test_an_empty_file_becomes_a_state(tmp_path: Path) -> None:
    """What `touch` made is as good as nothing."""
    path = tmp_path / "state.db"
    path.touch()
    store = SqliteStore(str(path))
    store.insert("p", "k", b"v")
    assert store.keys("p") == ["k"]
    store.close()


def _with_pragma(tmp_path: Path, pragma: str) -> SqliteStore:
    """A store whose connection meets a real refusal of SQLite, also for root."""
    store = SqliteStore(str(tmp_path / "state.db"))
    store._connection.execute(f"PRAGMA {pragma}")
    return store


def test_read_only(tmp_path: Path) -> None:
    """A place that cannot be written to says what to make writable."""
    store = _with_pragma(tmp_path, "query_only = 1")
    with pytest.raises(StateUnavailable, match="read-only: make it and its directory writable"):
        store.insert("p", "k", b"v")
    store.close()


def test_full_disk(tmp_path: Path) -> None:
    """A full disk is named, nothing is half written, and the store works on with room again."""
    store = _with_pragma(tmp_path, "max_page_count = 8")
    with pytest.raises(StateUnavailable, match="disk is full: make room"):
        store.write("p", {"a": b"small", "b": bytes(500_000)})
    assert store.keys("p") == []
    store._connection.execute("PRAGMA max_page_count = 100000")
    store.write("p", {"b": bytes(500_000)})
    assert store.keys("p") == ["b"]
    store.close()


def test_locked(tmp_path: Path) -> None:
    """A file that another process holds for too long says so."""
    one = SqliteStore(str(tmp_path / "state.db"))
    two = _with_pragma(tmp_path, "busy_timeout = 50")
    one._connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(StateUnavailable, match="another process held it"):
        two.insert("p", "k", b"v")
    one.close()
    two.close()


def test_closed(tmp_path: Path) -> None:
    """A store used after it was closed raises a StateError, not one of SQLite's."""
    store = SqliteStore(str(tmp_path / "state.db"))
    store.close()
    with pytest.raises(StateUnavailable, match="closed"):
        store.read("p", "k")
