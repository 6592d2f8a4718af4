"""What people are told after the watchdog was away."""

from __future__ import annotations

from pathlib import Path

import msgspec

from shared.model import SETTLE, Deployment, Event
from shared.notices import while_away
from shared.telling import LATE, to_tell
from tests.pipeline.story import START, recording, scene
from tests.pipeline.test_deciding import throttled

NOW = (START + 300) * 60.0


def event(kind: str, slot: int, deployment: str = "chat", **more: object) -> Event:
    place = Deployment("/subscriptions/s/resourcegroups/g/providers/p/accounts/acc", deployment)
    made = Event.of(
        kind,  # type: ignore[arg-type]
        "LatencyHigh",
        place,
        START,
        START + slot,
        severity="warning",
        region="eastus",
        summary="slow",
    )
    return msgspec.structs.replace(made, **more)


def test_episodes_of_an_outage_are_told_in_one_card_after_what_goes_on(tmp_path: Path) -> None:
    """Away for four hours: what fires now has its card, what came and went shares one."""
    chat = throttled(320, 60, 70).set("ok", 200)
    for first, last in ((120, 130), (290, 320)):
        chat.set("utilization", 104, first, last).set("throttled", 3, first, last)
    with scene(recording(chat), tmp_path) as one:
        one.live([START + 50])
        events = one.live([START + 310])
        cards = one.cards
    fired = [e for e in events if e.kind == "fired"]
    assert [(e.rule, e.slot - START) for e in fired if e.slot > START + 280] == [
        ("ProvisionedThrottling", 290),
        ("ProvisionedCapacityUsedUp", 292),
    ]
    assert len(fired) == 6
    assert len(cards) == 3
    assert "WhileAway" in cards[2]
    assert "4 alerts began and ended while nobody watched" in cards[2]


def test_what_ended_just_now_has_its_own_cards() -> None:
    """An episode that is over but news is told as usual; a late one only in the notice."""
    begun = event("fired", 0)
    news = event("resolved", 300 - SETTLE - LATE)
    late = event("resolved", 299 - SETTLE - LATE)
    assert to_tell([begun, news], NOW) == [begun, news]
    (notice,) = to_tell([begun, late], NOW)
    assert notice.rule == "WhileAway"


def test_an_end_whose_beginning_was_told_has_its_own_card() -> None:
    """An alert that fired before the outage and ended in it is told to be over."""
    late = event("resolved", 100)
    assert to_tell([late], NOW) == [late]


def test_observed_episodes_are_not_in_the_notice() -> None:
    """Rules that are only observed are told in no way."""
    assert to_tell([event("fired", 0, notify=False), event("resolved", 9, notify=False)], NOW) == []


def test_the_notice_is_the_same_whenever_it_is_made() -> None:
    """Its id follows from the events it stands for; worst first, and no more than ten lines."""
    ends = [event("resolved", 50, f"d{n:02}", severity="info", episode=f"e{n}") for n in range(11)]
    ends.append(event("resolved", 60, "worst", severity="critical", episode="e99", worst="9 s"))
    notice = while_away(ends)
    assert notice.id == while_away(ends[::-1]).id
    lines = notice.summary.splitlines()
    assert lines[0] == "12 alerts began and ended while nobody watched:"
    assert "LatencyHigh on worst (acc)" in lines[1]
    assert lines[1].endswith("UTC, at worst 9 s")
    assert (len(lines), lines[-1], notice.severity) == (12, "+2 more", "info")
