"""What the ledger promises, over both stores."""

from __future__ import annotations

import logging

import pytest
from msgspec.structs import replace as but

from shared.model import Change, Deployment, Event, Fit, Head, Muted
from shared.state.codec import FORMAT, CorruptState, NewerState, pack
from shared.state.ledger import (
    Ledger,
    Lost,
    OlderBuild,
    StateError,
    attempt_id,
    event_row,
    fit_row,
    home,
)
from tests.state.conftest import OpenStore

SHARD = "11111111-0000-0000-0000-000000000000.swedencentral"
NOW = 1_796_086_500.0
FIRST, SECOND = attempt_id(NOW, "aaaaaa"), attempt_id(NOW + 60, "bbbbbb")
DEPLOYMENT = Deployment("/subscriptions/s/accounts/one", "gpt")


def event(name: str) -> Event:
    return Event(
        id=name,
        episode="e",
        kind="fired",
        sequence=0,
        slot=5,
        since=5,
        rule="R",
        severity="warning",
        owner="o",
        runbook="r.md",
        deployment=DEPLOYMENT,
        region="swedencentral",
        summary="größer",
    )


def fit(signal: str) -> Fit:
    return Fit("level", signal, "", DEPLOYMENT, slot=5, start=1, samples=9, level=1.5)


def test_commit_and_read(ledger: Ledger) -> None:
    """A committed head and the rows that it names are read back whole."""
    rows = {
        event_row(FIRST): pack((event("1"), event("2"))),
        fit_row(3, FIRST): pack((fit("ttlt"),)),
        fit_row(12, FIRST): pack((fit("requests"),)),
    }
    head = Head(
        build=7,
        attempt=FIRST,
        watermarks={"a": 5},
        events=(event_row(FIRST),),
        fits={"3": fit_row(3, FIRST), "12": fit_row(12, FIRST)},
    )
    committed = ledger.commit(SHARD, None, head, rows)
    heads, corrupt = ledger.heads()
    assert heads == {SHARD: committed}
    assert corrupt == {}
    assert ledger.events(SHARD, head.events) == (event("1"), event("2"))
    assert ledger.fits(SHARD, head.fits.values()) == (fit("ttlt"), fit("requests"))
    assert ledger.events(SHARD, ()) == ()


def test_nothing_yet(ledger: Ledger) -> None:
    """A new store has no heads, changes or messages."""
    assert ledger.heads() == ({}, {})
    assert ledger.changes() == ()
    assert ledger.open_messages() == []


def test_second_worker_loses(another: OpenStore) -> None:
    """Of two workers from one head the second is told Lost, and the first one's head stays."""
    one, two = Ledger(another()), Ledger(another())
    prior = one.commit(SHARD, None, Head(attempt=FIRST), {})
    winner = one.commit(SHARD, prior, Head(attempt=SECOND, watermarks={"a": 2}), {})
    late = attempt_id(NOW + 61, "cccccc")
    with pytest.raises(Lost, match="another worker committed shard"):
        two.commit(SHARD, prior, Head(attempt=late), {event_row(late): pack((event("x"),))})
    assert two.heads()[0] == {SHARD: winner}
    with pytest.raises(Lost):
        two.commit(SHARD, None, Head(attempt=late), {})


def test_older_build_writes_nothing(ledger: Ledger) -> None:
    """An older rulebook may not commit, and is told so before it has written a row."""
    prior = ledger.commit(SHARD, None, Head(build=7, attempt=FIRST), {})
    rows = {event_row(SECOND): pack((event("x"),))}
    with pytest.raises(OlderBuild, match="build 7 of the rulebook, and this is build 6: deploy"):
        ledger.commit(SHARD, prior, Head(build=6, attempt=SECOND), rows)
    assert ledger.store.keys(home(SHARD)) == []
    ledger.commit(SHARD, prior, Head(build=7, attempt=SECOND), rows)


def test_rows_carry_the_attempt(ledger: Ledger) -> None:
    """Rows named after another attempt than the head's are refused: a sweep could not date them."""
    with pytest.raises(ValueError, match="rows of another attempt"):
        ledger.commit(SHARD, None, Head(attempt=FIRST), {event_row(SECOND): b""})


def test_corrupt_head_stops_one_shard_only(ledger: Ledger) -> None:
    """A head that cannot be read is reported for its shard, left as it is, and stops no other."""
    good = ledger.commit("a.b", None, Head(attempt=FIRST), {})
    values = {
        "empty": b"",
        "garbage": b"\x01garbage",
        "cut": pack(Head())[:-3],
        "type": pack([1, 2]),
        "zero": b"\0" + pack(Head())[1:],
        "newer": bytes([FORMAT + 1]) + pack(Head())[1:],
    }
    ledger.store.write("heads", values)
    heads, corrupt = ledger.heads()
    assert heads == {"a.b": good}
    assert sorted(corrupt) == sorted(values)
    for shard, error in corrupt.items():
        assert f"row {shard} of partition heads cannot be read" in str(error)
        assert "It was left as it is" in str(error)
        entity = ledger.store.read("heads", shard)
        assert entity is not None
        assert entity.value == values[shard]
    assert "`tokenwatch state delete heads cut`" in str(corrupt["cut"])
    assert isinstance(corrupt["newer"], NewerState)
    assert "written by a newer release" in str(corrupt["newer"])
    assert "delete" not in str(corrupt["newer"])


def test_missing_row_is_an_error(ledger: Ledger) -> None:
    """A row that a head names but that is missing is an error that names it."""
    rows = {fit_row(1, FIRST): pack((fit("ttlt"),))}
    ledger.commit(SHARD, None, Head(attempt=FIRST), rows)
    with pytest.raises(CorruptState, match="names it, but it is missing") as caught:
        ledger.fits(SHARD, [fit_row(1, FIRST), fit_row(2, FIRST)])
    assert caught.value.key == fit_row(2, FIRST)
    assert f"tokenwatch state delete heads {SHARD}" in str(caught.value)


def test_corrupt_row_is_an_error(ledger: Ledger) -> None:
    """A named row that cannot be read is an error, and stays as it is."""
    ledger.store.write(home(SHARD), {event_row(FIRST): b"\x01x"})
    with pytest.raises(CorruptState, match=f"row event.{FIRST} of partition shard"):
        ledger.events(SHARD, [event_row(FIRST)])
    assert ledger.store.keys(home(SHARD)) == [event_row(FIRST)]


def test_sweep_spares_named_and_fresh(ledger: Ledger) -> None:
    """A sweep deletes what is old and unnamed; named, fresh and foreign rows stay."""
    old = attempt_id(NOW - 7200, "old")
    fresh = attempt_id(NOW - 60, "fresh")
    named, stale = fit_row(1, old), [fit_row(2, old), event_row(old)]
    stays = [named, event_row(fresh), "a note", "event.20261301T005500-bad", "x.y"]
    ledger.store.write(home(SHARD), dict.fromkeys([*stays, *stale], b""))
    ledger.store.write(home("other.region"), dict.fromkeys(stale, b""))
    head = Head(attempt=SECOND, fits={"1": named})
    assert ledger.sweep(SHARD, head, NOW, 3600) == 2
    assert sorted(ledger.store.keys(home(SHARD))) == sorted(stays)
    assert sorted(ledger.store.keys(home("other.region"))) == sorted(stale)
    assert ledger.sweep(SHARD, head, NOW, 3600) == 0


def test_concurrent_attempt_survives_a_sweep(another: OpenStore) -> None:
    """Rows that one worker has written but not named yet survive another's commit and sweep."""
    one, two = Ledger(another()), Ledger(another())
    row = event_row(SECOND)
    one.store.write(home(SHARD), {row: pack((event("1"),))})
    swept = two.commit(SHARD, None, Head(attempt=FIRST), {})
    two.sweep(SHARD, swept.value, NOW + 70, 600)
    one.commit(SHARD, swept, Head(attempt=SECOND, events=(row,)), {})
    assert one.events(SHARD, [row]) == (event("1"),)


def test_changes_once_and_in_order(ledger: Ledger) -> None:
    """A change recorded twice is one change, and changes come by slot."""
    late = Change("prompt_template", 29_934_775, "one/gpt", "v2", recorded=29_934_775)
    early = Change("capacity", 999, "*", "100 PTU's /#?")
    assert ledger.record_change(late)
    assert ledger.record_change(early)
    assert not ledger.record_change(but(late, deployment="One/GPT", recorded=29_934_999))
    assert ledger.record_change(but(late, reference="v3"))
    changes = ledger.changes()
    assert changes[0] == early
    assert {change.reference for change in changes[1:]} == {"v2", "v3"}
    assert late in changes
    assert [change.kind for change in ledger.changes(since=1000)] == ["prompt_template"] * 2


def test_silences_come_by_their_end_and_can_be_lifted(ledger: Ledger) -> None:
    """Those that end in time are read; one that is lifted ends then, and is still there once."""
    late = Muted("a1", "load /#? test", "o'ps", 29_934_000, 29_934_775, ("Latency*",))
    early = Muted("b2", "x", "y", 10, 999)
    ledger.silence(late)
    ledger.silence(early)
    assert [one.value for one in ledger.silences()] == [early, late]
    (found,) = ledger.silences(since=1000)
    ledger.lift(found, 29_934_100)
    assert [one.value for one in ledger.silences(since=1000)] == [but(late, end=29_934_100)]


def test_corrupt_change_is_named(ledger: Ledger, caplog: pytest.LogCaptureFixture) -> None:
    """A change that cannot be read is logged as an error, and the others still count."""
    good = Change("capacity", 999, "*", "x")
    ledger.record_change(good)
    ledger.store.write("changes", {"000000001000.bad": b"\x01"})
    with caplog.at_level(logging.ERROR, "tokenwatch"):
        assert ledger.changes() == (good,)
    assert "row 000000001000.bad of partition changes cannot be read" in caplog.text


def test_errors_have_one_base() -> None:
    """Whoever catches StateError catches all that state raises."""
    assert issubclass(Lost, StateError)
    assert issubclass(OlderBuild, StateError)
    assert issubclass(CorruptState, StateError)
