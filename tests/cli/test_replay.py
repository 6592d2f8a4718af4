"""`tokenwatch run --recording`"""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from shared.state.ledger import Ledger
from shared.state.sqlite import SqliteStore
from tests.cli.process import COMMAND, DAY, NORTH, WEST, Ended, called, saturated, surroundings
from tests.cli.test_choosing_rules import folder


def replayed(recording: Path, *options: str) -> Ended:
    return called("run", "--recording", str(recording), *options)


def test_a_broken_rule_is_exit_code_1(tmp_path: Path) -> None:
    """The others are judged, and the count comes all the same."""
    mine = folder(tmp_path / "mine", "Mine")
    ended = replayed(saturated(tmp_path / "day.csv", minutes=2), "--rules", str(mine))
    assert ended.code == 1
    assert "when of Mine" in ended.err
    assert "0 events in 2 minutes" in ended.out


def test_the_same_state_again_says_that_nothing_would_be_judged(tmp_path: Path) -> None:
    """It names the account, up to when it is judged, and what to do; later minutes still go on."""
    day, state = saturated(tmp_path / "day.csv"), f"--state=sqlite:{tmp_path}/state.db"
    assert replayed(day, state, "--to", "2026-01-01T00:30").code == 0
    again = replayed(day, state)
    assert again.code == 2
    assert "has judged north up to 2026-01-01T00:29:00Z already" in again.err
    assert "name another file with --state, or none at all, or begin later" in again.err
    assert replayed(day, state, "--from", "2026-01-01T00:29").code == 2
    on = replayed(day, state, "--from", "2026-01-01T00:30")
    assert on.code == 0
    assert "in 10 minutes from 2026-01-01T00:30" in on.out


def test_the_state_of_other_accounts_is_not_touched(tmp_path: Path) -> None:
    """A replay into the state of a live watch would end its alerts: it is refused."""
    day, state = saturated(tmp_path / "day.csv"), f"--state=sqlite:{tmp_path}/state.db"
    other = tmp_path / "other.csv"
    other.write_text(day.read_text(encoding="utf-8").replace(NORTH, WEST), encoding="utf-8")
    assert replayed(other, state).code == 0
    before = heads(tmp_path / "state.db")
    ended = replayed(day, state)
    assert ended.code == 2
    assert "the state holds west, which the recording does not have" in ended.err
    assert heads(tmp_path / "state.db") == before


def heads(path: Path) -> object:
    ledger = Ledger(SqliteStore(str(path)))
    found, _ = ledger.heads()
    ledger.store.close()
    return {shard: head.value for shard, head in found.items()}


@pytest.mark.parametrize(
    ("start", "shown"),
    [("2026-01-01T00:00Z", "00:22 🟠"), ("2026-01-01T23:45Z", "01-02 00:07 🟠")],
)
def test_events_have_the_date_where_hours_do_not_tell(
    tmp_path: Path, start: str, shown: str
) -> None:
    """A replay of one day shows hours; over midnight every line has its day."""
    lines = replayed(saturated(tmp_path / "day.csv", start=start)).out.splitlines()
    assert any(line.startswith(f"{shown} warning  ProvisionedCapacityUsedUp") for line in lines)
    marked = [line for line in lines if "🟠" in line or "🔴" in line]
    assert {bool(re.match(r"\d\d-\d\d ", line)) for line in marked} == {"-" in shown[:6]}


@pytest.mark.parametrize("name", ["file", "file/in/it"])
def test_cards_that_could_not_be_written_end_it_before_it_begins(tmp_path: Path, name: str) -> None:
    """Minutes of judging are not thrown away at the end."""
    (tmp_path / "file").touch()
    ended = replayed(saturated(tmp_path / "day.csv"), "--cards", str(tmp_path / name))
    assert ended.code == 2
    assert ended.out == ""
    assert "cannot be written to" in ended.err
    assert "name another folder" in ended.err


def test_cards_replace_only_cards(tmp_path: Path) -> None:
    """Files of other names in the folder stay."""
    cards = tmp_path / "out" / "cards"
    cards.mkdir(parents=True)
    for name in ("99.json", "mine.json"):
        (cards / name).touch()
    ended = replayed(saturated(tmp_path / "day.csv"), "--cards", str(tmp_path / "out"))
    assert ended.code == 0
    assert sorted(path.name for path in cards.iterdir()) == ["01.json", "02.json", "mine.json"]
    assert (tmp_path / "out" / "cards.html").is_file()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("nothing.csv", None, "cannot be read: No such file"),
        ("folder.csv", "folder", "is a directory"),
        ("noise.csv", bytes(range(128, 256)), "line 1 is no UTF-8 text"),
        ("noise.parquet", bytes(range(256)), "noise.parquet: "),
        ("empty.csv", b"", "the first columns must be"),
    ],
)
def test_what_is_no_recording_is_one_line(
    tmp_path: Path, name: str, content: bytes | str | None, said: str
) -> None:
    """Exit code 2, and no traceback."""
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content:
        path.mkdir()
    ended = replayed(path)
    assert ended.code == 2
    (line,) = [one for one in ended.err.splitlines() if not one.startswith("rules: ")]
    assert line.startswith("error: ")
    assert said in line


def test_a_terminal_shows_how_far_it_is(tmp_path: Path) -> None:
    """A bar on stderr while it runs, and none of it on stdout, which may be a file."""
    inner, outer = pty.openpty()
    command = [*COMMAND, "run", "--recording", str(saturated(tmp_path / "day.csv"))]
    out = (tmp_path / "out.txt").open("w+b")
    with out, subprocess.Popen(command, env=surroundings(), stdout=out, stderr=outer) as process:
        os.close(outer)
        shown = drained(inner)
        process.wait(timeout=60)
        out.seek(0)
        text = out.read().decode()
    assert process.returncode == 0
    assert "01-01 00:39" in shown
    assert "━" in shown
    assert "━" not in text
    assert "ProvisionedCapacityUsedUp" in text
    assert "2 events in 40 minutes" in text


def drained(terminal: int) -> str:
    """Everything that a terminal was sent until nobody holds it any more."""
    shown = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other end is closed
            part = b""
        if not part:
            os.close(terminal)
            return shown.decode()
        shown += part


def test_a_file_shows_nothing_of_it() -> None:
    """No bar in the log of a pipeline."""
    ended = replayed(DAY, "--from", "2024-06-07T02:49", "--to", "2024-06-07T03:00")
    assert ended.code == 0
    assert "━" not in ended.out + ended.err
