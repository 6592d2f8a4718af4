"""Which rules have no scenario that proves them."""

from __future__ import annotations

from pathlib import Path

from replay.scenariofile import FOLDER, read_scenarios
from shared.rulebook.problems import Mark, Problem
from shared.rulebook.rules import Rulebook

WANTED = {"firing": "fires", "quiet": "stays quiet", "unknown": "is unknown"}


def uncovered(rulebook: Rulebook, folder: Path) -> tuple[Problem, ...]:
    """A warning for each rule of the folder that lacks a firing, a quiet or an unknown scenario.

    Nothing counts as missing while a rule or a scenario cannot be read.
    """
    if rulebook.errors:
        return ()
    scenarios = read_scenarios(sorted((folder / FOLDER).glob("*.yaml")), rulebook)
    if scenarios.problems:
        return tuple(_broken(file) for file in sorted({p.mark.file for p in scenarios.problems}))
    shown: dict[str, set[str]] = {rule.name: set() for rule in rulebook.rules}
    for scenario in scenarios.found:
        for name in scenario.rules:
            shown[name] |= scenario.kinds(name)
    cure = f"Write one in {folder.name}/{FOLDER}/ (docs/scenarios.md): `tokenwatch test` runs it."
    return tuple(
        Problem(rule.mark, f"{rule.name}: no scenario in which it {_words(missing)}", cure, True)
        for rule in rulebook.rules
        if (missing := [words for kind, words in WANTED.items() if kind not in shown[rule.name]])
    )


def _broken(file: str) -> Problem:
    cure = "`tokenwatch test` says where and why."
    return Problem(Mark(file), "scenarios cannot be read", cure, warning=True)


def _words(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} or {parts[-1]}"
