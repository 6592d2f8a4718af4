"""`tokenwatch check`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from cli.shown import console, fail
from shared.rulebook.load import load
from shared.rulebook.schema import json_schema


def check(
    rules: Annotated[Path, typer.Argument(help="The folder of rule files.")] = Path("rules"),
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
    try:
        book = load(rules)
    except FileNotFoundError as error:
        fail(f"{error}; name the folder of your rule files")
    for problem in book.problems:
        console.print(Text(str(problem), style="yellow" if problem.warning else "red"))
    count = len(book.errors)
    warnings = len(book.problems) - count
    verdict = "ok" if not count else f"{count} error{'s' if count > 1 else ''}"
    console.print(
        f"{verdict}: {len(book.rules)} rules over {len(book.signals)} signals, {warnings} warnings"
    )
    if count or (strict and warnings):
        raise typer.Exit(1)
