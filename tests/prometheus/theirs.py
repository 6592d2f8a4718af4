"""What Prometheus makes of a group: its own rule engine, run by `promtool test rules`.

promtool prints what it found only where a test of its fails, so that is what it is given: for every
minute the false claim that there are no alerts. The answers are read from its complaint.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.prometheus.history import MINUTES, History
from tests.prometheus.pairs import Group
from tests.prometheus.states import Mark, States, states_of

OLDEST = (2, 42)
"""The first version with `keep_firing_for`."""
ALWAYS = {"alert": "Always", "expr": "vector(1)", "labels": {"series": "0"}}
"""Fires in every minute, which shows that every minute was evaluated."""
FOUND = re.compile(
    r'\{alertname="(\w+)", alertstate="(pending|firing)", series="(\d+)"\} ([^\s,]+)'
)


def missing() -> str:
    """What is not installed, in words; empty if nothing is missing."""
    program = shutil.which("promtool")
    if program is None:
        return "no promtool: install the Debian package prometheus"
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    version = re.search(r"version (\d+)\.(\d+)", done.stdout + done.stderr)
    assert version, done
    if (int(version[1]), int(version[2])) < OLDEST:
        return f"promtool {version[1]}.{version[2]} knows no keep_firing_for: 2.42 or later"
    return ""


def theirs(groups: Sequence[Group], folder: Path, gap: str = "stale") -> States:
    """`gap` is what stands for a missing sample: `stale`, the marker of a series that ended, or
    `_` for none, in which case the latest value counts for five minutes."""
    files = [_write(group, folder / f"group{n}", gap) for n, group in enumerate(groups)]
    done = subprocess.run(
        ["promtool", "test", "rules", *files], capture_output=True, text=True, check=False
    )
    marks = list(_read(done.stdout + done.stderr))
    evaluated = sum(rule == ALWAYS["alert"] for rule, *_ in marks)
    assert evaluated == MINUTES * len(groups), (done.stdout + done.stderr)[:2000]
    return states_of(groups, marks)


def _write(group: Group, stem: Path, gap: str) -> str:
    """Writes rules and test; returns the name of the test file. JSON is YAML, too."""
    rules = stem.with_suffix(".rules.json")
    alerts = [ALWAYS, *(pair.theirs for pair in group.pairs)]
    rules.write_text(json.dumps({"groups": [{"name": "pairs", "rules": alerts}]}), "utf-8")
    test = {
        "interval": "1m",
        "input_series": [
            {"series": f'level{{series="{number}"}}', "values": _values(history, gap)}
            for number, history in group.histories.items()
        ],
        "promql_expr_test": [
            {"expr": "ALERTS * (time() / 60)", "eval_time": f"{minute}m"}
            for minute in range(MINUTES)
        ],
    }
    path = stem.with_suffix(".test.json")
    content = {"rule_files": [str(rules)], "evaluation_interval": "1m", "tests": [test]}
    path.write_text(json.dumps(content), "utf-8")
    return str(path)


def _values(history: History, gap: str) -> str:
    return " ".join(gap if math.isnan(value) else f"{value:g}" for value in history) or gap


def _read(text: str) -> Iterator[Mark]:
    for rule, state, series, minute in FOUND.findall(text):
        yield rule, int(series), int(float(minute)), state
