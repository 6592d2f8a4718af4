"""Commands that read a state: it has to be there, and to be ours."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from shared.state.sqlite import SqliteStore
from tests.cli.process import DAY, ROOT, called

RECORD = ("change", "record", "--kind", "capacity", "--deployment", "chat", "--reference", "more")
COMMANDS = pytest.mark.parametrize(
    "command",
    [("state", "show"), ("state", "delete", "heads", "x"), ("change", "list"), RECORD],
    ids=" ".join,
)


@COMMANDS
@pytest.mark.parametrize("setting", [True, False])
def test_a_mistyped_name_makes_no_state(
    tmp_path: Path, command: tuple[str, ...], *, setting: bool
) -> None:
    """Whether an option or a setting names it: exit code 2, and no file."""
    state = f"sqlite:{tmp_path}/mistyped.db"
    if setting:
        ended = called(*command, TOKENWATCH_STATE=state)
    else:
        ended = called(*command, "--state", state)
    assert ended.code == 2
    assert (
        f"there is no state at {tmp_path}/mistyped.db; it is made by `tokenwatch run`" in ended.err
    )
    assert list(tmp_path.iterdir()) == []


@COMMANDS
def test_the_default_has_to_be_there_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """In a folder in which nothing was watched yet nothing is made."""
    monkeypatch.chdir(tmp_path)
    ended = called(*command)
    assert ended.code == 2
    assert "there is no state at tokenwatch.db" in ended.err
    assert list(tmp_path.iterdir()) == []


@COMMANDS
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Text, another program's database, a directory: one line with a cure."""
    (tmp_path / "notes.txt").write_text("notes\n" * 99, encoding="utf-8")
    (tmp_path / "folder").mkdir()
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE bookmarks (url TEXT)")
    for name, cure in (
        ("notes.txt", "no SQLite database: name another file"),
        ("other.db", "another program: name another file"),
        ("folder", "is a directory: name a file in it"),
    ):
        before = (tmp_path / name).read_bytes() if name != "folder" else b""
        ended = called(*command, "--state", f"sqlite:{tmp_path}/{name}")
        assert ended.code == 2
        assert cure in ended.err
        assert len(ended.err.splitlines()) == 1
        assert name == "folder" or (tmp_path / name).read_bytes() == before


def test_a_state_that_is_there_is_read(tmp_path: Path) -> None:
    """An empty one is none to complain about."""
    SqliteStore(f"{tmp_path}/state.db").close()
    ended = called("state", "show", "--state", f"sqlite:{tmp_path}/state.db")
    assert ended.code == 0
    assert "nothing yet" in ended.out


def test_the_documented_layout_is_the_real_one(tmp_path: Path) -> None:
    """What docs/baselines.md shows of `state show` is what comes out, figures aside."""
    text = (ROOT / "docs" / "baselines.md").read_text(encoding="utf-8")
    block = text.partition("$ tokenwatch state show --state sqlite:day.db\n")[2].partition("\n\n")[
        0
    ]
    state = f"sqlite:{tmp_path}/day.db"
    begin = ("--from", "2024-06-07T02:49", "--to", "2024-06-07T02:51")
    assert called("run", "--recording", str(DAY), *begin, "--state", state).code == 0
    shown = called("state", "show", "--state", state).out
    assert outline(shown) == outline(block)


def outline(text: str) -> list[str]:
    """The lines without their figures, margins and rules."""
    return [re.sub(r"[\d.:TZ-]+", "#", line.rstrip(" ─")).strip() for line in text.splitlines()]
