"""`tokenwatch check`"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from cli.rules import WHICH, rules_folder
from cli.shown import console, fail, many
from replay.coverage import uncovered
from shared.model import slot_of
from shared.rulebook.load import load
from shared.rulebook.schema import json_schema
from shared.rulebook.silences import expired


def check(
    folder: Annotated[
        Path | None, typer.Argument(help=f"The folder of rule files; default: {WHICH}.")
    ] = None,
    rules: Annotated[Path | None, typer.Option("--rules", help="The same, as an option.")] = None,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema for editors instead.")
    ] = False,
    strict: Annotated[bool, typer.Option(help="Let warnings fail the check as well.")] = False,
) -> None:
    """Checks the rule files: names, units, metrics, durations. All errors at once.

    Each problem stands with file, line, column and what to do about it. Exit code 0 when the rules
    may be deployed, 1 when not, 2 when there are no rules.

    Example: `tokenwatch check rules`
    """
    if schema:
        text = msgspec.json.format(msgspec.json.encode(json_schema(), order="deterministic"))
        typer.echo(text.decode())
        return
    if folder and rules:
        fail("name one folder of rule files")
    try:
        found = rules_folder(folder or rules)
        book = load(found)
    except FileNotFoundError as error:
        fail(str(error))
    over = expired(book.silences, slot_of(datetime.now(UTC)))
    problems = (*book.problems, *uncovered(book, found), *over)
    for problem in problems:
        console.print(Text(str(problem), style="yellow" if problem.warning else "red"))
    count = len(book.errors)
    warnings = len(problems) - count
    verdict = many(count, "error") if count else "ok"
    rules_over = f"{many(len(book.rules), 'rule')} over {many(len(book.signals), 'signal')}"
    console.print(f"{verdict}: {rules_over}, {many(warnings, 'warning')}")
    if count or (strict and warnings):
        raise typer.Exit(1)
