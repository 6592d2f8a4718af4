"""What could not be read: from the failures of a reading to words. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from shared.model import Reading, Slot, iso

NAMED = 3
"""Metrics that a line names; the others are counted."""


class Gap(msgspec.Struct, frozen=True, order=True):
    """What could not be read over [start, end): missing there is not idle."""

    account: str
    metric: str
    aggregation: str
    start: Slot
    end: Slot
    reason: str


def gaps_of(reading: Reading) -> tuple[Gap, ...]:
    end = reading.start + reading.steps * reading.step
    found = {
        Gap(account, c.metric, c.aggregation, reading.start, end, failure.reason)
        for (account, c), failure in reading.failures.items()
    }
    return tuple(sorted(found))


def joined(gaps: Iterable[Gap]) -> tuple[Gap, ...]:
    """Gaps that follow one another as one; the first says why."""
    found: list[Gap] = []
    for gap in sorted(gaps):
        last = found[-1] if found else None
        if last and _subject(last) == _subject(gap) and gap.start <= last.end:
            found[-1] = msgspec.structs.replace(last, end=max(last.end, gap.end))
        else:
            found.append(gap)
    return tuple(found)


def _subject(gap: Gap) -> tuple[str, str, str]:
    return gap.account, gap.metric, gap.aggregation


def described(gaps: Iterable[Gap], most: int = 10) -> list[str]:
    """A line for each account, time and reason, with the metrics."""
    groups: dict[tuple[str, Slot, Slot, str], list[str]] = defaultdict(list)
    for gap in gaps:
        account = gap.account.rsplit("/", 1)[-1]
        groups[account, gap.start, gap.end, gap.reason].append(gap.metric)
    lines = []
    for (account, start, end, reason), metrics in groups.items():
        names = list(dict.fromkeys(metrics))
        more = f" +{len(names) - NAMED}" if len(names) > NAMED else ""
        what = ", ".join(names[:NAMED]) + more
        lines.append(f"{account}: {what} from {iso(start)} to {iso(end)}: {reason}")
    return lines[:most] + ([f"and {len(lines) - most} more"] if len(lines) > most else [])
