"""Cards that stand for several events: a group of one rule, and a digest. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from shared.model import DigestKind, Event, Message, time_of
from shared.teams.cards import (
    TOAST,
    band,
    bare_card,
    duration,
    emoji,
    noted,
    short_name,
    small_print,
    status,
)
from shared.teams.elements import Element, container, facts, small, table, text
from shared.teams.escape import clean, cut, escape, one_line
from shared.teams.links import Links

MOST_ROWS, MOST_RULES, MOST_RUNBOOKS = 20, 8, 3
"""Of a table, of the counts by rule, and of the buttons of a digest."""
CELL, SENTENCE = 100, 600
"""The most characters of a cell, as tables get narrow on phones, and of the sentence."""
_SEVERITIES = ("critical", "warning", "info")
_WHY: dict[DigestKind, str] = {
    "": "",
    "storm": "More than this channel takes in an hour: this card stands for all of these.",
    "quiet": "What came in the quiet hours.",
    "daily": "What was only observed since the last such card.",
}


def many_card(message: Message, links: Links, rows: int, note: str = "") -> Element:
    """The card of a message with several events; the first `rows` of them stand in a table."""
    make = _digest if message.digest else _group
    return make(message, links, rows, note)


def many_toast(message: Message) -> str:
    """The message in one line of plain text."""
    first, count = message.events[0], len(message.events)
    if message.digest:
        return f"{emoji(first)} {_alerts(count)} in one card: {_counts(message.events)}"
    what = f"{one_line(first.rule)} on {count} deployments ({one_line(_account(first))})"
    parts = (f"{emoji(first)} {one_line(status(first))}", what, one_line(first.summary))
    return cut(" · ".join(part for part in parts if part), TOAST)


def _group(message: Message, links: Links, rows: int, note: str) -> Element:
    """Events of one rule and account, worst first."""
    events, first = message.events, message.events[0]
    where = [f"{len(events)} deployments", short_name(_account(first)), short_name(first.region)]
    head = [
        text(short_name(first.rule), size="Large", weight="Bolder"),
        text(" · ".join(part for part in where if part), spacing="None"),
        text(f"{emoji(first)} **{short_name(status(first))}**", spacing="Small"),
    ]
    cells = [[short_name(e.deployment.name), _value(e), _when(e)] for e in events[:rows]]
    titles = ("Deployment", "At worst" if first.kind == "resolved" else "Value", "Since")
    body = [
        container(band(first), head),
        *noted(note),
        *_worst(first),
        *_listed(titles, cells, len(events)),
        small_print(first.owner, f"{len(events)} episodes", message.id),
    ]
    return bare_card(many_toast(message), body, _of_worst(links.actions(first)))


def _worst(event: Event) -> list[Element]:
    """The sentence of the worst; the others' are alike but for their numbers."""
    sentence = escape(cut(clean(event.summary), SENTENCE))
    return [text(f"{short_name(event.deployment.name)}: {sentence}", spacing="Medium")]


def _of_worst(actions: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The runbook is the same for all."""
    return [(t if t == "Runbook" else f"{t} of the worst", url) for t, url in actions]


def _digest(message: Message, links: Links, rows: int, note: str) -> Element:
    """Events of any rules, worst first."""
    events = message.events
    head = [
        text(f"{_alerts(len(events))} in one card", size="Large", weight="Bolder"),
        text(_WHY[message.digest], spacing="None"),
        text(f"{emoji(events[0])} **{_counts(events)}**", spacing="Small"),
    ]
    by_rule = Counter(event.rule for event in events).most_common()
    counts = [(short_name(rule), str(count)) for rule, count in by_rule[:MOST_RULES]]
    if rest := by_rule[MOST_RULES:]:
        counts.append((f"{len(rest)} more rules", str(sum(count for _, count in rest))))
    cells = [[f"{_sign(e)} {short_name(e.rule)}", _where(e), _when(e)] for e in events[:rows]]
    body = [
        container(band(events[0]), head),
        *noted(note),
        facts(counts),
        *_listed(("Rule", "Where", "When"), cells, len(events)),
        small_print("", f"{len(events)} events", message.id),
    ]
    return bare_card(many_toast(message), body, _runbooks(events, links))


def _runbooks(events: Sequence[Event], links: Links) -> list[tuple[str, str]]:
    """The next step, for the worst rules."""
    pages = {e.rule: url for e in events for t, url in links.actions(e) if t == "Runbook"}
    first = list(pages.items())[:MOST_RUNBOOKS]
    return [(f"Runbook: {cut(one_line(rule), 40)}", url) for rule, url in first]


def _listed(titles: Sequence[str], cells: list[list[str]], count: int) -> list[Element]:
    more = count - len(cells)
    rest = [small(f"+{more} more")] if more > 0 else []
    return [*([table(titles, cells, (4, 3, 3))] if cells else []), *rest]


def _account(event: Event) -> str:
    return event.deployment.account_name


def _where(event: Event) -> str:
    name, account = short_name(event.deployment.name), short_name(_account(event))
    return f"{name} ({account})" if name and account else name or account


def _value(event: Event) -> str:
    if event.kind == "resolved":
        return escape(cut(one_line(event.worst), CELL))
    fact = event.facts[0] if event.facts else None
    if fact is None:
        return ""
    return escape(
        cut(one_line(fact.now + (f" ({fact.reference})" if fact.reference else "")), CELL)
    )


def _when(event: Event) -> str:
    since = f"{time_of(event.since):%m-%d %H:%M} UTC"
    if event.kind == "resolved":
        reason = f", {escape(cut(one_line(event.reason), CELL))}" if event.reason else ""
        return f"{since}, lasted {duration(max(event.slot - event.since, 0))}{reason}"
    return since


def _sign(event: Event) -> str:
    """Never by colour alone: the word stands beside it."""
    word = "over" if event.kind == "resolved" else event.severity
    return f"{emoji(event)} {word}:"


def _counts(events: Sequence[Event]) -> str:
    kinds = Counter("over" if e.kind == "resolved" else e.severity for e in events)
    return ", ".join(f"{kinds[kind]} {kind}" for kind in (*_SEVERITIES, "over") if kinds[kind])


def _alerts(count: int) -> str:
    return "1 alert" if count == 1 else f"{count} alerts"
