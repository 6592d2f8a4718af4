"""Makes text that is not ours safe to stand in a card: shown as it is, whatever it holds. Pure."""

from __future__ import annotations

import re

JOINER = "\u034f"
"""Drawn by nothing, yet it parts a character from its Markdown meaning. A backslash would show on
phones."""
HAIR = "\u200a"
"""The thinnest space: a star between spaces means nothing, which joiners alone do not achieve."""
ELLIPSIS = "…"

_NEW_LINES = re.compile("\r\n?|\u0085|\u2028|\u2029")
# Controls, half surrogates (no UTF-8 can hold them) and marks that turn the direction of writing.
_UNWANTED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
_MENTION = re.compile(r"</?at>|</?at", re.IGNORECASE)
# Besides the characters of Markdown: what makes a link of `[a](b)` and `<http:b>`, list marks at
# the start of a line, entities (`&lt;`) and the `{{` of text functions, which clients replace.
_MARKS = re.compile(
    r"[*_\[\]~<#>`\\]|(?<=\])\(|(?<=<)(?=[a-z/!?])|(?<=&)(?=[#a-z])|(?<=\{)\{|^(?=[-+] )"
    r"|(?<=\d)(?=[.)] )",
    re.IGNORECASE | re.MULTILINE,
)
_STAR = JOINER + HAIR + "*" + HAIR + JOINER
_LONE_STAR = re.compile(r"[^*]*\w\*\w[^*]*")
"""As in `a*b`: nothing to pair with, and too much inside a word to end what is ours."""


def clean(text: str) -> str:
    """The text without control characters and mentions; every new line is one `\\n`."""
    text = _UNWANTED.sub("", _NEW_LINES.sub("\n", text).replace("\t", " "))
    while _MENTION.search(text):  # what is left of `<<atat` is a mention again
        text = _MENTION.sub("", text)
    return text.strip()


def escape(text: str) -> str:
    """The text for a TextBlock or a fact: shown literally, new lines kept."""
    text = clean(text)
    marked = _MARKS.sub(lambda mark: JOINER + mark[0], text)
    if not _LONE_STAR.fullmatch(text):
        marked = marked.replace(JOINER + "*", _STAR)
    return marked.replace("\n", "\n\n")


def one_line(text: str) -> str:
    """The text for a heading or a notice, without escapes."""
    return " ".join(clean(text).split())


def cut(text: str, most: int) -> str:
    """The text, or its beginning and an ellipsis: at most so many characters."""
    return text if len(text) <= most else text[: most - 1].rstrip() + ELLIPSIS


def capital(text: str) -> str:
    """The text as a title: its first letter large, the others as they are."""
    return text[:1].upper() + text[1:]
