"""A scenario's minutes as rows: those that look alike in one, and only those that matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from replay.scenario import Column, Expectation
from replay.scenariocompare import Minute, Miss
from replay.scenarioexpect import ALWAYS

AROUND = 1
"""Rows that are shown before and after one that matters."""


@dataclass(frozen=True)
class Row:
    """Minutes [begin, end] that look alike."""

    begin: int
    end: int
    pieces: tuple[int, ...]
    minute: Minute
    expected: tuple[Expectation, ...]
    """What has to be said of them here."""
    wrong: bool

    @property
    def matters(self) -> bool:
        return self.wrong or bool(self.expected or self.minute.events)


def rows(
    columns: Sequence[Column],
    seen: Sequence[Minute],
    expected: Sequence[Expectation],
    misses: Sequence[Miss],
) -> Iterator[Row]:
    """The minutes, as long as nothing changes in one row."""
    row: Row | None = None
    for n, minute in enumerate(seen):
        pieces = tuple(int(column.pieces[n]) for column in columns)
        worth = tuple(one for one in expected if _tells(one, n, seen))
        wrong = any(miss.begin <= n <= miss.end for miss in misses)
        now = Row(row.begin if row else 0, n, pieces, minute, worth, wrong)
        if row and now != replace(row, end=n):
            yield row
            now = replace(now, begin=n)
        row = now
    if row:
        yield row


def _tells(one: Expectation, n: int, seen: Sequence[Minute]) -> bool:
    """Whether it has to be said at a minute what is expected: where it should be so and, of what
    should always or never be, where it is not. An event that came is expected where it came."""
    holds = [any(real.fulfils(word) for real in seen[n].all) for word in one.words]
    if one.never:
        return any(holds)
    if one.text == ALWAYS:
        return not all(holds)
    if not one.begin <= n <= one.end:
        return False
    events = [word for word in one.words if word.kind == "event"]
    told = [real for minute in seen[one.begin : one.end + 1] for real in minute.events]
    came = all(any(real.fulfils(word) for real in told) for word in events)
    return all(holds) if events and came else True


def chosen(found: Iterable[Row]) -> Iterator[Row | None]:
    """The rows that matter and those around them; None where others are left out."""
    rows = list(found)
    near = [
        any(other.matters for other in rows[max(n - AROUND, 0) : n + AROUND + 1])
        for n in range(len(rows))
    ]
    for n, row in enumerate(rows):
        if near[n]:
            yield row
        elif n == 0 or near[n - 1]:
            yield None
