"""The life of an alert: one verdict, one step. Pure; the table of docs/alerts.md in code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from shared.engine.evaluate import Reason, Verdict
from shared.model import STALE_AFTER, Alert, Deployment, Fit, Slot
from shared.rulebook.rules import Hold, Rule

_QUIET = {Reason.IDLE: "no traffic", Reason.TOO_LITTLE_TRAFFIC: "too little traffic"}


@dataclass(frozen=True)
class Told:
    """A change of state that people may be told: `alert` as it was when it fired or ended."""

    kind: Literal["fired", "resolved"]
    alert: Alert
    slot: Slot
    reason: str = ""


Step = tuple[Alert | None, Told | None]


def step(
    rule: Rule,
    alert: Alert | None,
    deployment: Deployment,
    slot: Slot,
    verdict: Verdict,
    reason: Reason = Reason.NONE,
    pins: tuple[Fit, ...] = (),
    value: float | None = None,
) -> Step:
    """The alert after one slot, and what is to be told of it.

    `pins` are the fits a new episode is compared with from now on, `value` is the leading signal.
    """
    if alert is None:
        if verdict != Verdict.BREACH:
            return None, None
        return _breach(
            rule, Alert(rule.name, deployment, "pending", slot, slot, pins=pins), slot, value
        )
    if verdict == Verdict.UNKNOWN:
        return _unknown(alert, slot, reason)
    if verdict == Verdict.BREACH:
        return _breach(rule, alert, slot, value)
    alert = _known(rule.hold, alert, slot, breached=False)
    if verdict == Verdict.BETWEEN:
        return alert, None
    return _clear(rule, alert, slot)


def _breach(rule: Rule, alert: Alert, slot: Slot, value: float | None) -> Step:
    alert = _known(rule.hold, alert, slot, breached=True)
    alert = replace(alert, clear=None, worst=_worse(rule, alert.worst, value))
    if alert.state == "firing" or not _met(rule.hold, alert):
        return alert, None
    alert = replace(alert, state="firing", fired=slot, told=rule.mode == "notify")
    return alert, Told("fired", alert, slot)


def _clear(rule: Rule, alert: Alert, slot: Slot) -> Step:
    if alert.state == "pending":
        still = rule.hold.among and any(breached for _, breached in alert.recent)
        return (alert if still else None), None
    alert = replace(alert, clear=0 if alert.clear is None else alert.clear + 1)
    if (alert.clear or 0) < rule.keep_firing:
        return alert, None
    return None, Told("resolved", alert, slot, "recovered")


def _unknown(alert: Alert, slot: Slot, reason: Reason) -> Step:
    quiet = reason in _QUIET
    since = (alert.quiet_since if alert.quiet_since is not None else slot) if quiet else None
    alert = replace(alert, mark=reason.words, quiet_since=since)
    if alert.state == "pending":
        return (None if slot - alert.last_known >= STALE_AFTER else alert), None
    if since is not None and slot - since >= STALE_AFTER:
        return None, Told("resolved", alert, slot, _QUIET[reason])
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


Ending = Literal["vanished", "rule removed", "no longer watched"]


def end(alert: Alert, slot: Slot, reason: Ending) -> Step:
    """Ends an alert whose deployment or rule is no longer there; only a told one is told."""
    return None, Told("resolved", alert, slot, reason) if alert.state == "firing" else None


def skip(alert: Alert) -> Alert | None:
    """After slots that nobody judged: a pending alert is dropped, a firing one holds."""
    if alert.state == "pending":
        return None
    return replace(alert, mark="unjudged", quiet_since=None, clear=None, recent=())
