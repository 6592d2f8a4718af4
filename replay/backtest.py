"""One deployment's past through the live engine: its episodes, messages and verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from replay.backtestcurve import Curve, Drawer, Stretch
from replay.live import judge_past
from replay.past import Past
from replay.recorded import Blind
from shared.engine.case import Judged, Standing
from shared.model import Account, Change, Component, Deployment, Episode, Event, Slot, episode_id
from shared.rulebook.rules import Rulebook


@dataclass(frozen=True)
class Span:
    """What is judged, and from when on there is history."""

    begin: Slot
    first: Slot
    last: Slot

    @property
    def minutes(self) -> int:
        return self.last - self.first + 1

    @property
    def weeks(self) -> float:
        return self.minutes / (7 * 24 * 60)

    @property
    def lead_in(self) -> int:
        return self.first - self.begin


@dataclass(frozen=True)
class Lived:
    """An episode, told or not."""

    rule: str
    deployment: Deployment
    since: Slot
    until: Slot
    """Where it ended, or where the judging did."""
    open: bool
    """It still fires there."""
    fired: Slot | None = None
    """When it was told, or shown if the rule is only observed; None where it was muted."""
    messages: int = 0
    reason: str = ""
    """How it ended, where that was told."""
    worst: str = ""
    summary: str = ""
    curve: Curve | None = None

    @property
    def minutes(self) -> int:
        return self.until - self.since


@dataclass(frozen=True)
class Outcome:
    """What came of a deployment under one rulebook."""

    deployment: Deployment
    lived: tuple[Lived, ...] = ()
    messages: Mapping[str, Counter[str]] = field(default_factory=dict)
    """By rule, by kind: what people would be told."""
    tally: Mapping[str, Counter[str]] = field(default_factory=dict)
    events: tuple[Event, ...] = ()


def judge_deployment(
    rulebook: Rulebook,
    account: Account,
    past: Past,
    span: Span,
    changes: tuple[Change, ...] = (),
    blind: Sequence[Blind] = (),
    curves: int = 0,
) -> Outcome:
    """Judges the past of one deployment; `curves` of the worst episodes of each rule are kept."""
    (deployment,) = past.deployments
    # A fit without history is tried every hour, at which the judging is cut: a third of the time.
    past = replace(past, never=_never(past, rulebook))
    episodes: dict[tuple[str, Slot], Episode] = {}
    stretches: list[Stretch] = []

    def seen(first: Slot, last: Slot, judged: Judged) -> None:
        episodes.update({(e.rule, e.since): e for e in judged.standing.episodes})
        stretches.append(Stretch(first, last, judged.standing))

    judged = Judged(Standing())
    for first, last, missing in cut(span, blind):
        part = _blinded(past, missing)
        now = judge_past(rulebook, account, part, first, last, changes, judged.standing, seen=seen)
        judged = judged.then(now)
    lived = [_lived(episode, judged.events, span) for episode in episodes.values()]
    if curves:
        drawer = Drawer(rulebook, account, past, span.first, span.last, changes, stretches)
        lived = _drawn(lived, drawer, curves)
    return Outcome(
        deployment,
        tuple(sorted(lived, key=lambda one: (one.since, one.rule))),
        _told(judged.events),
        judged.tally,
        judged.events,
    )


def cut(span: Span, blind: Iterable[Blind]) -> Iterator[tuple[Slot, Slot, frozenset[Component]]]:
    """The span in pieces: first and last slot, and what cannot be seen throughout."""
    gaps = list(blind)
    bounds = {at for gap in gaps for at in (gap.start, gap.end) if span.first < at <= span.last}
    edges = [span.first, *sorted(bounds), span.last + 1]
    for first, after in pairwise(edges):
        missing = [gap.components for gap in gaps if gap.start <= first and gap.end >= after]
        yield first, after - 1, frozenset().union(*missing)


def _never(past: Past, rulebook: Rulebook) -> frozenset[str]:
    """Signals that are a component without a point, as provisioned ones are on pay-as-you-go."""
    empty = {c for c, values in past.whole.values.items() if np.isnan(values).all()}
    return frozenset(n for n, signal in rulebook.signals.items() if signal.component in empty)


def _blinded(past: Past, missing: frozenset[Component]) -> Past:
    """The same past, of which some components could not be read."""
    size = len(past.deployments)
    failed = {c: np.full(size, c in missing) for c in past.whole.values}
    return replace(past, whole=replace(past.whole, failed=failed)) if missing else past


def _lived(episode: Episode, events: Iterable[Event], span: Span) -> Lived:
    name = episode_id(episode.rule, episode.deployment, episode.since)
    mine = [event for event in events if event.episode == name]
    fired = next((event for event in mine if event.kind == "fired"), None)
    ended = next((event for event in mine if event.kind == "resolved"), None)
    latest = ended or (mine[-1] if mine else None)
    return Lived(
        episode.rule,
        episode.deployment,
        episode.since,
        span.last + 1 if episode.end is None else episode.end,
        open=episode.end is None,
        fired=fired.slot if fired else None,
        messages=sum(event.notify for event in mine),
        reason=ended.reason if ended else "",
        worst=latest.worst if latest else "",
        summary=fired.summary if fired else "",
    )


def worst_first(lived: Iterable[Lived]) -> list[Lived]:
    """The longest first."""
    return sorted(lived, key=lambda one: (-one.minutes, one.since, one.deployment))


def _drawn(lived: Sequence[Lived], drawer: Drawer, most: int) -> list[Lived]:
    """With the curves of the worst episodes of each rule."""
    rules = {one.rule for one in lived}
    chosen = {
        id(e) for rule in rules for e in worst_first(e for e in lived if e.rule == rule)[:most]
    }
    return [
        replace(one, curve=drawer.curve(one.rule, one.since, one.until))
        if id(one) in chosen
        else one
        for one in lived
    ]


def _told(events: Iterable[Event]) -> dict[str, Counter[str]]:
    messages: dict[str, Counter[str]] = {}
    for event in events:
        if event.notify:
            messages.setdefault(event.rule, Counter())[event.kind] += 1
    return messages
