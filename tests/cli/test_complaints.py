"""What goes wrong again and again is said once."""

from __future__ import annotations

import pytest

from cli.complaints import Complaint, Complaints, Refusals, grouped
from shared.model import Message

DOWN = "the metrics endpoint of eastus cannot be reached: refused; check DNS"


def test_failures_become_a_line_an_account_and_reason() -> None:
    """Metrics and rules are named, the first two of each; the others are counted."""
    failures = [
        f"north: Requests (for A, B): {DOWN}",
        f"north: Tokens (for B, C): {DOWN}",
        f"north: Latency (for traffic): {DOWN}",
        "north: Cache (for D): HTTP 400: no such metric",
        f"west: Requests (for traffic): {DOWN}",
        "/subscriptions/s/a: Tokens has 1,000 series or more",
    ]
    assert [str(one) for one in grouped(failures)] == [
        f"north: {DOWN} (Requests, Tokens, +1; rules A, B, +1 blind)",
        "north: HTTP 400: no such metric (Cache; rule D blind)",
        f"west: {DOWN} (Requests)",
        "/subscriptions/s/a: Tokens has 1,000 series or more",
    ]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("id 01234567-89ab-cdef-0123-456789abcdef", "id 76543210-89ab-cdef-0123-456789abcdef"),
        ("<object at 0x7fb95e027340>", "<object at 0x7fb95e0273ff>"),
        ("at 2026-12-01T08:00:00.123", "at 2026-12-01T08:01:00.456"),
    ],
)
def test_what_differs_each_time_makes_no_new_reason(one: str, two: str) -> None:
    """Ids of requests, addresses of objects and times do not count, in one tick or in two."""
    failures = [f"north: A (for R): refused {one}", f"north: B (for R): refused {two}"]
    (complaint,) = grouped(failures)
    assert complaint.detail == "A, B; rule R blind"
    complaints = Complaints()
    assert len(complaints.heard(grouped(failures[:1]))) == 1
    assert complaints.heard(grouped([f"north: A (for R): refused {two}"])) == []


def test_it_is_said_when_it_begins_when_it_changes_and_when_it_is_over() -> None:
    """And not in the ticks between."""
    complaints = Complaints()
    told = [
        complaints.heard(now)
        for now in (
            [],
            [Complaint("down", "A")],
            [Complaint("down", "A")],
            [Complaint("down", "A, B"), Complaint("late")],
            [Complaint("down", "A, B")],
            [],
            [],
            [Complaint("down", "A")],
        )
    ]
    assert told == [
        [],
        ["down (A)"],
        [],
        ["down (A, B)", "late"],
        ["over after 1 tick: late"],
        ["over after 4 ticks: down"],
        [],
        ["down (A)"],
    ]


def message(name: str, state: str, error: str = "", channel: str = "ops") -> Message:
    return Message(name, channel, (), state, error=error)  # type: ignore[arg-type]


def test_a_channel_that_refuses_is_told_once_and_again_when_it_takes_a_card() -> None:
    """Tries come ever later, so ticks without one mean nothing; a second try that succeeds within
    the tick is no refusal."""
    refusals = Refusals()
    assert refusals.heard([message("a", "pending", "429"), message("a", "accepted")]) == []
    assert not refusals
    assert refusals.heard([message("a", "pending", "503"), message("b", "pending", "503")]) == [
        "channel ops: 503"
    ]
    assert refusals.heard([]) == []
    assert refusals
    assert refusals.heard([message("a", "failed", "404")]) == ["channel ops: 404"]
    assert refusals.heard([message("b", "accepted", channel="default")]) == []
    assert refusals.heard([message("b", "delivered")]) == ["over after 3 tries: channel ops: 404"]
    assert not refusals
