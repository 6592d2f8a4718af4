"""What is remembered of channels, and foldings, over both stores."""

from __future__ import annotations

import logging

import pytest
from msgspec.structs import replace as but

from shared.model import Channel, Message
from shared.state.channels import CHANNELS
from shared.state.ledger import Ledger
from tests.state.conftest import OpenStore


def message(name: str) -> Message:
    return Message(id=name, channel="ops", events=())


def posted(channel: Channel) -> Channel:
    return but(channel, posts=(*channel.posts, 1.0))


def test_a_channel_is_remembered(ledger: Ledger) -> None:
    """The first note makes the row, the next change it; each channel has its own."""
    assert ledger.channels() == {}
    ledger.note("ops", posted)
    assert ledger.note("ops", posted) == Channel(posts=(1.0, 1.0))
    ledger.note("team", posted)
    assert ledger.channels() == {"ops": Channel(posts=(1.0, 1.0)), "team": Channel(posts=(1.0,))}


def test_two_workers_who_note_at_once_are_both_counted(another: OpenStore) -> None:
    """A note that came in between is read, and the change made on top of it."""
    one, two = Ledger(another()), Ledger(another())
    one.note("ops", posted)
    came: list[int] = []

    def late(channel: Channel) -> Channel:
        if not came:
            came.append(1)
            two.note("ops", posted)
        return posted(channel)

    assert len(one.note("ops", late).posts) == 3
    assert len(one.channels()["ops"].posts) == 3


def test_a_note_that_changes_nothing_writes_nothing(ledger: Ledger) -> None:
    """The row keeps its ETag."""
    ledger.note("ops", posted)
    before = ledger.store.read(CHANNELS, "ops")
    ledger.note("ops", lambda channel: channel)
    assert ledger.store.read(CHANNELS, "ops") == before


def test_a_row_that_cannot_be_read_stops_no_post(
    ledger: Ledger, caplog: pytest.LogCaptureFixture
) -> None:
    """It is named in the log and left as it is."""
    ledger.store.write(CHANNELS, {"ops": b"\x01"})
    with caplog.at_level(logging.ERROR, "tokenwatch"):
        assert ledger.channels() == {}
        assert ledger.note("ops", posted) == Channel(posts=(1.0,))
    entity = ledger.store.read(CHANNELS, "ops")
    assert entity is not None
    assert entity.value == b"\x01"
    assert "row ops of partition channels cannot be read" in caplog.text


def test_folding_takes_what_no_other_took(another: OpenStore) -> None:
    """Of twelve messages one was claimed meanwhile and one is finished: ten are taken."""
    one, two = Ledger(another()), Ledger(another())
    one.add_messages(message(f"m{n:02}") for n in range(12))
    seen = one.open_messages()
    two.claim(two.open_messages()[0], until=5.0)
    two.store.write("sent", {"m01": b"x"})
    taken = one.fold(seen, "d1", 100.0)
    assert [t.value.id for t in taken] == [f"m{n:02}" for n in range(2, 12)]
    assert {(t.value.state, t.value.digest_id, t.value.claimed_until) for t in taken} == {
        ("folded", "d1", 100.0)
    }
    one.finish(t.value for t in taken)
    assert [m.value.id for m in one.open_messages()] == ["m00"]
    found = one.find("m05")
    assert found is not None
    assert (found.state, found.digest_id) == ("folded", "d1")


def test_a_message_is_found_wherever_it_is(ledger: Ledger) -> None:
    """Open or finished; None for one that never was."""
    ledger.add_messages([message("open"), message("done")])
    ledger.finish([but(message("done"), state="accepted")])
    assert [getattr(ledger.find(name), "state", None) for name in ("open", "done", "none")] == [
        "pending",
        "accepted",
        None,
    ]


def test_adding_says_what_was_added(ledger: Ledger) -> None:
    """Those that are open or finished already are left out."""
    ledger.add_messages([message("a")])
    ledger.finish([message("b")])
    assert [m.value.id for m in ledger.add_messages(map(message, "abc"))] == ["c"]
