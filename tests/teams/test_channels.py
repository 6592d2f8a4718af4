"""Channels side by side: what one of them does costs no other, and nothing is lost."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from threading import Thread

import pytest
import requests
from msgspec.structs import replace

from shared.model import Event, Message
from shared.teams.deliver import deliver
from shared.teams.limit import Limits
from shared.teams.messages import messages_for
from shared.teams.run import Run
from shared.teams.sessions import Sessions
from tests.teams.conftest import Desk, Hook, LostError, MemoryLedger, Reply, hooked
from tests.teams.samples import ACCOUNT, FIRED, LINKS, RESOLVED, storm

GONE = Reply(404, json.dumps({"error": {"code": "WorkflowNotFound"}}))
OFF = Reply(400, json.dumps({"error": {"code": "WorkflowTriggerIsNotEnabled"}}))


def told(hook: Hook) -> list[str]:
    """The notices of the accepted cards."""
    return [card["summary"] for card in hook.cards()]


def test_who_hangs_throttles_or_is_gone_costs_no_other(session: requests.Session) -> None:
    """Three channels in trouble: the two that work have their cards within five seconds, and
    every channel has a session of its own."""
    names = ("hangs", "throttles", "gone", "one", "two")
    events = storm(2)
    with ExitStack() as stack:
        hooks = {name: stack.enter_context(hooked()) for name in names}
        hooks["hangs"].script.append(Reply(delay=8))
        hooks["throttles"].script.append(Reply(429, headers={"Retry-After": "9999"}))
        hooks["gone"].script.append(GONE)
        ledger = MemoryLedger(*messages_for(events, names))
        sessions = Sessions()
        run = Run(
            ledger,
            {name: hook.webhook for name, hook in hooks.items()},
            LINKS,
            sessions,
            time.time,
            LostError,
        )
        began = time.monotonic()
        thread = Thread(target=deliver, args=(run, 7.0))
        thread.start()
        while not all(len(hooks[name].bodies) == 2 for name in ("one", "two")):
            assert time.monotonic() - began < 5
            time.sleep(0.02)
        thread.join()
        assert len({sessions.of(name) for name in names}) == len(names)
        sessions.close()
    assert len(ledger.sent) == 4
    states = {name: sorted(m.state for m in ledger.messages if m.channel == name) for name in names}
    assert states == {
        "hangs": ["pending", "pending"],
        "throttles": ["pending", "pending"],
        "gone": ["failed", "pending"],
        "one": [],
        "two": [],
    }
    assert ledger.remembered["gone"].down_since > 0
    assert ledger.remembered["one"].accepted > 0


def test_an_answer_that_never_ends_is_left_behind(hook: Hook, session: requests.Session) -> None:
    """A byte a second never times out, yet holds the run up no longer than its budget; the message
    stays claimed, and is posted again after that."""
    hook.script.append(Reply(200, "x" * 60, trickle=1.0))
    ledger = MemoryLedger(*messages_for([FIRED], ["ops"]))
    sessions, channels = Sessions(lambda: session), {"ops": hook.webhook}
    run = Run(ledger, channels, LINKS, sessions, lambda: 1000.0, LostError, grace=0.2)
    began = time.monotonic()
    assert deliver(run, 3.1) == ()
    assert time.monotonic() - began < 6
    assert [message.state for message in ledger.messages] == ["claimed"]


def test_trouble_of_the_state_in_one_channel_is_raised_after_all_others(
    hook: Hook, session: requests.Session
) -> None:
    """What one channel raises stops that channel alone, and is not hidden."""
    desk = Desk(
        MemoryLedger(*messages_for([FIRED], ["a", "b"])),
        {"a": hook.webhook, "b": hook.webhook},
        session,
    )
    note = desk.ledger.note

    def broken(name: str, *more: object) -> object:
        if name == "a":
            raise OSError("no room")
        return note(name, *more)  # type: ignore[arg-type]

    desk.ledger.note = broken  # type: ignore[assignment]
    with pytest.raises(OSError, match="no room"):
        desk.deliver()
    assert len(desk.ledger.sent) == 2


def ops_and_backup(hook: Hook, backup: Hook, session: requests.Session, *events: Event) -> Desk:
    ledger = MemoryLedger(*messages_for(events, ["ops"]))
    desk = Desk(ledger, {"ops": hook.webhook, "backup": backup.webhook}, session, now=1.8e9)
    desk.fallbacks = {"ops": "backup"}
    return desk


def test_what_fails_for_good_is_told_in_the_fallback_once(
    hook: Hook, session: requests.Session
) -> None:
    """All that was due comes in the other channel in the next run, with a line that says for
    which; the channel that is gone is asked once a run, not once an alert."""
    hook.script.extend([OFF] * 9)
    with hooked() as backup:
        desk = ops_and_backup(hook, backup, session, *storm(5))
        for _ in range(4):
            desk.deliver()
            desk.now += 60
        cards = backup.cards()
    assert len(hook.bodies) == 1
    assert sorted(m.state for m in desk.ledger.sent.values()) == ["accepted"] * 6 + ["failed"] * 5
    alerts = [card for card in cards if "ChannelDown" not in card["summary"]]
    assert len(alerts) == 5
    assert len(cards) == 6
    assert all("For the channel ops, which does not take it." in json.dumps(c) for c in alerts)
    assert desk.ledger.messages == []
    for failed in (m for m in desk.ledger.sent.values() if m.state == "failed"):
        assert desk.ledger.sent[failed.digest_id].events == failed.events


def test_a_fallback_that_was_told_anyway_is_not_told_again(
    hook: Hook, session: requests.Session
) -> None:
    """The same events in the fallback make the same message."""
    hook.script.append(GONE)
    with hooked() as backup:
        desk = ops_and_backup(hook, backup, session, FIRED)
        desk.ledger.add_messages(messages_for([FIRED], ["backup"]))
        for _ in range(3):
            desk.deliver()
            desk.now += 60
        assert sum("TTLTRising" in card and "ChannelDown" not in card for card in told(backup)) == 1


def test_fallbacks_of_fallbacks_end(hook: Hook, session: requests.Session) -> None:
    """No channel is asked twice for the same, in whatever circle they are set up; what nobody
    takes stays visible as failed."""
    hook.script.extend([GONE] * 99)
    with hooked() as backup:
        backup.script.extend([GONE] * 99)
        desk = ops_and_backup(hook, backup, session, FIRED)
        desk.fallbacks["backup"] = "ops"
        for _ in range(8):
            desk.deliver()
            desk.now += 60
    failed = [m for m in desk.ledger.messages if m.events == (FIRED,)]
    assert [(m.channel, m.state, m.meant_for) for m in failed] == [("backup", "failed", ("ops",))]


def test_a_crash_right_after_a_failure_still_tells_the_others(
    hook: Hook, session: requests.Session
) -> None:
    """Who is to hear of a failure is read from what is kept, not from memory."""
    failed = replace(
        messages_for([FIRED], ["ops"])[0], state="failed", ended=1.8e9, error="the flow is off"
    )
    desk = Desk(
        MemoryLedger(failed), {"ops": hook.webhook, "team": hook.webhook}, session, now=1.8e9
    )
    (notice,) = desk.deliver()
    assert (notice.channel, notice.events[0].rule) == ("team", "ChannelDown")
    desk.now += 60
    assert desk.deliver() == ()
    desk.now += 90_000
    assert desk.deliver() == ()


# The limit of an hour


def small(most: int) -> Limits:
    return Limits(ordinary=most, critical=most + 1, most=most + 2, apart=60.0)


def test_what_is_beyond_the_hour_is_told_in_one_digest(
    hook: Hook, session: requests.Session
) -> None:
    """Three of ten as cards of their own, the others in one that counts them: each exactly once."""
    desk = Desk(
        MemoryLedger(*messages_for(storm(10), ["ops"])), {"ops": hook.webhook}, session, now=1.8e9
    )
    desk.limits = small(3)
    done = desk.deliver()
    assert [len(message.events) for message in done] == [7, 1, 1, 1]
    assert "7 alerts in one card" in told(hook)[0]
    assert sorted(e.id for m in done for e in m.events) == sorted(e.id for e in storm(10))
    assert desk.ledger.messages == []
    folded = [m for m in desk.ledger.sent.values() if m.state == "folded"]
    assert len(folded) == 7
    assert {m.digest_id for m in folded} == {done[0].id}


def test_posts_of_an_hour_are_limited_and_some_are_kept_for_critical_ones(
    hook: Hook, session: requests.Session
) -> None:
    """A channel that had its ordinary posts still takes a critical card, and a digest after the
    next minute; after the hour all is as before."""
    desk = Desk(MemoryLedger(), {"ops": hook.webhook}, session, now=1.8e9)
    desk.limits = Limits(ordinary=2, critical=3, most=4, apart=60.0)
    warnings = storm(8)
    critical = [replace(e, id=f"c{e.id}", severity="critical") for e in storm(2)]
    desk.ledger.add_messages(messages_for(warnings[:2], ["ops"]))
    assert len(desk.deliver()) == 2
    desk.ledger.add_messages(messages_for([*warnings[2:4], critical[0]], ["ops"]))
    first = desk.deliver()
    assert [(m.events[0].severity, len(m.events)) for m in first] == [
        ("critical", 1),
        ("warning", 2),
    ]
    desk.ledger.add_messages(messages_for([*warnings[4:6], critical[1]], ["ops"]))
    desk.now += 120
    assert desk.deliver() == ()
    assert len(hook.bodies) == 4
    desk.now += 3600
    assert sum(len(m.events) for m in desk.deliver()) == 3


def test_an_attempt_that_reached_nobody_does_not_count(session: requests.Session) -> None:
    """No connection, no post: the hour is not used up by a network that is down."""
    with hooked() as gone:
        webhook = gone.webhook
    desk = Desk(MemoryLedger(*messages_for([FIRED], ["ops"])), {"ops": webhook}, session)
    desk.deliver()
    assert desk.ledger.remembered["ops"].posts == ()


def test_both_posts_of_a_card_that_was_too_large_count(
    hook: Hook, session: requests.Session
) -> None:
    """The short card is a post as well."""
    hook.script.append(Reply(413))
    desk = Desk(MemoryLedger(*messages_for([FIRED], ["ops"])), {"ops": hook.webhook}, session)
    desk.deliver()
    assert len(desk.ledger.remembered["ops"].posts) == 2


# Digests of what is held


def held(*events: Event, until: float, kind: str = "quiet") -> list[Message]:
    return [replace(m, digest=kind, next_try=until) for m in messages_for(events, ["ops"])]


def test_what_is_held_is_told_in_one_digest_when_its_time_has_come(
    hook: Hook, session: requests.Session
) -> None:
    """Nothing before; then one card for all of its kind, and another for the other kind."""
    quiet, daily = storm(6)[:3], storm(6)[3:]
    messages = [*held(*quiet, until=2e9), *held(*daily, until=2e9, kind="daily")]
    desk = Desk(MemoryLedger(*messages), {"ops": hook.webhook}, session, now=2e9 - 1)
    assert desk.deliver() == ()
    desk.now = 2e9
    done = desk.deliver()
    assert sorted((m.digest, len(m.events)) for m in done) == [("daily", 3), ("quiet", 3)]
    texts = json.dumps(hook.cards())
    assert "What came in the quiet hours." in texts
    assert "What was only observed" in texts


def test_one_that_was_held_alone_is_told_as_it_would_have_been(
    hook: Hook, session: requests.Session
) -> None:
    """A digest of one is its card; only what is merely observed says so even then."""
    desk = Desk(MemoryLedger(*held(FIRED, until=1.0)), {"ops": hook.webhook}, session)
    (message,) = desk.deliver()
    assert message.events == (FIRED,)
    assert "firing · TTLTRisingWithoutTokens on gpt-4o-prod" in told(hook)[0]
    other = Desk(MemoryLedger(*held(FIRED, until=1.0, kind="daily")), desk.channels, session)
    other.deliver()
    assert "1 alert in one card" in told(hook)[1]


def test_an_end_waits_for_a_beginning_that_is_held(hook: Hook, session: requests.Session) -> None:
    """Nobody hears of the end of what they are told of in the morning."""
    messages = [*held(FIRED, until=5000.0), *messages_for([RESOLVED], ["ops"])]
    desk = Desk(MemoryLedger(*messages), {"ops": hook.webhook}, session)
    assert desk.deliver() == ()
    desk.now = 5000.0
    assert [m.events[0].kind for m in desk.deliver()] == ["fired", "resolved"]


# Foldings that were cut short


def folded(*events: Event, digest: str = "d1", until: float = 0.0) -> list[Message]:
    return [
        replace(m, state="folded", digest_id=digest, claimed_until=until)
        for m in messages_for(events, ["ops"])
    ]


def test_members_without_their_digest_are_taken_up_after_their_lease(
    hook: Hook, session: requests.Session
) -> None:
    """A worker died after it took the members: the digest is made of all of them, once."""
    desk = Desk(MemoryLedger(*folded(*storm(4), until=1100.0)), {"ops": hook.webhook}, session)
    assert desk.deliver() == ()
    desk.now = 1100.0
    (digest,) = desk.deliver()
    assert (digest.id, len(digest.events)) == ("d1", 4)
    assert desk.ledger.messages == []


def test_members_of_a_digest_that_stands_are_finished(
    hook: Hook, session: requests.Session
) -> None:
    """A worker died after it added the digest, or even after it posted it: no member is told
    again."""
    first, *rest = folded(*storm(3))
    events = tuple(e for m in (first, *rest) for e in m.events)
    digest = Message("d1", "ops", events, digest="storm", digest_id="d1")
    for sent in (False, True):
        ledger = MemoryLedger(first, *rest)
        if sent:
            ledger.finish([replace(digest, state="accepted")])
        else:
            ledger.add_messages([digest])
        desk = Desk(ledger, {"ops": hook.webhook}, session)
        assert len(desk.deliver()) == (0 if sent else 1)
        assert (desk.ledger.messages, len(desk.ledger.sent)) == ([], 4)


def test_a_member_that_is_not_in_its_digest_goes_back(
    hook: Hook, session: requests.Session
) -> None:
    """A worker that slept folded one more into a digest that another had made meanwhile."""
    inside, late = folded(*storm(2))
    digest = Message("d1", "ops", inside.events, digest="storm", digest_id="d1", state="accepted")
    ledger = MemoryLedger(inside, late)
    ledger.finish([digest])
    desk = Desk(ledger, {"ops": hook.webhook}, session)
    (message,) = desk.deliver()
    assert message.events == late.events
    assert message.id == late.id


def test_what_was_perhaps_posted_is_never_folded(hook: Hook, session: requests.Session) -> None:
    """It is told once more as it is, with its delivery id, so that a double can be recognised."""
    died, unsure, *others = messages_for(storm(6), ["ops"])
    died = replace(died, state="claimed", claimed_until=900.0)
    unsure = replace(unsure, error="perhaps posted already: no answer", attempts=1)
    desk = Desk(MemoryLedger(died, unsure, *others), {"ops": hook.webhook}, session)
    desk.limits = Limits(ordinary=0, critical=1, most=2, apart=60.0)
    (digest,) = desk.deliver()
    assert len(digest.events) == 4
    assert {m.id for m in desk.ledger.messages} == {died.id, unsure.id}
    assert ACCOUNT in digest.events[0].deployment.account
