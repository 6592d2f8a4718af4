"""Which folder of rules a command takes, the same for all of them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli.rules import SHIPPED
from tests.cli.process import Ended, called, saturated

BROKEN = "rules:\n  - name: Slow\n    when: tlt > 10s\n"


def folder(path: Path, *broken: str) -> Path:
    """A folder with the shipped signals, and a broken rule that tells which folder it is."""
    path.mkdir()
    shutil.copy(SHIPPED / "signals.yaml", path)
    for name in broken:
        (path / "mine.yaml").write_text(BROKEN.replace("Slow", name), encoding="utf-8")
    return path


def asked(command: str, here: Path, *options: str, **environment: str) -> Ended:
    if command == "check":
        return called("check", *options, **environment)
    recording = saturated(here / "day.csv", minutes=2)
    return called("run", "--recording", str(recording), *options, **environment)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which commands run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


EVERY = pytest.mark.parametrize("command", ["check", "run"])


@EVERY
def test_the_option_comes_first(here: Path, command: str) -> None:
    """--rules is taken whatever else there is, and needs no telling."""
    folder(here / "rules", "OfTheFolder")
    setting = folder(here / "setting", "OfTheSetting")
    named = folder(here / "named", "Named")
    ended = asked(command, here, "--rules", str(named), TOKENWATCH_RULES=str(setting))
    assert "when of Named" in ended.out + ended.err
    assert "rules:" not in ended.err


@EVERY
def test_then_the_setting(here: Path, command: str) -> None:
    """TOKENWATCH_RULES comes before ./rules."""
    folder(here / "rules", "OfTheFolder")
    setting = folder(here / "setting", "OfTheSetting")
    ended = asked(command, here, TOKENWATCH_RULES=str(setting))
    assert "when of OfTheSetting" in ended.out + ended.err
    assert f"rules: {setting} (TOKENWATCH_RULES)" in ended.err


@EVERY
def test_then_the_folder_here(here: Path, command: str) -> None:
    """./rules is taken where rule files lie in it."""
    found = folder(here / "rules", "OfTheFolder")
    ended = asked(command, here)
    assert "when of OfTheFolder" in ended.out + ended.err
    assert f"rules: {found} (./rules)" in ended.err


@EVERY
@pytest.mark.parametrize("empty", [True, False])
def test_then_the_shipped_ones(here: Path, command: str, *, empty: bool) -> None:
    """Nothing else there, or a folder of other things: the rules of the product."""
    if empty:
        (here / "rules").mkdir()
        (here / "rules" / "notes.txt").touch()
    ended = asked(command, here)
    assert ended.code == 0
    assert f"rules: {SHIPPED} (the shipped ones" in ended.err


def test_check_takes_one_folder(here: Path) -> None:
    """As an argument or an option, and not two."""
    one = folder(here / "one", "One")
    assert "when of One" in called("check", str(one)).out
    both = called("check", str(one), "--rules", str(one))
    assert both.code == 2
    assert "name one folder" in both.err


def test_a_setting_that_leads_nowhere_is_no_reason_to_take_others(here: Path) -> None:
    """A mistyped folder ends the command with exit code 2."""
    ended = called("check", TOKENWATCH_RULES=str(here / "nowhere"))
    assert ended.code == 2
    assert "nowhere" in ended.err


def test_one_of_a_thing_is_told_as_one(here: Path) -> None:
    """`1 rule`, not `1 rules`."""
    one = folder(here / "one")
    rule = "rules:\n  - {name: Many, when: requests > 5, severity: info, owner: me, summary: Many"
    (one / "one.yaml").write_text(f"{rule}, runbook: many.md}}\n", encoding="utf-8")
    ended = called("check", str(one))
    assert "ok: 1 rule over" in ended.out
    assert ended.out.rstrip().endswith(("0 warnings", "1 warning"))
