"""`tokenwatch test`"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.console import Console, Group
from rich.text import Text

from cli.rules import rules_folder
from cli.shown import console, errors, fail, many
from replay.scenario import Scenario
from replay.scenariofile import FOLDER, files_of, read_scenarios
from replay.scenariojunit import write_junit
from replay.scenariorun import Outcome, run
from replay.scenariospec import json_schema
from replay.scenariotable import failure
from shared.rulebook.load import load
from shared.rulebook.problems import Problem
from shared.rulebook.rules import Rulebook

WIDTH = 140
"""Columns of a table in a log or a file."""


def test(
    path: Annotated[
        Path | None,
        typer.Argument(help="A file of scenarios or a folder; default: tests/ of the rules."),
    ] = None,
    rules: Annotated[
        Path | None, typer.Option("--rules", help="Folder of rule files; default: above PATH.")
    ] = None,
    only: Annotated[
        str, typer.Option("-k", metavar="NAME", help="Only what has this in its name or rule.")
    ] = "",
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML here as well.")] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema for editors instead.")
    ] = False,
) -> None:
    """Proves rules by scenarios: what a deployment shows, and what is to be told when.

    Each scenario runs through the engine that judges live, minute by minute. One that fails shows
    what came instead, side by side. Exit code 0 when all pass, 1 when not, 2 when there is nothing
    to run or something cannot be read.

    Example: `tokenwatch test rules/tests/latency.yaml -k "batch work"`
    """
    if schema:
        text = msgspec.json.format(msgspec.json.encode(json_schema(), order="deterministic"))
        typer.echo(text.decode())
        return
    place, folder = _places(path, rules)
    book = _book(folder)
    scenarios = read_scenarios(files_of(place), book)
    if scenarios.problems:
        _refuse(scenarios.problems, junit)
    chosen = [one for one in scenarios.found if _matches(one, only)]
    if not chosen:
        fail(f"no scenario in {place}" + (f" has {only!r} in its name or rule" if only else ""))
    results = [_run(one, book) for one in chosen]
    if junit:
        _write(junit, results)
    failed = sum(not outcome.passed for outcome, _, _ in results)
    console.print(_summary(len(chosen), failed))
    if failed:
        raise typer.Exit(1)


def _places(path: Path | None, rules: Path | None) -> tuple[Path, Path]:
    """Where the scenarios are, and the rules that they are about."""
    if path is None:
        folder = rules_folder(rules)
        place = folder / FOLDER
    else:
        place = path / FOLDER if (path / FOLDER).is_dir() else path
        folder = rules or (place if place.is_dir() else place.parent).absolute().parent
    if not place.exists():
        fail(f"there is no {place}; name a file of scenarios, or a folder of them")
    return place, folder


Result = tuple[Outcome, float, str]
"""With the seconds it took, and the table as plain text if it failed."""


def _book(folder: Path) -> Rulebook:
    try:
        book = load(folder)
    except FileNotFoundError as error:
        fail(f"{error}; name the folder of your rule files with --rules")
    for problem in book.errors:
        errors.print(Text(str(problem), style="red"))
    if book.errors:
        fail("rules with errors cannot be tested")
    return book


def _refuse(problems: Sequence[Problem], junit: Path | None) -> None:
    for problem in problems:
        errors.print(Text(str(problem), style="red"))
    if junit:
        _write(junit, (), problems)
    raise typer.Exit(2)


def _write(path: Path, results: Sequence[Result], problems: Sequence[Problem] = ()) -> None:
    try:
        write_junit(path, results, problems)
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror}")


def _matches(scenario: Scenario, only: str) -> bool:
    return any(only.casefold() in name.casefold() for name in (scenario.name, *scenario.rules))


def _run(scenario: Scenario, book: Rulebook) -> Result:
    begun = time.perf_counter()
    outcome = run(scenario, book)
    seconds = time.perf_counter() - begun
    mark, style = ("✓", "green") if outcome.passed else ("✗", "bold red")
    line = Text(f"{mark} ", style).append(", ".join(scenario.rules), "bold")
    line.append(f"  {scenario.name}", "default")
    if outcome.passed:
        console.print(line)
        return outcome, seconds, ""
    line.append(f"  {scenario.mark.file}:{scenario.mark.line}", "dim")
    console.print(line)
    shown = failure(outcome, book)
    plain = _plain(shown)
    if console.is_terminal:
        console.print(shown)
    else:
        typer.echo(plain)
    return outcome, seconds, plain


def _plain(shown: Group) -> str:
    paper = Console(width=WIDTH, highlight=False, color_system=None)
    with paper.capture() as captured:
        paper.print(shown)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _summary(count: int, failed: int) -> Text:
    scenarios = many(count, "scenario")
    if failed:
        return Text(f"{scenarios}, {count - failed} passed, {failed} failed", "bold red")
    return Text(f"{scenarios}, {count} passed", "green")
