"""Whoever listens may hang up: `| head`, `2>&1 | head`."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, ROOT, saturated, surroundings

BOTH = [False, True]


@pytest.mark.parametrize("both", BOTH, ids=["stdout", "stdout and stderr"])
@pytest.mark.parametrize(
    "command",
    [
        "check",
        "check --schema",
        "run --help",
        "run --recording {day}",
        "run --recording {day} --json",
    ],
)
def test_nobody_listens_any_more(tmp_path: Path, command: str, *, both: bool) -> None:
    """It ends, without a traceback."""
    arguments = command.format(day=saturated(tmp_path / "day.csv")).split()
    inner, outer = os.pipe()
    os.close(inner)
    ended = subprocess.run(
        [*COMMAND, *arguments],
        cwd=ROOT,
        env=surroundings(),
        stdout=outer,
        stderr=subprocess.STDOUT if both else subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(outer)
    said = ended.stderr or ""
    assert "Traceback" not in said
    assert "BrokenPipe" not in said
    assert ended.returncode in (1, 120)
