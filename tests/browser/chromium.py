"""Chromium, driven by one Node process, as a function from pages to what is seen on them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SCRIPT = Path(__file__).with_name("draw.mjs")
PACKAGES = ("adaptivecards", "markdown-it", "playwright-core")


def missing() -> str:
    """What is not installed, in words; empty if nothing is missing."""
    program = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    if not Path(program).exists():
        return f"no Chromium at {program}: apt-get install chromium, or set CHROMIUM"
    if not shutil.which("node"):
        return "no Node: apt-get install nodejs npm"
    absent = [name for name in PACKAGES if not (ROOT / "node_modules" / name).exists()]
    return f"node_modules lacks {', '.join(absent)}: run npm ci" if absent else ""


def draw(pages: list[dict[str, object]], timeout: float = 60) -> list[Any]:
    """What is seen on each page; see draw.mjs for the words."""
    done = subprocess.run(
        ["node", str(SCRIPT)],
        input=json.dumps({"pages": pages}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen: list[Any] = json.loads(done.stdout)
    return seen
