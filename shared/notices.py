"""What the watchdog says of itself: events without a rule. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec.structs import replace

from shared.model import CATCH_UP, Account, Deployment, Event, Slot, iso, slot_of, time_of
from shared.rulebook.rules import Rulebook

MOST_PROBLEMS, MOST_EPISODES = 5, 10


def unjudged(account: Account, first: Slot, oldest: Slot) -> Event:
    """Slots from `first` up to `oldest` lie too far back to be judged."""
    summary = (
        f"Nobody judged the minutes from {iso(first)} to {iso(oldest)}: the watchdog was away for "
        f"longer than the {CATCH_UP // 60} hours that it catches up. Alerts that were pending were "
        "dropped; firing ones hold."
    )
    return Event.of(
        "notice",
        "Unjudged",
        Deployment(account.id, ""),
        first,
        oldest,
        severity="warning",
        region=account.region,
        summary=summary,
        runbook="runbooks/unjudged.md",
    )


def rules_failing(rules: Iterable[str], now: datetime) -> Event:
    """Rules that raise when they are judged; said once a day for the same ones."""
    names = sorted(set(rules))
    summary = (
        f"{', '.join(names)} cannot be judged, and the alerts of such a rule stay as they are. The "
        "other rules are judged. This is a defect of the watchdog: the log has the reason."
    )
    return _notice("RuleFailing", summary, [*names, f"{now:%Y-%m-%d}"], now, "operations.md")


def while_away(events: Sequence[Event]) -> Event:
    """One notice of episodes that began and ended unseen; `events` are their fires and ends."""
    ends = sorted((e for e in events if e.kind == "resolved"), key=_urgency)
    lines = [_line(event) for event in ends[:MOST_EPISODES]]
    more = len(ends) - MOST_EPISODES
    count = "One alert" if len(ends) == 1 else f"{len(ends)} alerts"
    summary = f"{count} began and ended while nobody watched:\n" + "\n".join(lines)
    digest = hashlib.sha256("\n".join(sorted(e.id for e in events)).encode()).hexdigest()[:16]
    accounts = {event.deployment.account for event in ends}
    event = Event.of(
        "notice",
        "WhileAway",
        Deployment(ends[0].deployment.account if len(accounts) == 1 else "", ""),
        min(event.since for event in ends),
        max(event.slot for event in ends),
        severity="info",  # it is over, whatever it was: what goes on comes first
        region=ends[0].region,
        summary=summary + (f"\n+{more} more" if more > 0 else ""),
        runbook="alerts.md",
    )
    return replace(event, id=f"{digest}-notice-0", episode=digest)


def _urgency(event: Event) -> tuple[int, Slot]:
    return ("critical", "warning", "info").index(event.severity), event.since


def _line(event: Event) -> str:
    where = f"{event.deployment.name} ({event.deployment.account_name})"
    worst = f", at worst {event.worst}" if event.worst else ""
    begin, end = time_of(event.since), time_of(event.slot)
    to = f"{end:%H:%M}" if begin.date() == end.date() else f"{end:%Y-%m-%d %H:%M}"
    return f"{event.rule} on {where}, {begin:%Y-%m-%d %H:%M} to {to} UTC{worst}"


def broken_rules(rulebook: Rulebook, now: datetime) -> Event:
    """Rule files that cannot be used; the same problems make the same event, told once."""
    errors = [str(problem).splitlines()[0] for problem in rulebook.errors]
    shown = "\n".join(errors[:MOST_PROBLEMS])
    more = len(errors) - MOST_PROBLEMS
    summary = (
        "Some rules are broken and not judged; the others are. Run `tokenwatch check` and deploy "
        f"again.\n{shown}" + (f"\n+{more} more" if more > 0 else "")
    )
    return _notice("RulesBroken", summary, errors, now, "rules.md")


def _notice(name: str, summary: str, about: Iterable[str], now: datetime, runbook: str) -> Event:
    """A notice about no deployment; what it is about makes its id, so that it is told once."""
    digest = hashlib.sha256("\n".join([name, *about]).encode()).hexdigest()[:16]
    at = slot_of(now)
    event = Event.of(
        "notice",
        name,
        Deployment("", ""),
        at,
        at,
        severity="warning",
        region="",
        summary=summary,
        runbook=runbook,
    )
    return replace(event, id=f"{digest}-notice-0", episode=digest)
