"""The life of an alert: one verdict, one step. Pure; the table of docs/alerts.md in code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from msgspec.structs import replace

from shared.engine.evaluate import Reason, Verdict
from shared.model import STALE_AFTER, Alert, Deployment, Event, Fit, Severity, Slot
from shared.rulebook.rules import Hold, Rule

_QUIET = {Reason.IDLE: "no traffic", Reason.TOO_LITTLE_TRAFFIC: "too little traffic"}


@dataclass(frozen=True)
class Sight:
    """What one slot shows of a rule on a deployment, and what bears on the telling."""

    slot: Slot
    verdict: Verdict
    reason: Reason = Reason.NONE
    """Why the verdict is unknown."""
    value: float | None = None
    """The leading signal, where the rule is breached."""
    muted: str = ""
    """Why people are not told now, e.g. a silence; empty when they are."""
    gone: bool = False
    """Resource Manager no longer lists the deployment."""


@dataclass(frozen=True)
class Told:
    """What people may be told of an alert: `alert` is as it was when it fired or ended."""

    kind: Literal["fired", "reminded", "resolved"]
    alert: Alert
    slot: Slot
    reason: str = ""

    def event(self, *, severity: Severity, region: str, summary: str, **more: Any) -> Event:
        """The event of it; `more` are further fields of Event."""
        alert = self.alert
        return Event.of(
            self.kind,
            alert.rule,
            alert.deployment,
            alert.since,
            self.slot,
            severity=severity,
            region=region,
            summary=summary,
            sequence=alert.reminders if self.kind == "reminded" else 0,
            reason=self.reason,
            notify=alert.told,
            **more,
        )


Step = tuple[Alert | None, Told | None]


def step(
    rule: Rule,
    alert: Alert | None,
    deployment: Deployment,
    sight: Sight,
    pins: tuple[Fit, ...] = (),
) -> Step:
    """The alert after one slot, and what is to be told of it.

    `pins` are the fits that an episode beginning now is compared with.
    """
    following, ended = _judged(rule, alert, deployment, sight, pins)
    if following is None:
        return None, ended if ended and ended.alert.announced else None
    if following.state == "pending":
        return following, None
    return _telling(rule, following, sight)


def _judged(
    rule: Rule,
    alert: Alert | None,
    deployment: Deployment,
    sight: Sight,
    pins: tuple[Fit, ...],
) -> Step:
    """The alert after one slot, and its end if it ended from firing."""
    if alert is None:
        if sight.verdict != Verdict.BREACH:
            return None, None
        begun = Alert(rule.name, deployment, "pending", sight.slot, sight.slot, pins=pins)
        return _breach(rule, begun, sight), None
    if sight.verdict == Verdict.UNKNOWN:
        return _unknown(alert, sight)
    if sight.verdict == Verdict.BREACH:
        return _breach(rule, alert, sight), None
    alert = _known(rule.hold, alert, sight.slot, breached=False)
    if sight.verdict == Verdict.BETWEEN:
        return alert, None
    return _clear(rule, alert, sight.slot)


def _telling(rule: Rule, alert: Alert, sight: Sight) -> Step:
    """What is told of an alert that fires: its beginning, once nothing mutes it, and reminders.

    One that is on its way to clear by then is not told any more: it would be over at once.
    """
    alert = replace(alert, muted=sight.muted)
    slot = sight.slot
    if rule.observed:
        if alert.announced:
            return alert, None
        alert = replace(alert, told_at=slot)
        return alert, Told("fired", alert, slot)
    if sight.muted or (not alert.told and alert.clear is not None):
        return alert, None
    if not alert.told:
        alert = replace(alert, told=True, told_at=slot)
        return alert, Told("fired", alert, slot)
    last = alert.told_at if alert.told_at is not None else alert.fired or alert.since
    if rule.remind_every and slot - last >= rule.remind_every:
        alert = replace(alert, told_at=slot, reminders=alert.reminders + 1)
        return alert, Told("reminded", alert, slot)
    return alert, None


def _breach(rule: Rule, alert: Alert, sight: Sight) -> Alert:
    alert = _known(rule.hold, alert, sight.slot, breached=True)
    alert = replace(alert, clear=None, worst=_worse(rule, alert.worst, sight.value))
    if alert.state == "firing" or not _met(rule.hold, alert):
        return alert
    return replace(alert, state="firing", fired=sight.slot)


def _clear(rule: Rule, alert: Alert, slot: Slot) -> Step:
    if alert.state == "pending":
        still = rule.hold.among and any(breached for _, breached in alert.recent)
        return (alert if still else None), None
    alert = replace(alert, clear=0 if alert.clear is None else alert.clear + 1)
    if (alert.clear or 0) < rule.keep_firing:
        return alert, None
    return None, Told("resolved", alert, slot, "recovered")


def _unknown(alert: Alert, sight: Sight) -> Step:
    slot, quiet = sight.slot, sight.reason in _QUIET
    since = (alert.quiet_since if alert.quiet_since is not None else slot) if quiet else None
    alert = replace(alert, mark=sight.reason.words, quiet_since=since)
    if alert.state == "pending":
        return (None if slot - alert.last_known >= STALE_AFTER else alert), None
    if since is not None and slot - since >= STALE_AFTER:
        return None, Told(
            "resolved", alert, slot, "vanished" if sight.gone else _QUIET[sight.reason]
        )
    return alert, None


def _known(hold: Hold, alert: Alert, slot: Slot, *, breached: bool) -> Alert:
    """Counts a slot whose verdict is known."""
    recent: tuple[tuple[Slot, bool], ...] = ()
    if hold.among:
        lately = [pair for pair in alert.recent if pair[0] > slot - 2 * hold.among]
        recent = (*lately, (slot, breached))[-hold.among :]
    return replace(
        alert,
        last_known=slot,
        elapsed=alert.elapsed + (breached and slot != alert.since),
        recent=recent,
        mark="",
        quiet_since=None,
    )


def _met(hold: Hold, alert: Alert) -> bool:
    if hold.among:
        return sum(breached for _, breached in alert.recent) >= hold.breaches
    return alert.elapsed >= hold.minutes


def _worse(rule: Rule, worst: float | None, value: float | None) -> float | None:
    if worst is None or value is None:
        return value if worst is None else worst
    low = rule.leading is not None and "<" in rule.leading.op
    return min(worst, value) if low else max(worst, value)


Ending = Literal["rule removed", "no longer watched", "new normal"]


def end(alert: Alert, slot: Slot, reason: Ending) -> Told | None:
    """What is told when an alert ends from outside; nothing of one that nobody heard of."""
    firing = alert.state == "firing" and alert.announced
    return Told("resolved", alert, slot, reason) if firing else None


def skip(alert: Alert) -> Alert | None:
    """After slots that nobody judged: a pending alert is dropped, a firing one holds."""
    if alert.state == "pending":
        return None
    return replace(alert, mark="unjudged", quiet_since=None, clear=None, recent=())
