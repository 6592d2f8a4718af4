"""One file of the folder: whether it can be read, and its two sections."""

from __future__ import annotations

from pathlib import Path

from shared.rulebook.document import Tree
from shared.rulebook.problems import Mark, Problem, nearest
from shared.rulebook.specs import Reporter
from shared.rulebook.yamlfile import YamlError, read_yaml

SECTIONS = ("signals", "rules")


def read_file(folder: Path, path: Path, problems: list[Problem]) -> Reporter | None:
    """A file that can be read; None after noting why it cannot."""
    name = f"{folder.name}/{path.name}"
    try:
        return Reporter(read_yaml(name, path.read_text(encoding="utf-8")))
    except (YamlError, UnicodeDecodeError, OSError) as error:
        problems.append(_unreadable(name, error))
        return None


def _unreadable(name: str, error: Exception) -> Problem:
    if isinstance(error, YamlError):
        return error.problem
    if isinstance(error, OSError):
        cure = "Make it a file that may be read, or remove it."
        return Problem(Mark(name), f"the file cannot be read: {error.strerror}", cure)
    return Problem(Mark(name), "the file cannot be read: it is not UTF-8 text", "Save it as UTF-8.")


def check_shape(reporter: Reporter) -> None:
    """A file is a mapping of signals and rules, a mapping and a list."""
    tree = reporter.document.tree
    if not isinstance(tree, dict):
        cure = "Begin it with `rules:` or `signals:`."
        reporter.error((), "a rule file is a mapping with signals: and rules:", cure)
        return
    for key in tree.keys() - set(SECTIONS):
        cure = nearest(key, SECTIONS, "keys")
        reporter.error_of_key((key,), f"unknown key {key!r} in a rule file", cure)
    if not isinstance(tree.get("signals", {}), dict) and tree["signals"] != "":
        cure = "Write `name: {metric: ...}` below it."
        reporter.error(("signals",), "signals must be a mapping of names to definitions", cure)
    if not isinstance(tree.get("rules", []), list) and tree["rules"] != "":
        reporter.error(("rules",), "rules must be a list", "Begin each rule with `- name:`.")


def _section(reporter: Reporter, key: str) -> Tree:
    tree = reporter.document.tree
    return tree.get(key, "") if isinstance(tree, dict) else ""


def listed(reporter: Reporter) -> list[Tree]:
    tree = _section(reporter, "rules")
    return tree if isinstance(tree, list) else []


def named(reporter: Reporter) -> dict[str, Tree]:
    tree = _section(reporter, "signals")
    return tree if isinstance(tree, dict) else {}
