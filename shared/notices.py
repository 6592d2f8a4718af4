"""What the watchdog says of itself: events without a rule. Pure."""

from __future__ import annotations

import hashlib
from datetime import datetime

from shared.model import CATCH_UP, Account, Deployment, Event, Slot, episode_id, iso, slot_of
from shared.rulebook.rules import Rulebook

MOST_PROBLEMS = 5


def unjudged(account: Account, first: Slot, oldest: Slot) -> Event:
    """Slots from `first` up to `oldest` lie too far back to be judged."""
    summary = (
        f"Nobody judged the minutes from {iso(first)} to {iso(oldest)}: the watchdog was away for "
        f"longer than the {CATCH_UP // 60} hours that it catches up. Alerts that were pending were "
        "dropped; firing ones hold."
    )
    place = Deployment(account.id, "")
    episode = episode_id("Unjudged", place, first)
    return _notice(
        "Unjudged", episode, oldest, summary, "runbooks/unjudged.md", place, account.region
    )


def broken_rules(rulebook: Rulebook, now: datetime) -> Event:
    """Rule files that cannot be used; the same problems make the same event, told once."""
    errors = [str(problem).splitlines()[0] for problem in rulebook.errors]
    episode = hashlib.sha256("\n".join(errors).encode()).hexdigest()[:16]
    shown = "\n".join(errors[:MOST_PROBLEMS])
    more = len(errors) - MOST_PROBLEMS
    summary = (
        "Some rules are broken and not judged; the others are. Run `tokenwatch check` and deploy "
        f"again.\n{shown}" + (f"\n+{more} more" if more > 0 else "")
    )
    return _notice(
        "RulesBroken", episode, slot_of(now), summary, "rules.md", Deployment("", ""), ""
    )


def _notice(
    name: str, episode: str, slot: Slot, summary: str, page: str, place: Deployment, region: str
) -> Event:
    return Event(
        id=f"{episode}-notice-0",
        episode=episode,
        kind="notice",
        sequence=0,
        slot=slot,
        since=slot,
        rule=name,
        severity="warning",
        owner="",
        runbook=page,
        deployment=place,
        region=region,
        summary=summary,
    )
