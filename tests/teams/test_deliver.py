"""Delivery from the ledger to a real server."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
import requests
from msgspec.structs import replace

from shared.model import Event, Message
from shared.teams.address import Webhook
from shared.teams.messages import messages_for
from tests.teams.conftest import SIG, Desk, Hook, MemoryLedger, Reply, Row, hooked
from tests.teams.samples import FIRED, RESOLVED

RELAYED = "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error"
NOW = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
CRITICAL = replace(FIRED, id="c-fired-0", episode="c", severity="critical", rule="Critical")


@pytest.fixture
def desk(hook: Hook, session: requests.Session) -> Desk:
    return desk_of(hook, session, FIRED)


def desk_of(hook: Hook, session: requests.Session, *events: Event) -> Desk:
    ledger = MemoryLedger(*messages_for(events, ["ops"]))
    return Desk(ledger, {"ops": hook.webhook}, session)


@pytest.mark.parametrize("reply", [Reply(200, f"{RELAYED} 413 with ContextId x"), Reply(413)])
def test_t02_too_large_is_sent_once_more_in_short(hook: Hook, desk: Desk, reply: Reply) -> None:
    """A 413, plain or inside a 200, is followed at once by one short card of the same id."""
    hook.script.append(reply)
    (message,) = desk.deliver()
    assert message.state == "accepted"
    whole, short = hook.bodies
    assert b"FactSet" in whole
    assert b"FactSet" not in short
    assert message.id.encode() in short


def test_t02_too_large_even_in_short_is_never_sent(hook: Hook, desk: Desk) -> None:
    """After the short card nothing more is tried, and the message says that it failed."""
    hook.script.extend([Reply(200, f"{RELAYED} 413 with ContextId x")] * 2)
    (message,) = desk.deliver()
    assert message.state == "failed"
    desk.now += 10_000
    assert desk.deliver() == ()
    assert len(hook.bodies) == 2


def test_t03_throttled_inside_a_200_is_delivered_once_later(hook: Hook, desk: Desk) -> None:
    """A 429 in the body backs off; the later post is the only one that counts."""
    hook.script.extend([Reply(200, f"{RELAYED} 429 with ContextId x"), Reply(200, "1")])
    (message,) = desk.deliver()
    assert message.state == "pending"
    assert desk.deliver() == ()
    desk.now += 60
    (message,) = desk.deliver()
    assert message.state == "delivered"
    assert len(hook.bodies) == 2


def test_t04_retry_after_is_waited_for_in_the_same_run(hook: Hook, desk: Desk) -> None:
    """429 with Retry-After 3, then 202: exactly two posts, 3 s apart by the run's own clock."""
    hook.script.append(Reply(429, headers={"Retry-After": "3"}))
    begin = desk.now
    posted = desk.deliver()
    assert [message.state for message in posted] == ["pending", "accepted"]
    assert len(hook.bodies) == 2
    assert hook.bodies[0] == hook.bodies[1]
    assert desk.now - begin == sum(desk.slept) == 3
    desk.now += 10_000
    assert desk.deliver() == ()


def test_t04_others_do_not_wait_for_a_throttled_channel(
    hook: Hook, session: requests.Session
) -> None:
    """Other channels are served meanwhile; the rest of the throttled one follows its second try."""
    hook.script.append(Reply(429, headers={"Retry-After": "20"}))
    desk = desk_of(hook, session, CRITICAL, FIRED)
    desk.ledger.add_messages(messages_for([RESOLVED], ["team"]))
    with hooked() as other:
        desk.channels["team"] = other.webhook
        told = [(m.channel, m.state, m.events[0].id) for m in desk.deliver()]
    assert told == [
        ("ops", "pending", CRITICAL.id),
        ("ops", "accepted", CRITICAL.id),
        ("ops", "accepted", FIRED.id),
        ("team", "accepted", RESOLVED.id),
    ]
    assert desk.slept == [20.0, 1.0]


def test_t04_who_goes_on_throttling_is_left_alone(hook: Hook, desk: Desk) -> None:
    """Two posts in one run at the most, then minutes of rest."""
    hook.script.extend([Reply(429, headers={"Retry-After": "1"})] * 9)
    assert [message.state for message in desk.deliver()] == ["pending", "pending"]
    assert desk.deliver() == ()
    assert desk.ledger.messages[0].next_try == desk.now + 120


def test_t04_wait_beyond_the_budget_is_left_to_the_next_run(hook: Hook, desk: Desk) -> None:
    """A wait that does not fit is not begun."""
    hook.script.append(Reply(429, headers={"Retry-After": "55"}))
    (message,) = desk.deliver()
    assert (message.state, message.next_try, desk.slept) == ("pending", desk.now + 55, [])
    desk.now += 60
    assert [message.state for message in desk.deliver()] == ["accepted"]


def test_t04_long_wait_goes_back_and_holds_nothing_up(
    hook: Hook, session: requests.Session
) -> None:
    """Retry-After 9999 puts the message back; other channels are served in the same run."""
    hook.script.append(Reply(429, headers={"Retry-After": "9999"}))
    messages = (*messages_for([CRITICAL], ["ops"]), *messages_for([FIRED], ["team"]))
    with hooked() as other:
        channels = {"ops": hook.webhook, "team": other.webhook}
        desk = Desk(MemoryLedger(*messages), channels, session)
        first, second = desk.deliver()
    assert (first.state, first.next_try) == ("pending", desk.now + 9999)
    assert second.state == "accepted"
    assert desk.slept == []
    desk.now += 9998
    assert desk.deliver() == ()
    desk.now += 1
    assert [message.state for message in desk.deliver()] == ["accepted"]


def test_t05_accepted_is_not_posted_again(hook: Hook, desk: Desk) -> None:
    """202 with an empty body ends it."""
    (message,) = desk.deliver()
    assert (message.state, message.error) == ("accepted", "")
    desk.now += 10_000
    assert desk.deliver() == ()
    assert len(hook.bodies) == 1


def test_t10_name_arrives_literally(hook: Hook, session: requests.Session) -> None:
    """A name of Markdown characters arrives with joiners and whole in a code block."""
    event = replace(FIRED, deployment=replace(FIRED.deployment, name="my_gpt*x"))
    desk_of(hook, session, event).deliver()
    sent = hook.bodies[0].decode()
    assert "my\u034f_gpt\u034f*x" in sent
    assert "deployment: my_gpt*x" in sent
    assert "\\_" not in sent


def test_t17_no_state_holds_the_signature(hook: Hook, session: requests.Session) -> None:
    """What is recorded of a failure names no address."""
    ledger = MemoryLedger(*messages_for([FIRED], ["ops"]))
    Desk(ledger, {"ops": Webhook(f"http://127.0.0.1:9/x?sig={SIG}")}, session).deliver()
    assert ledger.messages[0].error
    assert SIG not in repr(ledger.messages)
    assert "127.0.0.1" not in ledger.messages[0].error


def test_t19_what_arrives_has_attachments(hook: Hook, session: requests.Session) -> None:
    """Every post is a message with an array of attachments."""
    desk_of(hook, session, FIRED, CRITICAL, RESOLVED).deliver()
    assert len(hook.cards()) == 3
    assert all(len(card["attachments"]) == 1 for card in hook.cards())


def test_t21_switched_off_flow_fails_and_stays_visible(
    hook: Hook, session: requests.Session
) -> None:
    """No retry; the message says what to do, and what else waits for the channel is not lost."""
    hook.script.append(Reply(400, json.dumps({"error": {"code": "WorkflowTriggerIsNotEnabled"}})))
    desk = desk_of(hook, session, CRITICAL, FIRED)
    (message,) = desk.deliver()
    assert message.state == "failed"
    assert "switched off" in message.error
    assert len(hook.bodies) == 1
    assert {m.state for m in desk.ledger.messages} == {"failed", "pending"}
    desk.now += 60
    (other,) = desk.deliver()
    assert other.events == (FIRED,)
    assert len(hook.bodies) == 2


def test_t21_other_channels_are_told_once_a_day(hook: Hook, session: requests.Session) -> None:
    """The channel that works hears that the other is down, what to do and what was not told."""
    off = Reply(400, json.dumps({"error": {"code": "WorkflowTriggerIsNotEnabled"}}))
    hook.script.extend([off, off])
    desk = desk_of(hook, session, CRITICAL, FIRED)
    with hooked() as other:
        desk.channels["team"] = other.webhook
        desk.now = NOW.timestamp()
        for _ in range(4):
            desk.deliver()
            desk.now += 60
    assert len(hook.bodies) == 2
    (card,) = other.cards()
    assert card["summary"].startswith(
        "🔴 Critical, from the watchdog itself · ChannelDown · Channel ops takes no messages"
    )
    states = {m.events[0].id: m.state for m in desk.ledger.messages if m.channel == "ops"}
    assert states == {CRITICAL.id: "failed", FIRED.id: "failed"}


def test_t22_claim_that_ran_out_is_posted_with_the_same_id(hook: Hook, desk: Desk) -> None:
    """A worker that died between claim and record loses nothing: its message is sent later."""
    (row,) = desk.ledger.open_messages()
    desk.ledger.claim(row, desk.now + 120)
    assert desk.deliver() == ()
    desk.now += 120
    (message,) = desk.deliver()
    assert message.state == "accepted"
    assert f"delivery {row.value.id}" in hook.bodies[0].decode()


def test_message_is_claimed_before_it_is_posted(hook: Hook, desk: Desk) -> None:
    """When another worker is first there is no post at all."""
    (stale,) = desk.ledger.open_messages()
    desk.ledger.record(stale, stale.value)
    desk.ledger.open_messages = lambda: [stale]  # type: ignore[method-assign]
    assert desk.deliver() == ()
    assert hook.bodies == []


def test_claim_lasts_two_minutes(hook: Hook, desk: Desk) -> None:
    """While it is posted the message is claimed in the ledger, for 120 s."""
    original, claims = desk.ledger.record, list[float]()

    def record(row: Row, value: Message, /) -> Row | None:
        claims.append(row.value.claimed_until)
        return original(row, value)

    desk.ledger.record = record  # type: ignore[method-assign]
    desk.deliver()
    assert desk.now + 120 in claims


def test_silence_is_tried_once_more_with_the_same_id(hook: Hook, desk: Desk) -> None:
    """Two posts without an answer end as ambiguous, both with one delivery id."""
    hook.script.extend([Reply(cut=True)] * 2)
    (first,) = desk.deliver()
    desk.now += 60
    (second,) = desk.deliver()
    assert (first.state, second.state) == ("pending", "ambiguous")
    desk.now += 10_000
    assert desk.deliver() == ()
    assert hook.bodies[0] == hook.bodies[1]


def test_most_severe_goes_first_and_the_rest_waits_for_the_budget(
    hook: Hook, session: requests.Session
) -> None:
    """What does not fit in the budget stays as it was."""
    desk = desk_of(hook, session, FIRED, CRITICAL)
    original = desk.ledger.record

    def slow(row: Row, value: Message, /) -> Row | None:
        desk.now += 30
        return original(row, value)

    desk.ledger.record = slow  # type: ignore[method-assign]
    (message,) = desk.deliver(budget=32)
    assert message.events == (CRITICAL,)
    assert len(hook.bodies) == 1


def test_a_channel_gets_one_post_a_second(hook: Hook, session: requests.Session) -> None:
    """Posts to one channel are a second apart; others do not wait for it."""
    messages = (*messages_for([FIRED, CRITICAL], ["ops"]), *messages_for([RESOLVED], ["team"]))
    desk = Desk(MemoryLedger(*messages), {"ops": hook.webhook, "team": hook.webhook}, session)
    assert len(desk.deliver()) == 3
    assert desk.now == 1001.0


def test_throttled_channel_rests_for_the_run(hook: Hook, session: requests.Session) -> None:
    """After a 429 the other messages of that channel are not posted in the same run."""
    hook.script.append(Reply(429))
    desk = desk_of(hook, session, FIRED, CRITICAL)
    (message,) = desk.deliver()
    assert message.state == "pending"
    assert len(hook.bodies) == 1


def test_channel_without_a_webhook_waits(session: requests.Session) -> None:
    """A setting that is missing costs time, not the alert; the error names the channel."""
    desk = Desk(MemoryLedger(*messages_for([FIRED], ["ops"])), {}, session)
    (message,) = desk.deliver()
    assert message.state == "pending"
    assert "'ops'" in message.error
