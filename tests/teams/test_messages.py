"""Which messages there are, when they are due, and what becomes of them."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from shared.model import Message, MessageState
from shared.teams.messages import after, backoff, due, message_id, messages_for
from shared.teams.outcome import Outcome, OutcomeKind
from tests.teams.samples import FIRED, RESOLVED

MESSAGE = messages_for([FIRED], ["ops"])[0]
NOW = 1000.0


def test_a_message_for_each_event_and_channel_most_severe_first() -> None:
    """Critical comes before warning, in each channel."""
    critical = replace(FIRED, id="c-fired-0", severity="critical")
    info = replace(FIRED, id="i-fired-0", severity="info")
    messages = messages_for([info, FIRED, critical], ["ops", "team"])
    assert [message.events[0].severity for message in messages] == [
        "critical",
        "critical",
        "warning",
        "warning",
        "info",
        "info",
    ]
    assert len({message.id for message in messages}) == 6


def test_ids_are_the_same_whenever_they_are_made() -> None:
    """The id follows from channel and event alone: 16 hexadecimal digits."""
    assert len(MESSAGE.id) == 16
    assert messages_for([FIRED], ["ops"]) == (MESSAGE,)
    assert message_id("team", FIRED) != MESSAGE.id
    assert message_id("ops", RESOLVED) != MESSAGE.id
    int(MESSAGE.id, 16)


@pytest.mark.parametrize(
    ("kind", "state"),
    [
        ("accepted", "accepted"),
        ("delivered", "delivered"),
        ("permanent", "failed"),
        ("too_large", "failed"),
        ("retry", "pending"),
        ("ambiguous", "pending"),
    ],
)
def test_state_after_the_first_post(kind: OutcomeKind, state: MessageState) -> None:
    """Accepted and delivered are two words; only what may still succeed stays open."""
    message = after(replace(MESSAGE, claimed_until=1120.0), Outcome(kind, "why"), NOW)
    assert message.state == state
    assert message.attempts == 1
    assert message.claimed_until == 0.0
    assert ("why" in message.error) == (kind not in ("accepted", "delivered"))


def test_backoff_doubles_up_to_a_quarter_of_an_hour() -> None:
    """1, 2, 4, 8 and then 15 minutes, for however many attempts."""
    assert [backoff(n) / 60 for n in (1, 2, 3, 4, 5, 6, 9999)] == [1, 2, 4, 8, 15, 15, 15]


@pytest.mark.parametrize(
    ("attempts", "asked", "wait"),
    [
        (0, None, 60.0),
        (0, 3.0, 3.0),
        (0, 0.0, 1.0),
        (0, 60.0, 60.0),
        (0, 61.0, 61.0),
        (0, 9999.0, 9999.0),
        (0, 1e9, 86400.0),
        (1, 3.0, 120.0),
        (1, 9999.0, 9999.0),
    ],
)
def test_first_short_wish_is_granted_then_the_longer_wait_counts(
    attempts: int, asked: float | None, wait: float
) -> None:
    """A Retry-After is honoured, within a day; who goes on asking for seconds is not hammered."""
    message = replace(MESSAGE, attempts=attempts)
    assert after(message, Outcome("retry", "429", asked), NOW).next_try == NOW + wait


def test_unknown_end_allows_one_more_post_that_may_double() -> None:
    """The second post without an answer is the last; a 429 between them posts nothing."""
    unsure = Outcome("ambiguous", "no answer")
    first = after(MESSAGE, unsure, NOW)
    assert (first.state, first.id) == ("pending", MESSAGE.id)
    throttled = after(first, Outcome("retry", "429"), NOW)
    assert throttled.state == "pending"
    assert after(first, unsure, NOW).state == "ambiguous"
    assert after(throttled, unsure, NOW).state == "ambiguous"
    assert after(first, Outcome("accepted"), NOW).state == "accepted"


def test_due_keeps_to_times_claims_and_states() -> None:
    """Only what is open, not claimed by a living worker, and whose time has come."""
    ready = replace(MESSAGE, id="1")
    died = replace(MESSAGE, id="2", state="claimed", claimed_until=NOW)
    closed: list[Message] = [
        replace(MESSAGE, id="3", next_try=NOW + 1),
        replace(MESSAGE, id="4", state="claimed", claimed_until=NOW + 1),
        *(
            replace(MESSAGE, id=state, state=state)
            for state in ("accepted", "delivered", "failed", "ambiguous")
        ),
    ]
    assert due([*closed, died, ready], NOW) == [ready, died]


def test_end_waits_for_its_beginning() -> None:
    """A resolve is not told while its fire still waits, in the same channel only."""
    fire = replace(MESSAGE, next_try=NOW + 60)
    end = messages_for([RESOLVED], ["ops"])[0]
    other = messages_for([RESOLVED], ["team"])[0]
    assert due([fire, end, other], NOW) == [other]
    assert due([fire, end], NOW + 60) == [fire, end]
    assert due([replace(fire, state="failed"), end], NOW) == [end]
