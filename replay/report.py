"""What a backtest found, in the numbers that people decide by. Pure; its JSON is `--json`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from replay.backtest import Lived, Outcome, Span, worst_first
from shared.engine.evaluate import Reason
from shared.model import Deployment, Severity, iso
from shared.rulebook.rules import Rule, Rulebook

NOISIEST = 3
UNKNOWN = tuple(reason.words for reason in Reason if reason is not Reason.NONE)


class Place(msgspec.Struct, frozen=True):
    """A deployment and what one rule made of it."""

    deployment: str
    episodes: int
    minutes: int


class Lasting(msgspec.Struct, frozen=True):
    """An episode as it is told of."""

    rule: str
    account: str
    deployment: str
    since: str
    until: str
    minutes: int
    open: bool
    fired: str | None
    messages: int
    reason: str
    worst: str
    summary: str


class OfRule(msgspec.Struct, frozen=True):
    """A rule over all deployments."""

    name: str
    severity: Severity
    mode: str
    episodes: int = 0
    minutes: int = 0
    """From the first breach to the end, over all episodes."""
    messages: int = 0
    messages_a_week: float = 0.0
    by_kind: dict[str, int] = {}
    muted: int = 0
    """Episodes of which nobody would have been told."""
    noisiest: tuple[Place, ...] = ()
    verdicts: int = 0
    unknown: dict[str, int] = {}
    """By reason."""

    @property
    def unknown_share(self) -> float:
        return sum(self.unknown.values()) / self.verdicts if self.verdicts else 0.0


class Report(msgspec.Struct, frozen=True):
    """A rulebook over a recording."""

    begin: str
    end: str
    minutes: int
    lead_in: int
    accounts: int
    deployments: int
    messages: int
    messages_a_week: float
    rules: tuple[OfRule, ...]
    episodes: tuple[Lasting, ...]
    notes: tuple[str, ...] = ()
    """What has to be known to read the numbers right."""


def report(
    book: Rulebook, outcomes: Sequence[Outcome], span: Span, notes: Iterable[str] = ()
) -> Report:
    rules = tuple(_rule(rule, outcomes, span) for rule in book.rules)
    lived = sorted((e for o in outcomes for e in o.lived), key=lambda e: (e.since, e.rule))
    messages = sum(rule.messages for rule in rules)
    say = naming(outcomes)
    return Report(
        iso(span.first),
        iso(span.last + 1),
        span.minutes,
        span.lead_in,
        len({outcome.deployment.account for outcome in outcomes}),
        len(outcomes),
        messages,
        round(messages / span.weeks, 2),
        rules,
        tuple(lasting(one, say) for one in lived),
        tuple(notes),
    )


Say = Callable[[Deployment], str]
"""How a deployment is called."""


def naming(outcomes: Iterable[Outcome]) -> Say:
    """Names alone, or ACCOUNT/NAME for those that several accounts have."""
    counts = Counter(outcome.deployment.name.casefold() for outcome in outcomes)

    def say(deployment: Deployment) -> str:
        several = counts[deployment.name.casefold()] > 1
        return f"{deployment.account_name}/{deployment.name}" if several else deployment.name

    return say


def _rule(rule: Rule, outcomes: Sequence[Outcome], span: Span) -> OfRule:
    lived = [one for outcome in outcomes for one in outcome.lived if one.rule == rule.name]
    kinds: Counter[str] = Counter()
    verdicts: Counter[str] = Counter()
    for outcome in outcomes:
        kinds += outcome.messages.get(rule.name, Counter())
        verdicts += outcome.tally.get(rule.name, Counter())
    messages = sum(kinds.values())
    return OfRule(
        rule.name,
        rule.severity,
        rule.mode,
        len(lived),
        sum(one.minutes for one in lived),
        messages,
        round(messages / span.weeks, 2),
        dict(sorted(kinds.items())),
        sum(not one.messages for one in lived),
        _noisiest(lived, naming(outcomes)),
        sum(verdicts.values()),
        {name: verdicts[name] for name in UNKNOWN if verdicts[name]},
    )


def _noisiest(lived: Sequence[Lived], say: Say) -> tuple[Place, ...]:
    by: dict[Deployment, list[Lived]] = {}
    for one in lived:
        by.setdefault(one.deployment, []).append(one)
    places = [
        Place(say(deployment), len(mine), sum(one.minutes for one in mine))
        for deployment, mine in by.items()
    ]
    ordered = sorted(places, key=lambda p: (-p.episodes, -p.minutes, p.deployment))
    return tuple(ordered[:NOISIEST])


def lasting(one: Lived, say: Say) -> Lasting:
    return Lasting(
        one.rule,
        one.deployment.account,
        say(one.deployment),
        iso(one.since),
        iso(one.until),
        one.minutes,
        one.open,
        iso(one.fired) if one.fired is not None else None,
        one.messages,
        one.reason,
        one.worst,
        one.summary,
    )


def worst_of(outcomes: Iterable[Outcome], rule: str, most: int) -> tuple[list[Lived], int]:
    """The worst episodes of a rule, and how many more there are."""
    ordered = worst_first(one for o in outcomes for one in o.lived if one.rule == rule)
    return ordered[:most], max(len(ordered) - most, 0)


def percent(part: float) -> str:
    """`0 %`, `<1 %`, `37 %`."""
    return "<1 %" if 0 < part < 0.01 else f"{part * 100:.0f} %"


def reasons(unknown: Mapping[str, int], verdicts: int) -> str:
    """`12 %: idle 10 %, learning 2 %`; empty where all is known."""
    total = sum(unknown.values())
    if not total:
        return ""
    parts = [f"{name} {percent(count / verdicts)}" for name, count in unknown.items()]
    return f"{percent(total / verdicts)}: {', '.join(parts)}"


def places(noisiest: Sequence[Place]) -> str:
    """`chat 5x, search 2x`."""
    return ", ".join(f"{place.deployment} {place.episodes}x" for place in noisiest)
