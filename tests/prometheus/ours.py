"""What our engine makes of a group: the real loader, the real walk, one minute at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from shared.engine.baseline import Due
from shared.engine.case import Case, Standing
from shared.engine.frame import Frame
from shared.engine.walk import walk
from shared.model import Event, Series
from tests.engine.build import ACCOUNT, START, book, frame, minutes, named
from tests.prometheus.history import MINUTES, gaps
from tests.prometheus.pairs import Group
from tests.prometheus.states import Mark, States, states_of

SIGNALS = """
signals:
  requests: {metric: AzureOpenAIRequests, aggregation: total, unit: requests}
  level: {metric: GeneratedTokens, aggregation: total, unit: tokens}
  pace: {metric: AzureOpenAITTLTInMS, aggregation: average, unit: ms}
"""
"""`level` is a total, `pace` an average of the same values."""


@dataclass(frozen=True)
class Ours:
    states: States
    events: tuple[Event, ...]


def ours(groups: Sequence[Group]) -> Ours:
    """Judged minute by minute, each tick seeing no more than its own minute and those before."""
    marks: list[Mark] = []
    events: list[Event] = []
    for group in groups:
        for minute, (standing, told) in enumerate(_ticks(case_of(group))):
            events += told
            marks += [
                (alert.rule, int(alert.deployment.name), minute, alert.state)
                for alert in standing.alerts
            ]
    return Ours(states_of(groups, marks), tuple(events))


def at_once(groups: Sequence[Group]) -> tuple[Event, ...]:
    """What is told when the two hours are judged in one piece."""
    events: list[Event] = []
    for group in groups:
        case = case_of(group)
        judged, _ = walk(case, Standing(), START, START + case.frame.steps - 1, _no_history)
        events += judged.events
    return tuple(events)


def case_of(group: Group) -> Case:
    rules = "\n".join(pair.ours for pair in group.pairs)
    rulebook = book(f"rules:\n{rules}\n", signals=SIGNALS)
    assert not rulebook.problems, rulebook.problems
    found: list[Series] = []
    for number, history in group.histories.items():
        values = np.array(history)
        # A gap is one of traffic for every other series, and of the metric alone for the rest.
        calls = np.where(gaps(history), np.nan, 5.0) if number % 2 else 5.0
        of = named(str(number))
        found += minutes(len(history), ok=calls, tokens=values, ttlt=values, of=of)
    whole = frame(found, MINUTES, known=(), components=rulebook.needed)
    return Case(rulebook, {ACCOUNT.id: ACCOUNT}, whole)


def _ticks(case: Case) -> Iterator[tuple[Standing, tuple[Event, ...]]]:
    standing = Standing()
    for minute in range(case.frame.steps):
        slot = START + minute
        now = replace(case, frame=_until(case.frame, minute + 1))
        judged, _ = walk(now, standing, slot, slot, _no_history)
        standing = judged.standing
        yield standing, judged.events


def _until(whole: Frame, steps: int) -> Frame:
    values = {component: rows[:steps] for component, rows in whole.values.items()}
    return replace(whole, steps=steps, values=values)


def _no_history(dues: Sequence[Due]) -> dict[Due, Frame]:
    assert not dues
    return {}
