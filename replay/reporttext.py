"""A report for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from replay.compare import KINDS, Comparison, Difference, OldNew, of_kind
from replay.recordplan import spell
from replay.report import OfRule, Report, reasons

MOST = 12
"""Differences of a kind that are shown."""
MARKS = {"critical": "🔴", "warning": "🟠", "info": "🔵"}
_KIND_STYLES = {"added": "red", "removed": "green", "longer": "yellow", "shorter": "cyan"}
NOTHING = OfRule("", "info", "notify")


def shown(report: Report, comparison: Comparison | None) -> RenderableType:
    """All of it, the decisive line first."""
    alone = tuple(OldNew(rule.name, rule, rule) for rule in report.rules)
    parts: list[RenderableType] = [headline(report, comparison), ""]
    parts.append(_table(comparison.rules if comparison else alone))
    parts += _differences(comparison) if comparison else ()
    parts += _unknown(report)
    notes = [*report.notes, *(comparison.notes if comparison else ())]
    parts += ["", *(Text(f"note: {note}", style="yellow") for note in notes)] if notes else ()
    return Group(*parts)


def headline(report: Report, comparison: Comparison | None) -> Text:
    text = Text(headline_words(report, comparison), style="bold")
    text.append(f"\n{covered(report)}", style="not bold")
    return text


def headline_words(report: Report, comparison: Comparison | None) -> str:
    """`24 messages in 14 d: 12 a week (+3; main had 9.0)`."""
    number = _count(report.messages, "message")
    words = f"{number} in {spell(report.minutes)}: {weekly(report.messages_a_week)} a week"
    if not comparison:
        return words
    before = comparison.old.messages_a_week
    change = signed(report.messages_a_week - before)
    return f"{words} ({change}; {comparison.reference} had {weekly(before)})"


def covered(report: Report) -> str:
    """What was judged, in a sentence."""
    return (
        f"{spell(report.minutes)} of {_count(report.deployments, 'deployment')} in "
        f"{_count(report.accounts, 'account')}, {report.begin[:16]}Z to {report.end[:16]}Z, after "
        f"{spell(report.lead_in)} of history"
    )


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'s' * (number != 1)}"


def weekly(number: float) -> str:
    """`0`, `0.3`, `12`: as many digits as it takes to compare."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}".removesuffix(".0")


def signed(change: float) -> str:
    return (
        "unchanged" if abs(change) < 0.05 else f"{'+' if change > 0 else '-'}{weekly(abs(change))}"
    )


def _table(rules: Iterable[OldNew]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("", no_wrap=True)
    table.add_column("rule", overflow="fold")
    for title in ("episodes", "firing", "messages\na week"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("noisiest", overflow="fold")
    for rule in rules:
        table.add_row(*_row(rule), style="" if rule.new else "dim")
    return table


def _row(rule: OldNew) -> Iterator[Text | str]:
    old, new = rule.old or NOTHING, rule.new or NOTHING
    known = rule.new or old
    yield MARKS[known.severity]
    name = Text(rule.name, style="bold")
    name.append(f" {aside(rule)}".rstrip(), style="not bold dim")
    yield name
    yield _pair(f"{old.episodes:,}", f"{new.episodes:,}")
    yield _pair(spell(old.minutes), spell(new.minutes))
    yield _pair(weekly(old.messages_a_week), weekly(new.messages_a_week))
    yield Text("\n".join(f"{p.deployment} {p.episodes}x" for p in new.noisiest))


def aside(rule: OldNew) -> str:
    """What is special about a rule, in brackets; empty if nothing is."""
    known = rule.new or rule.old or NOTHING
    said = ["observed"] if known.mode == "observe" else []
    if known.muted and known.mode != "observe":
        said.append(f"{known.muted} muted")
    if rule.old is None or rule.new is None:
        said.append("new rule" if rule.new else "removed rule")
    return f"({', '.join(said)})" if said else ""


def _unknown(report: Report) -> Iterator[RenderableType]:
    """Why verdicts were unknown, for the rules that had any."""
    unsure = [rule for rule in report.rules if rule.unknown]
    if unsure:
        grid = Table.grid(padding=(0, 2))
        grid.add_column(overflow="fold")
        grid.add_column(overflow="fold")
        for rule in unsure:
            grid.add_row(rule.name, Text(reasons(rule.unknown, rule.verdicts), style="dim"))
        yield Text("\nUnknown verdicts", style="bold")
        yield grid


def _pair(old: str, new: str) -> Text:
    if old == new:
        return Text(new)
    return Text.assemble((f"{old} ", "dim"), "-> ", (new, "bold"))


def _differences(comparison: Comparison) -> Iterator[RenderableType]:
    if not comparison.differences:
        yield Text("\nNo episode is added, removed, longer or shorter.")
        return
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for _ in range(4):
        table.add_column(overflow="fold")
    for kind in KINDS:
        mine = of_kind(comparison.differences, kind)
        for one in mine[:MOST]:
            table.add_row(Text(kind, _KIND_STYLES[kind]), one.rule, one.deployment, _times(one))
        if len(mine) > MOST:
            table.add_row(Text(kind, _KIND_STYLES[kind]), f"+{len(mine) - MOST} more", "", "")
    yield Text("\nEpisodes", style="bold")
    yield table


def _times(one: Difference) -> str:
    return f"{one.since[:16].replace('T', ' ')}  {lasted(one)}"


def lasted(one: Difference) -> str:
    """`45 min`, or `45 min -> 2 h` where both rulebooks have it."""
    if one.kind in ("added", "removed"):
        return spell(one.new_minutes or one.old_minutes)
    return f"{spell(one.old_minutes)} -> {spell(one.new_minutes)}"
