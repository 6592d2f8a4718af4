"""The commands as a person meets them: in a process of their own, or, where that shows the same,
in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from typer.testing import CliRunner

from cli.commands import app
from shared.model import iso, slot_of

ROOT = Path(__file__).parents[2]
DAY = ROOT / "emulator" / "data" / "provisioned-deployment-24h.recording.csv"
COMMAND = (sys.executable, "-c", "from cli.main import main; main()")
NORTH, WEST = (
    f"/subscriptions/s/resourceGroups/g/providers/Microsoft.CognitiveServices/accounts/{name}"
    for name in ("north", "west")
)


def surroundings(**more: str) -> dict[str, str]:
    """An environment without settings of whoever runs the tests."""
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "COLUMNS": "200", **more}


def tokenwatch(
    *arguments: str, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=surroundings(**environment),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@dataclass(frozen=True)
class Ended:
    """How a command in this process ended."""

    code: int
    out: str
    err: str


def called(*arguments: str, **environment: str) -> Ended:
    """A command in this process and folder; nothing but SystemExit may come out of it."""
    kept = {name: None for name in os.environ if name.startswith(("TOKENWATCH_", "TEAMS_"))}
    result = CliRunner().invoke(
        app, list(arguments), env=kept | {"COLUMNS": "200"} | environment, catch_exceptions=False
    )
    return Ended(result.exit_code, result.stdout, result.stderr)


def recorded(path: Path, rows: Sequence[str], *columns: str) -> Path:
    """A recording in CSV; rows without account and deployment, which are always the same."""
    lines = [",".join(["time", "account", "deployment", *columns])]
    for row in rows:
        time, _, values = row.partition(",")
        lines.append(f"{time},{NORTH},chat,{values}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def saturated(path: Path, minutes: int = 40, start: str = "2026-01-01T00:00Z") -> Path:
    """A deployment whose capacity is used up from the 20th to the 29th minute; few callers are
    turned away."""
    begin = slot_of(datetime.fromisoformat(start))
    rows = [
        f"{iso(begin + n)},{120 if 20 <= n < 30 else 40},60,{1 if 20 <= n < 30 else ''}"
        for n in range(minutes)
    ]
    utilization = "AzureOpenAIProvisionedManagedUtilizationV2:average"
    requests = "AzureOpenAIRequests:total[StatusCode={}]"
    return recorded(path, rows, utilization, requests.format(200), requests.format(429))
