"""Silences: for how long, and of what, nothing is told. Alerts are tracked all the same. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from zoneinfo import ZoneInfo

from shared.model import Account, Deployment, Muted, Slot, iso, time_of
from shared.rulebook.problems import Mark, Problem
from shared.rulebook.scope import Scope, matches

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


@dataclass(frozen=True)
class Hours:
    """A part of some days, which may reach into the next: [begin, begin + minutes)."""

    begin: int = 0
    """Minute of the day, by the clocks of `zone`."""
    minutes: int = 1440
    days: frozenset[int] = frozenset(range(7))
    """Days on which it begins, Monday is 0."""
    zone: str = "UTC"

    def include(self, slot: Slot) -> bool:
        local = time_of(slot).astimezone(ZoneInfo(self.zone))
        minute = local.hour * 60 + local.minute
        yesterday = (local - timedelta(days=1)).weekday()
        today = local.weekday() in self.days and self._within(minute)
        return today or (yesterday in self.days and self._within(minute + 1440))

    def _within(self, minute: int) -> bool:
        return self.begin <= minute < self.begin + self.minutes


@dataclass(frozen=True)
class Silence:
    """Mutes some rules on some deployments in the slots [begin, end), or in some hours of them."""

    reason: str
    owner: str
    rules: tuple[str, ...] = ()
    """Globs over names of rules; none for all."""
    scope: Scope = field(default_factory=Scope)
    begin: Slot | None = None
    end: Slot | None = None
    hours: Hours | None = None
    mark: Mark = field(default_factory=lambda: Mark(""))

    def covers(self, rule: str, account: Account, deployment: Deployment) -> bool:
        return matches(self.rules, rule) and self.scope.matches(account, deployment)

    def active(self, slot: Slot) -> bool:
        early = self.begin is not None and slot < self.begin
        late = self.end is not None and slot >= self.end
        return not early and not late and (self.hours is None or self.hours.include(slot))

    @property
    def words(self) -> str:
        return f"silenced by {self.owner}: {self.reason}"


def silence_of(muted: Muted) -> Silence:
    """What somebody silenced by hand, as the engine knows it."""
    scope = Scope(muted.accounts, muted.deployments)
    return Silence(muted.reason, muted.owner, muted.rules, scope, muted.begin, muted.end)


def expired(silences: Iterable[Silence], now: Slot) -> tuple[Problem, ...]:
    """A warning for each silence that is over."""
    return tuple(
        Problem(one.mark, f"this silence ended at {iso(one.end)}", "Remove it.", warning=True)
        for one in silences
        if one.end is not None and one.end <= now
    )
