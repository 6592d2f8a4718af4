"""Which files of the folder rules/ are read, and which only look as if they were."""

from __future__ import annotations

from pathlib import Path

from shared.rulebook.problems import Mark, Problem

OTHER_FILES = frozenset({"routes.yaml", "silences.yaml"})
"""Files of the folder that hold no rules."""
SCENARIOS = "tests"
"""The folder below that holds no rules either."""
_MOST = 10


def rule_files(folder: Path) -> list[Path]:
    """The files that hold signals and rules.

    Raises:
        FileNotFoundError: there is no such folder, or no rule file in it.
    """
    files = sorted(path for path in folder.glob("*.yaml") if path.name not in OTHER_FILES)
    if not files:
        message = f"no rule files (*.yaml) in {folder}{_hint(folder)}"
        raise FileNotFoundError(f"{message}: name the folder of your rule files")
    return files


def no_rules(folder: Path) -> FileNotFoundError:
    """For a folder whose files are right, but hold no rule."""
    message = f"no rules in {folder}, only signals or nothing{_hint(folder)}"
    return FileNotFoundError(f"{message}: list one below rules:, or name another folder")


def passed_over(folder: Path) -> list[Problem]:
    """A warning for each file that is not read, though it looks like one with rules."""
    return [
        Problem(Mark(f"{folder.name}/{path}"), "this file is not read", _cure(path), warning=True)
        for path in _unread(folder)[:_MOST]
    ]


def _unread(folder: Path) -> list[Path]:
    """YAML files with another ending, or in a folder below."""
    below = (path.relative_to(folder) for path in folder.rglob("*.[yY]*[mM][lL]"))
    return sorted(
        path
        for path in below
        if path.suffix.lower() in (".yaml", ".yml")
        and (len(path.parts) > 1 or path.suffix != ".yaml")
        and path.parts[0] != SCENARIOS
        and not any(part.startswith(".") for part in path.parts)
    )


def _cure(path: Path) -> str:
    if len(path.parts) == 1:
        return f"Rename it to {path.stem}.yaml."
    return "Move it up: files in folders below are not read."


def _hint(folder: Path) -> str:
    unread = _unread(folder)[:3]
    return f" ({', '.join(str(path) for path in unread)}: not read)" if unread else ""
