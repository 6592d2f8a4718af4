"""Bytes, row names and keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.model import Head
from shared.state.codec import pack, unpack
from shared.state.keys import bound, escape, unescape
from shared.state.rows import attempt_id, attempt_of, attempt_time, event_row, fit_row
from shared.state.store import Entity


def test_same_bytes_for_same_value() -> None:
    """The order in which a mapping was filled does not show in the bytes."""
    one, two = Head(watermarks={"a": 1, "b": 2}), Head(watermarks={"b": 2, "a": 1})
    assert pack(one) == pack(two)
    assert unpack(Entity("p", "k", pack(one), ""), Head) == one


def test_attempts_sort_by_time() -> None:
    """Attempt ids read as documented, sort by time and give it back."""
    first, second = attempt_id(1_796_086_500.9, "ff"), attempt_id(1_796_086_501.0, "aa")
    assert first == "20261201T005500-ff"
    assert first < second
    assert attempt_time(first) == 1_796_086_500.0
    assert attempt_of(event_row(first)) == attempt_of(fit_row("a.b", first)) == first


@pytest.mark.parametrize("token", ["", "AB", "a.b", "a/b", "a-b", "ä"])
def test_token_is_plain(token: str) -> None:
    """A token that could not be told from the rest of a row's name is refused."""
    with pytest.raises(ValueError, match="lower-case letters and digits"):
        attempt_id(0, token)


@given(st.text(st.characters(), max_size=40))
def test_keys_round_trip(key: str) -> None:
    """Any text survives as a key, in characters that no client or proxy touches."""
    stored = escape(key)
    assert unescape(stored) == key
    assert stored.isascii()
    assert not set(stored) & set("/\\#?%'\"+& \t\n")
    assert bound(key) == stored


def test_foreign_key_is_shown() -> None:
    """A stored key that was not made by us is shown as well as it can be, not failed on."""
    assert unescape("a~ff~zz") == "a\ufffd~zz"
