"""What the commands print: events, tables, and errors that say what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NoReturn

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from shared.model import Event, Slot, time_of

console = Console(highlight=False, soft_wrap=True)
errors = Console(stderr=True, highlight=False, soft_wrap=True)

KNOWN = ("breach", "clear", "between")
_MARKS = {"critical": ("🔴", "bold red"), "warning": ("🟠", "yellow"), "info": ("🔵", "cyan")}


def fail(*lines: str) -> NoReturn:
    """Ends the command with exit code 2 after saying why, one line each."""
    for line in lines:
        errors.print(Text(f"error: {line}", style="red"))
    raise typer.Exit(2)


def many(number: int, thing: str, things: str = "") -> str:
    """`1 rule`, `1,200 rules`."""
    return f"{number:,} {thing if number == 1 else things or f'{thing}s'}"


def moment(slot: Slot, *, dated: bool) -> str:
    """A minute in UTC; with month and day where hours alone would not tell."""
    return f"{time_of(slot):{'%m-%d %H:%M' if dated else '%H:%M'}}"


def spans_days(first: Slot, last: Slot) -> bool:
    return time_of(first).date() != time_of(last).date()


def event_line(event: Event, *, dated: bool = True) -> Text:
    """One line: when, what, where, how bad, and the sentence."""
    mark, style = _MARKS[event.severity]
    if event.kind == "resolved":
        mark, style = "🟢", "green"
    word = event.severity if event.kind == "fired" else event.kind
    line = Text(f"{moment(event.slot, dated=dated)} {mark} ")
    line.append(f"{word:<9}", style)
    line.append(f"{event.rule} ", "bold")
    line.append(f"on {event.deployment.name or event.deployment.account_name}  ")
    ended = f"{event.reason} after {event.slot - event.since} min. " if event.reason else ""
    summary = event.summary.replace("\n", "\n      ")
    line.append(f"{ended}{summary}", "dim" if event.reason else "")
    return line


def tally_table(tally: Mapping[str, Counter[str]]) -> Table:
    """How often each verdict came out, by rule, `unknown` by reason; zeros are left out."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    table.title, table.title_justify = "Verdicts, in deployment-minutes", "left"
    for rule, counts in tally.items():
        known = [f"{name} {counts[name]:,}" for name in KNOWN if counts[name]]
        unknown = [f"{name} {n:,}" for name, n in counts.items() if n and name not in KNOWN]
        text = Text(", ".join(known) or "never known")
        if unknown:
            text.append(f"; unknown: {', '.join(unknown)}", "dim")
        table.add_row(Text(rule, "bold"), text)
    return table
