"""Text that is not ours, made safe."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.teams.escape import HAIR, JOINER, clean, cut, escape, one_line

STAR = JOINER + HAIR + "*" + HAIR + JOINER


@pytest.mark.parametrize("mark", list("*_[]~#>`"))
def test_t10_each_markdown_character_is_parted_from_its_meaning(mark: str) -> None:
    """A joiner, not a backslash, stands before every character of Markdown."""
    assert escape(f"a{mark}b") == f"a{JOINER}{mark}b"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a<b", f"a{JOINER}<{JOINER}b"),
        ("a < b", f"a {JOINER}< b"),
        ("[a](b)", f"{JOINER}[a{JOINER}]{JOINER}(b)"),
        ("chat-*", f"chat-{STAR}"),
        ("a*b*c", f"a{STAR}b{STAR}c"),
    ],
)
def test_t10_links_tags_and_stars_are_taken_apart(text: str, escaped: str) -> None:
    """Where a joiner before the mark is not enough, one after it or hair spaces part it too."""
    assert escape(text) == escaped


def test_t10_name_is_shown_literally() -> None:
    """`my_gpt*x` keeps all its characters and gets no backslash."""
    escaped = escape("my_gpt*x")
    assert escaped.replace(JOINER, "") == "my_gpt*x"
    assert "\\" not in escaped


@pytest.mark.parametrize("text", ["- item", "+ item", "1. item", "&lt;at&gt;", "{{DATE(x)}}"])
def test_lists_entities_and_text_functions_stay_text(text: str) -> None:
    """Marks that mean something only in their place are parted as well."""
    assert JOINER in escape(text)
    assert escape(text).replace(JOINER, "") == text


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028"])
def test_t11_new_line_becomes_two_lines(end: str) -> None:
    """Every kind of line end starts a new line in the card."""
    assert escape(f"one{end}two") == "one\n\ntwo"


@pytest.mark.parametrize("text", ["<at>Bob</at>", "<AT>Bob</At>", "<<at>at>Bob<</at>/at>"])
def test_t15_mention_is_stripped(text: str) -> None:
    """A mention without its entity would blank the card, so its tags go."""
    assert clean(text) == "Bob"


@given(st.text())
def test_escaped_text_holds_nothing_that_means_something(text: str) -> None:
    """Whatever the text: no mention, no control character, no mark without its joiner."""
    escaped = escape(text)
    assert "<at" not in escaped.lower()
    assert not re.search(rf"(?<!{JOINER})(?<!{HAIR})[*_\[\]~<#>`\\]", escaped)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", escaped)
    escaped.encode()


@given(st.text(alphabet=st.characters(categories=["L", "Cs", "Cc"])))
def test_surrogates_and_controls_can_be_encoded(text: str) -> None:
    """Half surrogates, which no UTF-8 can hold, are removed."""
    clean(text).encode()


def test_cut_ends_with_an_ellipsis() -> None:
    """A cut text is no longer than asked; a short one is left alone."""
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"


def test_one_line_joins_lines() -> None:
    """Notices have one line."""
    assert one_line(" a\n\tb\r\nc ") == "a b c"
