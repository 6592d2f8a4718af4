"""What becomes of messages, over both stores."""

from __future__ import annotations

import logging
from typing import get_args

import pytest
from msgspec.structs import replace as but

from shared.model import Message, MessageState
from shared.state.ledger import Ledger, Lost
from shared.state.outbox import FINISHED, MESSAGES, SENT
from tests.state.conftest import OpenStore


def message(name: str = "m1") -> Message:
    return Message(id=name, channel="ops", events=())


def test_a_message_runs_its_course(ledger: Ledger) -> None:
    """A message is added, claimed, recorded, and then no longer open."""
    ledger.add_messages([message("m2"), message("m1")])
    first, second = ledger.open_messages()
    assert (first.value, second.value) == (message("m1"), message("m2"))
    claimed = ledger.claim(first, until=100.0)
    assert claimed.value == but(message("m1"), state="claimed", claimed_until=100.0)
    assert ledger.open_messages()[0] == claimed
    ledger.record(claimed, but(claimed.value, state="accepted"))
    assert [found.value.id for found in ledger.open_messages()] == ["m2"]


@pytest.mark.parametrize("state", get_args(MessageState))
def test_open_until_finished(ledger: Ledger, state: MessageState) -> None:
    """Accepted and delivered messages are finished; all others stay where they are seen."""
    ledger.add_messages([message()])
    claimed = ledger.claim(ledger.open_messages()[0], until=1.0)
    after = but(claimed.value, state=state, attempts=1, error="503")
    ledger.record(claimed, after)
    is_open = [found.value for found in ledger.open_messages()] == [after]
    assert is_open == (state not in FINISHED)
    assert len(ledger.store.keys(SENT)) == (not is_open)


def test_added_twice(ledger: Ledger) -> None:
    """Adding a message again leaves the open one as it is, claim included."""
    ledger.add_messages([message()])
    claimed = ledger.claim(ledger.open_messages()[0], until=1.0)
    ledger.add_messages([message(), message()])
    assert ledger.open_messages() == [claimed]


def test_added_after_it_finished(ledger: Ledger) -> None:
    """Adding a finished message again does not open it."""
    ledger.add_messages([message()])
    claimed = ledger.claim(ledger.open_messages()[0], until=1.0)
    ledger.record(claimed, but(claimed.value, state="delivered"))
    ledger.add_messages([message()])
    assert ledger.open_messages() == []


def test_one_claim_wins(another: OpenStore) -> None:
    """Of two workers who claim at once, with the same words, one is told Lost."""
    one, two = Ledger(another()), Ledger(another())
    one.add_messages([message()])
    seen = two.open_messages()[0]
    one.claim(one.open_messages()[0], until=1.0)
    with pytest.raises(Lost, match="another worker took message m1 first"):
        two.claim(seen, until=1.0)


def test_overtaken_claim_cannot_reopen(another: OpenStore) -> None:
    """A worker whose claim ran out cannot put a message back that another has claimed."""
    one, two = Ledger(another()), Ledger(another())
    one.add_messages([message()])
    mine = one.claim(one.open_messages()[0], until=1.0)
    two.claim(two.open_messages()[0], until=2.0)
    with pytest.raises(Lost):
        one.record(mine, but(mine.value, state="pending"))


def test_sent_but_still_open(ledger: Ledger) -> None:
    """A crash between the two writes of a finish, or a late add, does not post it again."""
    ledger.store.write(SENT, {"m1": b"finished"})
    ledger.store.write(MESSAGES, {"m1": b""})
    ledger.store.delete(MESSAGES, ["m1"])
    ledger.add_messages([message()])
    assert ledger.open_messages() == []
    ledger.store.delete(SENT, ["m1"])
    ledger.add_messages([message()])
    ledger.store.write(SENT, {"m1": b"finished"})
    with pytest.raises(Lost, match="was finished by another worker"):
        ledger.claim(ledger.open_messages()[0], until=1.0)
    assert ledger.open_messages() == []


def test_open_is_found_among_many_sent(ledger: Ledger) -> None:
    """Finished messages lie in a partition of their own, so the query for open ones skips them."""
    ledger.store.write(SENT, {f"s{number}": b"" for number in range(300)})
    ledger.add_messages([message()])
    assert ledger.store.keys(MESSAGES) == ["m1"]
    assert [found.value for found in ledger.open_messages()] == [message()]


def test_corrupt_message_is_named(ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    """A message that cannot be read is logged as an error and holds up no other."""
    ledger.add_messages([message()])
    ledger.store.write(MESSAGES, {"bad": b"\x01"})
    with caplog.at_level(logging.ERROR, "tokenwatch"):
        assert [found.value.id for found in ledger.open_messages()] == ["m1"]
    assert "row bad of partition messages cannot be read" in caplog.text
