"""What the commands print: events, tables, and errors that say what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from shared.model import Event, time_of

console = Console(highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)

_MARKS = {"critical": ("🔴", "bold red"), "warning": ("🟠", "yellow"), "info": ("🔵", "cyan")}


def fail(*lines: str) -> NoReturn:
    """Ends the command with exit code 2 after saying why, one line each."""
    for line in lines:
        errors.print(Text(f"error: {line}", style="red"))
    raise typer.Exit(2)


def event_line(event: Event) -> Text:
    """One line: when, what, where, how bad, and the sentence."""
    mark, style = _MARKS[event.severity]
    if event.kind == "resolved":
        mark, style = "🟢", "green"
    word = event.severity if event.kind == "fired" else event.kind
    line = Text(f"{time_of(event.slot):%H:%M} {mark} ")
    line.append(f"{word:<9}", style)
    line.append(f"{event.rule} ", "bold")
    line.append(f"on {event.deployment.name or event.deployment.account_name}  ")
    ended = f"{event.reason} after {event.slot - event.since} min. " if event.reason else ""
    line.append(f"{ended}{event.summary}", "dim" if event.reason else "")
    return line


def tally_table(tally: Mapping[str, Counter[str]]) -> Table:
    """How often each verdict came out, by rule; columns that are 0 throughout are left out."""
    columns = list(dict.fromkeys(name for counts in tally.values() for name in counts))
    columns = [name for name in columns if any(counts[name] for counts in tally.values())]
    table = Table("rule", title="Verdicts, in deployment-minutes", title_justify="left")
    for name in columns:
        known = name in ("breach", "clear", "between")
        table.add_column(name if known else f"unknown:\n{name}", justify="right")
    for rule, counts in tally.items():
        table.add_row(rule, *(f"{counts[name]:,}" for name in columns))
    return table


def print_events(events: Iterable[Event]) -> None:
    for event in events:
        console.print(event_line(event))
