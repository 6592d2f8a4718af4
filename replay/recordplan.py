"""What a recording is to hold, and the pieces in which it is fetched. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from replay.past import REQUESTS
from shared.engine.baseline import DAYS, GRAIN
from shared.model import SETTLE, Account, Component, Slot, iso, slot_of
from shared.monitor.plan import chunks, plan
from shared.rulebook.rules import TRAFFIC, Rulebook

DAY = 24 * 60
LEAD_IN = DAYS * DAY
KEPT = timedelta(days=93)
"""As long as Azure Monitor keeps metrics."""
MARGIN = 60
"""Minutes that are not asked for at the far end, because they go while it is being recorded."""
TOGETHER = 5
"""Accounts a piece: a day of them is an answer of some tens of megabytes at most."""


class RecordError(Exception):
    """It cannot be recorded as it was asked for; the text says what to do."""


class Asked(msgspec.Struct, frozen=True):
    """What somebody wants recorded. Whoever asks the same again goes on with what is there."""

    accounts: tuple[Account, ...]
    components: tuple[Component, ...]
    first: Slot
    end: Slot | None = None
    """The minute to stop before; None for the newest settled one."""
    lead_in: int = LEAD_IN


class Order(msgspec.Struct, frozen=True):
    """What can be recorded of it: [begin, end), of which what is before `first` is the lead-in."""

    asked: Asked
    begin: Slot
    first: Slot
    end: Slot
    notes: tuple[str, ...] = ()
    """What is not as it was asked for, in words."""


@dataclass(frozen=True)
class Piece:
    """What is fetched, and kept, at one go."""

    number: int
    accounts: tuple[Account, ...]
    start: Slot
    steps: int


def components_of(*rulebooks: Rulebook) -> tuple[Component, ...]:
    """What the rules need; requests always by status code, which baselines are weighted by.

    Raises:
        RecordError: an average is needed in two splits, which one recording cannot hold.
    """
    found = {c for book in rulebooks for c in book.needed}
    traffic = {c for book in rulebooks for c in book.components(TRAFFIC)}
    if any(component.metric == REQUESTS for component in traffic):
        found.add(Component(REQUESTS, "total", (("StatusCode", "2xx"),)))
    splits: dict[tuple[str, str], set[tuple[str, ...]]] = defaultdict(set)
    for query in plan(sorted(found)):
        for metric in query.metrics:
            splits[metric, query.aggregation].add(query.dimensions)
    for (metric, aggregation), dimensions in splits.items():
        if len(dimensions) > 1:
            ways = " and ".join(f"by {', '.join(d)}" if d else "whole" for d in sorted(dimensions))
            raise RecordError(
                f"the rules need {metric}:{aggregation} {ways}, which one recording cannot hold: "
                "record for a folder of rules that needs one of them"
            )
    return tuple(sorted(found))


def order_of(asked: Asked, now: datetime) -> Order:
    """Raises RecordError where nothing can be recorded."""
    settled = slot_of(now) - SETTLE
    oldest = slot_of(now - KEPT) + MARGIN
    end = settled if asked.end is None else min(asked.end, settled)
    first = max(asked.first, oldest)
    if asked.end is not None and asked.end <= asked.first:
        raise RecordError(
            f"--to {iso(asked.end)} is not after --from {iso(asked.first)}: turn them round"
        )
    if end <= oldest:
        raise RecordError(
            f"Azure Monitor keeps {KEPT.days} days: nothing is left before {iso(oldest)}"
        )
    if first >= end:
        raise RecordError(
            f"the newest settled minute is {iso(settled - 1)}: choose a --from before it"
        )
    # Fits are made of whole bins, and the first of them has to be whole as well.
    wanted = (first - asked.lead_in) // GRAIN * GRAIN if asked.lead_in else first
    begin = max(wanted, oldest)
    return Order(asked, begin, first, end, tuple(_notes(asked, begin, first, end, wanted)))


def _notes(asked: Asked, begin: Slot, first: Slot, end: Slot, wanted: Slot) -> Iterable[str]:
    if first > asked.first:
        yield f"Azure Monitor keeps {KEPT.days} days: it begins at {iso(first)}"
    if begin > wanted:
        yield (
            f"Azure Monitor keeps {KEPT.days} days: the lead-in is {spell(first - begin)} instead "
            f"of {spell(asked.lead_in)}, so baselines rest on less history at first"
        )
    if asked.end is not None and end < asked.end:
        yield f"minutes from {iso(end)} on are not settled yet: it ends before them"


def spell(minutes: int) -> str:
    """`14 d`, `3 h`, `5 min`; the two largest parts."""
    days, hours, rest = minutes // DAY, minutes % DAY // 60, minutes % 60
    parts = [(days, "d"), (hours, "h"), (rest, "min")]
    shown = [f"{n} {unit}" for n, unit in parts if n]
    return " ".join(shown[:2]) or "0 min"


def pieces(order: Order) -> list[Piece]:
    """Day by day, a few accounts of one region at a time."""
    shards: dict[str, list[Account]] = defaultdict(list)
    for account in order.asked.accounts:
        shards[account.shard].append(account)
    batches = [batch for _, shard in sorted(shards.items()) for batch in chunks(shard, TOGETHER)]
    days = [(at, min(DAY, order.end - at)) for at in range(order.begin, order.end, DAY)]
    places = [(batch, start, steps) for start, steps in days for batch in batches]
    return [Piece(number, *place) for number, place in enumerate(places)]
