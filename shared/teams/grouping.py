"""Which events share a message, and what of them it keeps. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from shared.model import Event, Kind, Severity, Slot
from shared.teams.escape import cut

MOST_EVENTS, MOST_BYTES = 400, 500_000
"""Of one message, so that it fits into a row of state."""
SENTENCE, WORDS = 200, 120
"""The most characters that a digest keeps of an event's sentence, and of how it ended."""

SEVERITIES: dict[Severity, int] = {"critical": 0, "warning": 1, "info": 2}
KINDS: dict[Kind, int] = {"fired": 0, "reminded": 1, "resolved": 2, "notice": 3}


def grouped(events: Iterable[Event]) -> list[tuple[Event, ...]]:
    """The events that share a message: of one kind, rule, account and minute; worst first."""
    groups: dict[tuple[Kind, str, Severity, str, Slot], list[Event]] = {}
    for event in events:
        key = (event.kind, event.rule, event.severity, event.deployment.account, event.slot)
        groups.setdefault(key, []).append(event)
    return [part for group in groups.values() for part in _parts(group)]


def _parts(group: list[Event]) -> Iterator[tuple[Event, ...]]:
    """One event stays whole; several keep what a table and one sentence need."""
    if len(group) == 1:
        yield (group[0],)
        return
    for part in shares([(lean(event),) for event in sorted(group, key=badness)]):
        yield tuple(event for (event,) in part)


def shares(groups: Sequence[tuple[Event, ...]]) -> Iterator[list[tuple[Event, ...]]]:
    """The groups in as few parts as rows of state allow; no group is divided."""
    part: list[tuple[Event, ...]] = []
    events = size = 0
    for group in groups:
        bytes_ = sum(len(msgspec.msgpack.encode(event)) for event in group)
        if part and (events + len(group) > MOST_EVENTS or size + bytes_ > MOST_BYTES):
            yield part
            part, events, size = [], 0, 0
        part.append(group)
        events, size = events + len(group), size + bytes_
    if part:
        yield part


def badness(event: Event) -> tuple[int, float, int, str]:
    """What events of one rule are ordered by: severity, how far beyond the threshold, how long."""
    return SEVERITIES[event.severity], -_beyond(event), event.since, event.id


def _beyond(event: Event) -> float:
    """How far the latest value is from its threshold, as a part of that."""
    chart = event.chart
    if chart is None:
        return 0.0
    pairs = [
        (value, limit)
        for value, limit in zip(chart.values, chart.threshold, strict=False)
        if value is not None and limit
    ]
    return abs(pairs[-1][0] - pairs[-1][1]) / abs(pairs[-1][1]) if pairs else 0.0


def worst_first(events: Iterable[Event]) -> list[Event]:
    """Most severe first, beginnings before ends, then by time."""
    return sorted(events, key=lambda e: (SEVERITIES[e.severity], KINDS[e.kind], e.since, e.id))


def lean(event: Event) -> Event:
    """The event as a group keeps it: with its leading value, without its curve."""
    return replace(event, chart=None, facts=event.facts[:1])


def brief(event: Event) -> Event:
    """The event as a digest keeps it."""
    return replace(
        event,
        chart=None,
        facts=(),
        evidence=None,
        summary=cut(event.summary, SENTENCE),
        reason=cut(event.reason, WORDS),
        worst=cut(event.worst, WORDS),
        owner="",
    )
