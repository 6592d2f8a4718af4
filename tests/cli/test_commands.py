"""The commands as a person meets them: in a process of their own."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from shared.state.sqlite import SqliteStore
from tests.cli.process import DAY, ROOT, called, saturated


@pytest.mark.parametrize(
    "command", ["", "check", "run", "demo", "emulate", "change record", "change list", "state show"]
)
def test_every_command_explains_itself(command: str) -> None:
    """`--help` says what the command is for, in more than its options."""
    shown = called(*command.split(), "--help")
    assert shown.code == 0
    assert len(shown.out) > 400


@pytest.mark.parametrize("command", ["", "check", "run", "demo"])
def test_exit_codes_are_explained(command: str) -> None:
    """Whoever puts a command into a pipeline reads what its exit code means."""
    assert "exit code" in called(*command.split(), "--help").out.casefold()


def test_the_version_is_told() -> None:
    """`--version` is one line."""
    told = called("--version")
    assert (told.code, told.out.split()[0], told.out.count("\n")) == (0, "tokenwatch", 1)


def test_check_passes_the_shipped_rules() -> None:
    """The rules that come with the product have neither errors nor warnings."""
    checked = called("check", "--strict")
    assert checked.code == 0, checked.out
    assert "7 rules" in checked.out


def test_check_names_file_line_column_and_cure(tmp_path: Path) -> None:
    """A broken rule ends with exit code 1 and the place of the error."""
    folder = tmp_path / "rules"
    folder.mkdir()
    signals = (ROOT / "rules" / "signals.yaml").read_text(encoding="utf-8")
    (folder / "signals.yaml").write_text(signals, encoding="utf-8")
    (folder / "mine.yaml").write_text("rules:\n  - name: Slow\n    when: tlt > 10s\n", "utf-8")
    checked = called("check", str(folder))
    assert checked.code == 1
    assert "rules/mine.yaml:3:11: error: when of Slow: unknown signal tlt" in checked.out
    assert "Did you mean ttlt?" in checked.out


def test_check_without_rules_says_so(tmp_path: Path) -> None:
    """A folder without rules is exit code 2 and one line."""
    checked = called("check", str(tmp_path))
    assert checked.code == 2
    assert "no rule files" in checked.err


def test_the_real_day_brings_no_alert() -> None:
    """24 real hours, fitted on the first half: no event in the second, and verdicts are counted."""
    judged = called("run", "--recording", str(DAY), "--from", "2024-06-07T02:49")
    assert judged.code == 0, judged.err
    assert "0 events in 719 minutes" in judged.out
    (line,) = [row for row in judged.out.splitlines() if "TTLTRising" in row]
    words = line.replace(",", " ").replace(";", " ").split()
    known = {"breach", "clear", "between"}
    pairs = pairwise(words)
    assert sum(int(number) for name, number in pairs if name in known) >= 300


def test_run_prints_events_as_json_lines(tmp_path: Path) -> None:
    """With --json there is one event a line and nothing else."""
    path = saturated(tmp_path / "day.csv")
    judged = called("run", "--recording", str(path), "--json")
    assert judged.code == 0, judged.err
    events = [json.loads(line) for line in judged.out.splitlines()]
    assert {(event["kind"], event["rule"]) for event in events} == {
        ("fired", "ProvisionedCapacityUsedUp"),
        ("fired", "ProvisionedThrottling"),
    }


def test_run_without_settings_names_them_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing configured: exit code 2, every missing setting in one go."""
    monkeypatch.chdir(tmp_path)
    failed = called("run", "--once")
    assert failed.code == 2
    assert "TOKENWATCH_ACCOUNTS" in failed.err
    assert "TEAMS_WEBHOOK_DEFAULT" in failed.err


def test_a_change_is_recorded_and_listed(tmp_path: Path) -> None:
    """What `change record` stores, `change list` shows; an unknown kind is refused."""
    state = f"sqlite:{tmp_path}/state.db"
    SqliteStore(f"{tmp_path}/state.db").close()
    arguments = ["--deployment", "chat-*", "--reference", "pull request 9", "--state", state]
    recorded = called("change", "record", "--kind", "prompt_template", *arguments)
    assert recorded.code == 0, recorded.err
    listed = called("change", "list", "--state", state)
    assert "prompt_template" in listed.out
    assert "pull request 9" in listed.out
    brackets = ["--deployment", "chat-[ab]*", "--reference", "[JIRA-1] more", "--state", state]
    assert (
        "capacity of chat-[ab]* at" in called("change", "record", "--kind=capacity", *brackets).out
    )
    assert "chat-[ab]*  [JIRA-1] more" in called("change", "list", "--state", state).out
    refused = called("change", "record", "--kind", "prompt", *arguments)
    assert refused.code == 2
    assert "prompt_template" in refused.err


def test_state_show_prints_the_baselines(tmp_path: Path) -> None:
    """After a replay the state names the line that was fitted, with intercept and slope."""
    state = f"sqlite:{tmp_path}/state.db"
    span = ["--from", "2024-06-07T02:49", "--to", "2024-06-07T03:00"]
    called("run", "--recording", str(DAY), *span, "--state", state)
    shown = called("state", "show", "--state", state)
    assert "ttlt given tokens_per_answer" in shown.out
    assert "x tokens_per_answer" in shown.out


def test_a_wrong_state_setting_says_what_may_stand_there() -> None:
    """`--state nonsense` is one line with the forms that are allowed."""
    failed = called("state", "show", "--state", "nonsense:here")
    assert failed.code == 2
    assert "sqlite:" in failed.err
