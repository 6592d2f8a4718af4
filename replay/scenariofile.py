"""Files of scenarios -> scenarios; everything that is wrong is told at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from replay.scenario import Scenario
from replay.scenarioparts import read_scenario
from shared.rulebook.problems import Mark, Problem
from shared.rulebook.rules import Rulebook
from shared.rulebook.specs import Reporter
from shared.rulebook.yamlfile import Tree, YamlError, read_yaml

FOLDER = "tests"
"""Where scenarios stand, below the folder of the rules."""


@dataclass(frozen=True, eq=False)
class Scenarios:
    """What some files hold, and what is wrong with them."""

    found: tuple[Scenario, ...] = ()
    problems: tuple[Problem, ...] = ()


def files_of(path: Path) -> list[Path]:
    """The files of scenarios of a folder, or the one file."""
    return sorted(path.glob("*.yaml")) if path.is_dir() else [path]


def read_scenarios(files: Iterable[Path], book: Rulebook) -> Scenarios:
    """Every scenario that can be read. Never raises for what a file says."""
    found: list[Scenario] = []
    problems: list[Problem] = []
    for path in files:
        name = _name(path)
        try:
            document = read_yaml(name, path.read_text(encoding="utf-8"))
        except YamlError as error:
            problems.append(error.problem)
        except OSError as error:
            problems.append(_unreadable(name, str(error.strerror)))
        except UnicodeDecodeError:
            problems.append(_unreadable(name, "it is not UTF-8 text"))
        else:
            reporter = Reporter(document)
            found += _of_file(reporter, book)
            problems += reporter.problems
    return Scenarios(tuple(found), tuple(sorted(problems)))


def _name(path: Path) -> str:
    """As short as it can be from here."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _unreadable(name: str, reason: str) -> Problem:
    return Problem(Mark(name), f"the file cannot be read: {reason}")


def _of_file(reporter: Reporter, book: Rulebook) -> list[Scenario]:
    found: dict[str, Scenario] = {}
    for n, tree in enumerate(_listed(reporter)):
        scenario = read_scenario(tree, ("scenarios", n), book, reporter)
        if scenario and scenario.name in found:
            place = ("scenarios", n, "name")
            cure = f"The first stands in line {found[scenario.name].mark.line}."
            reporter.error(place, f"two scenarios are called {scenario.name!r}", cure)
        elif scenario:
            found[scenario.name] = scenario
    return list(found.values())


def _listed(reporter: Reporter) -> list[Tree]:
    tree = reporter.document.tree
    keys = tree.keys() - {"scenarios"} if isinstance(tree, dict) else set()
    for key in sorted(keys):
        mark = reporter.document.key(key)
        reporter.problems.append(
            Problem(mark, f"unknown key {key!r}", "The one key of a file is scenarios.")
        )
    listed = tree.get("scenarios") if isinstance(tree, dict) else None
    if not isinstance(listed, list):
        cure = "Begin with `scenarios:`, and each of them with `- name:`."
        reporter.error(("scenarios",), "the file has no list of scenarios", cure)
        return []
    return listed
