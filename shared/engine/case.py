"""What is judged, what is remembered from slot to slot, and what comes of judging. Pure values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from shared.engine.baseline import Fits
from shared.engine.evaluate import offsets, reach
from shared.engine.frame import Frame
from shared.model import Account, Alert, Change, Episode, Event, Known
from shared.rulebook.catalogue import CACHE_KEPT, CACHE_WARMING
from shared.rulebook.rules import Rulebook
from shared.rulebook.silences import Silence

LEAST_LEAD = 60
"""Minutes read before the first slot, at least: charts and a deployment's first sight need them."""

Tally = Mapping[str, Counter[str]]
"""By rule: how often each verdict came out, `unknown` by reason."""


@dataclass(frozen=True)
class Standing:
    """What is remembered of some deployments from slot to slot."""

    known: tuple[Known, ...] = ()
    alerts: tuple[Alert, ...] = ()
    episodes: tuple[Episode, ...] = ()
    fits: Fits = field(default_factory=dict)
    troubles: tuple[Alert, ...] = ()
    """The watchdog's own alerts, one an account at most."""

    def of(self, accounts: Collection[str]) -> Standing:
        """The part that is about some accounts."""
        return Standing(
            tuple(one for one in self.known if one.deployment.account in accounts),
            tuple(one for one in self.alerts if one.deployment.account in accounts),
            tuple(one for one in self.episodes if one.deployment.account in accounts),
            {key: fit for key, fit in self.fits.items() if fit.deployment.account in accounts},
            tuple(one for one in self.troubles if one.deployment.account in accounts),
        )

    def and_(self, other: Standing) -> Standing:
        """Both parts, of different accounts, together."""
        return Standing(
            self.known + other.known,
            self.alerts + other.alerts,
            self.episodes + other.episodes,
            {**self.fits, **other.fits},
            self.troubles + other.troubles,
        )


@dataclass(frozen=True)
class Judged:
    standing: Standing
    events: tuple[Event, ...] = ()
    tally: Tally = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)
    """Rules that could not be judged, and why: their alerts stay as they are."""

    def then(self, later: Judged) -> Judged:
        """Both, one after the other."""
        tally = {name: Counter(counts) for name, counts in self.tally.items()}
        for name, counts in later.tally.items():
            tally[name] = tally.get(name, Counter()) + counts
        broken = {**self.broken, **later.broken}
        return Judged(later.standing, self.events + later.events, tally, broken)


@dataclass(frozen=True)
class Case:
    """What is judged: the rules, the frame of some accounts, the changes, and earlier frames for
    `ago` by how many minutes earlier."""

    rulebook: Rulebook
    accounts: Mapping[str, Account]
    frame: Frame
    changes: tuple[Change, ...] = ()
    earlier: Mapping[int, Frame] = field(default_factory=dict)
    silences: tuple[Silence, ...] = ()
    gone: frozenset[str] = frozenset()
    """Keys of deployments that Resource Manager no longer lists."""


def lead(rulebook: Rulebook) -> int:
    """Minutes that a frame must begin before its first slot, that slot included."""
    beyond = CACHE_KEPT + CACHE_WARMING + 1  # what decides whether a window's cache was warm
    return max([LEAST_LEAD, *(reach(rule) + beyond for rule in rulebook.rules)])


def all_offsets(rulebook: Rulebook) -> set[int]:
    """Every distance that a rule looks back with ago(), in minutes."""
    return {minutes for rule in rulebook.rules for minutes in offsets(rule)}
