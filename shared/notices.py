"""What the watchdog says of itself: events without a rule. Pure."""

from __future__ import annotations

import hashlib
from datetime import datetime

from msgspec.structs import replace

from shared.model import CATCH_UP, Account, Deployment, Event, Slot, iso, slot_of
from shared.rulebook.rules import Rulebook

MOST_PROBLEMS = 5


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


def broken_rules(rulebook: Rulebook, now: datetime) -> Event:
    """Rule files that cannot be used; the same problems make the same event, told once."""
    errors = [str(problem).splitlines()[0] for problem in rulebook.errors]
    digest = hashlib.sha256("\n".join(errors).encode()).hexdigest()[:16]
    shown = "\n".join(errors[:MOST_PROBLEMS])
    more = len(errors) - MOST_PROBLEMS
    summary = (
        "Some rules are broken and not judged; the others are. Run `tokenwatch check` and deploy "
        f"again.\n{shown}" + (f"\n+{more} more" if more > 0 else "")
    )
    at = slot_of(now)
    event = Event.of(
        "notice",
        "RulesBroken",
        Deployment("", ""),
        at,
        at,
        severity="warning",
        region="",
        summary=summary,
        runbook="rules.md",
    )
    return replace(event, id=f"{digest}-notice-0", episode=digest)
