"""The commands as a person meets them: in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DAY = ROOT / "emulator" / "data" / "provisioned-deployment-24h.recording.csv"


def tokenwatch(
    *arguments: str, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    needed = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "COLUMNS": "200", **environment}
    code = "from cli.main import main; main()"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, cwd=cwd, env=needed, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    "command", ["check", "run", "demo", "emulate", "change record", "change list", "state show"]
)
def test_every_command_explains_itself(command: str) -> None:
    """`--help` says what the command is for, in more than its options."""
    shown = tokenwatch(*command.split(), "--help")
    assert shown.returncode == 0
    assert len(shown.stdout) > 400


def test_check_passes_the_shipped_rules() -> None:
    """The rules that come with the product have neither errors nor warnings."""
    checked = tokenwatch("check", "--strict")
    assert checked.returncode == 0, checked.stdout
    assert "7 rules" in checked.stdout


def test_check_names_file_line_column_and_cure(tmp_path: Path) -> None:
    """A broken rule ends with exit code 1 and the place of the error."""
    folder = tmp_path / "rules"
    folder.mkdir()
    signals = (ROOT / "rules" / "signals.yaml").read_text(encoding="utf-8")
    (folder / "signals.yaml").write_text(signals, encoding="utf-8")
    (folder / "mine.yaml").write_text("rules:\n  - name: Slow\n    when: tlt > 10s\n", "utf-8")
    checked = tokenwatch("check", str(folder))
    assert checked.returncode == 1
    assert "rules/mine.yaml:3:11: error: when of Slow: unknown signal tlt" in checked.stdout
    assert "Did you mean ttlt?" in checked.stdout


def test_check_without_rules_says_so(tmp_path: Path) -> None:
    """A folder without rules is exit code 2 and one line."""
    checked = tokenwatch("check", str(tmp_path))
    assert checked.returncode == 2
    assert "no rule files" in checked.stderr


def test_the_real_day_brings_no_alert() -> None:
    """24 real hours, fitted on the first half: no event in the second, and verdicts are counted."""
    judged = tokenwatch("run", "--recording", str(DAY), "--from", "2024-06-07T02:49")
    assert judged.returncode == 0, judged.stderr
    assert "0 events in 719 minutes" in judged.stdout
    (line,) = [row for row in judged.stdout.splitlines() if "TTLTRising" in row]
    words = line.replace(",", " ").replace(";", " ").split()
    known = [int(words[words.index(name) + 1]) for name in ("breach", "clear", "between")]
    assert sum(known) >= 300


def test_run_prints_events_as_json_lines(tmp_path: Path) -> None:
    """With --json there is one event a line and nothing else."""
    rows = [
        "time,account,deployment,AzureOpenAIProvisionedManagedUtilizationV2:average,"
        "AzureOpenAIRequests:total[StatusCode=200]"
    ]
    account = "/subscriptions/s/resourceGroups/g/providers/Microsoft.CognitiveServices/accounts/a"
    for minute in range(40):
        full = 120 if 20 <= minute < 30 else 40
        rows.append(f"2026-01-01T00:{minute:02d}:00Z,{account},chat,{full},10")
    path = tmp_path / "day.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    judged = tokenwatch("run", "--recording", str(path), "--json")
    assert judged.returncode == 0, judged.stderr
    events = [json.loads(line) for line in judged.stdout.splitlines()]
    assert [(event["kind"], event["rule"]) for event in events] == [
        ("fired", "ProvisionedCapacityUsedUp")
    ]


def test_run_without_settings_names_them_all(tmp_path: Path) -> None:
    """Nothing configured: exit code 2, every missing setting in one go."""
    failed = tokenwatch("run", "--once", cwd=tmp_path)
    assert failed.returncode == 2
    assert "TOKENWATCH_ACCOUNTS" in failed.stderr
    assert "TEAMS_WEBHOOK_DEFAULT" in failed.stderr


def test_a_change_is_recorded_and_listed(tmp_path: Path) -> None:
    """What `change record` stores, `change list` shows; an unknown kind is refused."""
    state = f"sqlite:{tmp_path}/state.db"
    arguments = ["--deployment", "chat-*", "--reference", "pull request 9", "--state", state]
    recorded = tokenwatch("change", "record", "--kind", "prompt_template", *arguments)
    assert recorded.returncode == 0, recorded.stderr
    listed = tokenwatch("change", "list", "--state", state)
    assert "prompt_template" in listed.stdout
    assert "pull request 9" in listed.stdout
    refused = tokenwatch("change", "record", "--kind", "prompt", *arguments)
    assert refused.returncode == 2
    assert "prompt_template" in refused.stderr


def test_state_show_prints_the_baselines(tmp_path: Path) -> None:
    """After a replay the state names the line that was fitted, with intercept and slope."""
    state = f"sqlite:{tmp_path}/state.db"
    span = ["--from", "2024-06-07T02:49", "--to", "2024-06-07T03:00"]
    tokenwatch("run", "--recording", str(DAY), *span, "--state", state)
    shown = tokenwatch("state", "show", "--state", state)
    assert "ttlt given tokens_per_answer" in shown.stdout
    assert "x tokens_per_answer" in shown.stdout


def test_a_wrong_state_setting_says_what_may_stand_there() -> None:
    """`--state nonsense` is one line with the forms that are allowed."""
    failed = tokenwatch("state", "show", "--state", "nonsense:here")
    assert failed.returncode == 2
    assert "sqlite:" in failed.stderr
