"""Plays series through the real engine: the same rules, fits and alerts as live."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from benchmarks.detection.data import SHIPPED
from replay.live import judge_past
from replay.past import REQUESTS, Past
from shared.engine.case import Judged
from shared.engine.frame import Floats
from shared.model import Account, Change, Deployment, Series, Slot, slot_of
from shared.rulebook.load import load
from shared.rulebook.rules import Rulebook

ACCOUNT = Account(
    "/subscriptions/score/resourcegroups/score/providers/microsoft.cognitiveservices/accounts/score",
    "swedencentral",
)
START: Slot = 29_000_160
"""Where a score set begins when its own time does not matter; a multiple of 15."""


@dataclass(frozen=True)
class Alarm:
    """An alert as people would see it: from the slot in which it fired until it ended."""

    rule: str
    deployment: str
    fired: Slot
    end: Slot
    """The slot in which it was resolved; the end of the data if it never was."""


@cache
def rulebook(folder: Path = SHIPPED) -> Rulebook:
    """The rules of a folder, through the loader that serves the timer."""
    book = load(folder)
    assert not book.errors, book.errors
    return book


def only(book: Rulebook, names: Collection[str]) -> Rulebook:
    """The rulebook with some of its rules."""
    return replace(book, rules=tuple(rule for rule in book.rules if rule.name in names))


def series(
    name: str, metric: str, values: Floats, aggregation: str = "total", **dimensions: str
) -> Series:
    """One time series of a deployment, as Azure Monitor would have it."""
    deployment = Deployment(ACCOUNT.id, name)
    return Series(deployment, metric, aggregation, tuple(dimensions.items()), values)


def answered(name: str, calls: Floats, status: str = "200") -> Series:
    """How many calls a minute ended with a status."""
    return series(name, REQUESTS, calls, StatusCode=status)


def play(
    book: Rulebook,
    start: Slot,
    found: Sequence[Series],
    first: Slot | None = None,
    changes: tuple[Change, ...] = (),
) -> Judged:
    """Judges the minutes from `first` on; what lies before is history."""
    past = Past.of(start, found, book.needed)
    return judge_past(book, ACCOUNT, past, start if first is None else first, past.end - 1, changes)


def alarms(judged: Judged, end: Slot) -> list[Alarm]:
    """The alerts that fired, in the order in which they did."""
    return sorted(_alarms(judged, end), key=lambda alarm: (alarm.fired, alarm.deployment))


def _alarms(judged: Judged, end: Slot) -> Iterator[Alarm]:
    ended = {e.episode: e.slot for e in judged.events if e.kind == "resolved"}
    for event in judged.events:
        if event.kind == "fired":
            name = event.deployment.name
            yield Alarm(event.rule, name, event.slot, ended.get(event.episode, end))


def slots_of(times: Sequence[str]) -> list[Slot]:
    """Times of a data file as slots; they are UTC whether they say so or not."""
    return [slot_of(datetime.fromisoformat(time).replace(tzinfo=UTC)) for time in times]
