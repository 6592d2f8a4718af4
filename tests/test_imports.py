"""Imports run one way, and the pure middle knows neither Azure nor a clock."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALLOWED = {
    "model": set(),
    "clouds": set(),
    "settings": {"model", "clouds"},
    "rulebook": {"model"},
    "state": {"model"},
    "teams": {"model", "clouds"},
    "monitor": {"model"},
    "engine": {"model", "rulebook"},
    "notices": {"model", "rulebook"},
    "heartbeat": {"teams"},
    "shards": {"model", "rulebook", "engine", "monitor", "notices"},
    "keeping": {"model", "engine", "shards", "state"},
    "telling": {"model", "notices", "state", "teams"},
    "pipeline": {
        "keeping",
        "telling",
        "model",
        "rulebook",
        "engine",
        "monitor",
        "notices",
        "shards",
        "state",
        "teams",
        "heartbeat",
    },
    "build": {"clouds", "model", "settings", "rulebook", "monitor", "state", "teams", "pipeline"},
    "endpoints": {"model", "rulebook", "engine"},
    "deployed": {"settings", "build", "pipeline", "teams", "state", "endpoints"},
}
PURE = ("rulebook", "engine", "endpoints")
IMPURE = {"azure", "requests", "os", "time", "socket", "random", "subprocess", "urllib"}


def imports(path: Path) -> Iterator[str]:
    """Every module that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def modules(part: str) -> list[Path]:
    folder = ROOT / "shared" / part
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def test_every_part_of_shared_has_its_place() -> None:
    """A new part has to say here what it may import."""
    parts = {p.stem for p in (ROOT / "shared").iterdir() if p.suffix == ".py" or p.is_dir()}
    assert parts - {"__init__", "__pycache__"} == set(ALLOWED)


@pytest.mark.parametrize("part", ALLOWED)
def test_imports_run_one_way(part: str) -> None:
    """No part imports one that comes after it, and none imports what is never deployed."""
    for path in modules(part):
        for name in imports(path):
            assert name.split(".")[0] not in ("cli", "emulator", "replay", "benchmarks", "tests"), (
                f"{path}: {name}"
            )
            if name.startswith("shared."):
                other = name.split(".")[1]
                assert other == part or other in ALLOWED[part], f"{path} imports {name}"


@pytest.mark.parametrize("part", PURE)
def test_the_middle_is_pure(part: str) -> None:
    """Rulebook and engine import no Azure package, no requests, no clock, no environment."""
    for path in modules(part):
        names = {name.split(".")[0] for name in imports(path)}
        assert not names & IMPURE, f"{path} imports {names & IMPURE}"


def test_the_clock_is_an_argument_in_the_middle() -> None:
    """Nobody in the pure middle asks what time it is."""
    for part in (*PURE, "monitor", "teams"):
        for path in modules(part):
            text = path.read_text(encoding="utf-8")
            assert ".now(" not in text.replace("run.now(", ""), f"{path} reads the clock"
