"""A scenario that failed, as a table: what was shown, what came of it, what was expected."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from replay.scenario import Column, Expectation
from replay.scenariocompare import span
from replay.scenariorows import Row, chosen, rows
from replay.scenariorun import Outcome
from replay.scenariosaw import Saw, Sights, look
from shared.engine.frame import Floats
from shared.rulebook.rules import Rulebook
from shared.rulebook.units import BARE, Unit, show

NOTHING = "–"
LONGEST_WORD = 9
"""`resolved,`: what a narrow terminal should not break."""
_STATES = {"pending": "yellow", "firing": "red"}


def failure(outcome: Outcome, rulebook: Rulebook) -> Group:
    """What was not as expected, and a table for each rule of which something was not."""
    parts: list[Text | Table] = [Text(f"  {miss.message}", "red") for miss in outcome.misses]
    for rule in dict.fromkeys(miss.rule for miss in outcome.misses):
        parts += [Text(""), _table(outcome, rule, look(outcome.scenario, rulebook, rule))]
    return Group(*parts, Text(""))


def _table(outcome: Outcome, rule: str, sights: Sights | None) -> Table:
    scenario, seen = outcome.scenario, outcome.minutes[rule]
    misses = [miss for miss in outcome.misses if miss.rule == rule]
    expected = [one for one in scenario.expectations if one.rule == rule]
    table = _empty(scenario.columns, sights)
    if len(scenario.rules) > 1:
        table.title = Text(f"  {rule}", "bold")
    for row in chosen(rows(scenario.columns, seen, expected, misses)):
        if row is None:
            table.add_row("", "⋮", style="dim")
        else:
            table.add_row(*_cells(row, scenario.columns, sights))
    return table


def _empty(columns: Sequence[Column], sights: Sights | None) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", title_justify="left")
    table.add_column("", width=1)
    table.add_column("minute", no_wrap=True)
    for column in columns:
        table.add_column(_title(column.name), justify="right", overflow="fold")
    if sights:
        limit = f" {sights.op} {_limit(sights)}" if _limit(sights) else ""
        table.add_column(_title(sights.title) + limit, justify="right", overflow="fold")
        if not limit:
            table.add_column("limit", justify="right", overflow="fold")
    for title in ("verdict", "state", "told", "expected"):
        table.add_column(title, min_width=LONGEST_WORD, overflow="fold")
    return table


def _title(name: str) -> str:
    """The name, which may be broken where it has its lines."""
    return name.replace("_", " ")


def _limit(sights: Sights) -> str:
    """What it is compared with, if that is always the same."""
    shown = _shown(_floats([saw.limit for saw in sights.minutes]), sights.unit)
    return "" if ".." in shown else shown


def _cells(row: Row, columns: Sequence[Column], sights: Sights | None) -> list[Text]:
    minute, now = row.minute, slice(row.begin, row.end + 1)
    muted = f" ({minute.muted})" if minute.muted else ""
    return [
        Text("✗" if row.wrong else "", "bold red"),
        Text(span(row.begin, row.end)),
        *(Text(_shown(column.values[now], column.unit)) for column in columns),
        *(_seen(sights, sights.minutes[now]) if sights else ()),
        Text(str(minute.verdict), "dim" if minute.verdict.name == "unknown" else ""),
        Text(minute.state.name + muted, _STATES.get(minute.state.name, "dim")),
        Text(", ".join(str(event) for event in minute.events), "bold"),
        Text("; ".join(map(_wanted, row.expected)), "red" if row.wrong else "green"),
    ]


def _wanted(one: Expectation) -> str:
    words = ", ".join(str(word) for word in one.words)
    if one.never:
        return f"never {words}"
    once = any(word.kind == "event" for word in one.words) and one.end > one.begin
    return f"{words} ({one.text})" if once else words


def _seen(sights: Sights, minutes: Sequence[Saw]) -> list[Text]:
    """The value that was judged and over how many minutes; its limit, where it varies."""
    windows = sorted({saw.window for saw in minutes})
    values = _shown(_floats([saw.value for saw in minutes]), sights.unit)
    limits = _shown(_floats([saw.limit for saw in minutes]), sights.unit)
    cells = [Text(values).append(f" in {span(windows[0], windows[-1])}", "dim")]
    return cells if _limit(sights) else [*cells, Text(f"{sights.op} {limits}", "dim")]


def _floats(values: Sequence[float | None]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _shown(values: Floats, unit: Unit) -> str:
    """The value, or from the first to the last extreme; counts without their unit."""
    known = values[~np.isnan(values)]
    if not len(known):
        return NOTHING
    low, high = (show(float(v), BARE if unit.counted else unit) for v in (known.min(), known.max()))
    if low == high:
        return low
    return f"{high}..{low}" if known[0] > known[-1] else f"{low}..{high}"


def _one(value: float, unit: Unit) -> str:
    # Six digits hide what a quotient leaves at the fifteenth.
    return show(float(f"{value:.6g}"), BARE if unit.counted else unit)
