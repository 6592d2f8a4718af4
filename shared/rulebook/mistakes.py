"""What people write by habit where the language has another word: the cure for syntax errors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lark import UnexpectedInput
from lark.exceptions import UnexpectedToken

from shared.rulebook.literals import LOOSE, respelled
from shared.rulebook.problems import ExpressionError
from shared.rulebook.words import KEYWORDS

_SIGNS = {
    "&&": "and", "||": "or", "&": "and", "|": "or", "!": "not",
    "=": "==", "===": "==", "!==": "!=", "<>": "!=", "=>": ">=", "=<": "<=",
    "≥": ">=", "≤": "<=", "≠": "!=", "×": "*", "·": "*", "÷": "/", "−": "-", "–": "-",
}  # fmt: skip
_SIGN = re.compile("!==|===|=>|=<|<>|&&|[|][|]|(?<![=!<>])=(?!=)|!(?!=)|[&|≥≤≠×·÷−–]")
_WORD = re.compile(rf"\b(?:{'|'.join(sorted(KEYWORDS))})\b", re.IGNORECASE)
_CURES = (
    ("“”„‘’‚«»\"'", "Leave the quotes out: names and numbers stand by themselves."),
    ("{}[]", "Leave it out; parts are held together by ( and )."),
    ("$@`\\", "Leave it out: names stand by themselves."),
    (":", "Leave the format out: values are shown with their unit."),
    ("^", "There are no powers: multiply."),
    (";", "Join two conditions with `and` or `or`."),
)
_EXAMPLE = "Write it like ttlt > 10s and requests >= 5."


def syntax_error(text: str, error: UnexpectedInput) -> ExpressionError:
    """What is wrong with a text that is no expression, where, and what to write instead."""
    at = _position(text, error)
    written = _written(text, at)
    for begin, wrong, right in written:
        cure = f"Write {right} instead of {wrong}."
        return ExpressionError(f"{wrong!r} is not expected here", cure, begin + 1)
    if at >= len(text):
        return ExpressionError("the expression ends too early", _unfinished(text), len(text) + 1)
    keyword = re.search(rf"\b({'|'.join(sorted(KEYWORDS))})\s+$", text[:at])
    if keyword:
        message = f"{keyword[1]} is a keyword and stands where a value should"
        return ExpressionError(message, f"Write a value before {keyword[1]}.", keyword.start() + 1)
    found = str(getattr(error, "token", "")) or text[at]
    return ExpressionError(f"{found!r} is not expected here", _cure(text, at, error), at + 1)


def _position(text: str, error: UnexpectedInput) -> int:
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        return len(text)
    at = error.pos_in_stream
    return len(text) if at is None or at < 0 else at


def _written(text: str, at: int) -> Iterator[tuple[int, str, str]]:
    """Where the text stumbles over one of the known mistakes: its place, itself, its cure."""
    for match in _SIGN.finditer(text):
        if match.start() <= at < match.end():
            yield match.start(), match[0], _SIGNS[match[0]]
    for match in _WORD.finditer(text):
        if match[0] not in KEYWORDS and match.start() <= at <= match.end() + _gap(text, match):
            yield match.start(), match[0], match[0].lower()
    for match in LOOSE.finditer(text):
        meant = respelled(match[0])
        if match.start() <= at < match.end() and meant not in ("", match[0].strip()):
            yield match.start(), match[0].strip(), meant


def _gap(text: str, match: re.Match[str]) -> int:
    rest = text[match.end() :]
    return len(rest) - len(rest.lstrip())


def _unfinished(text: str) -> str:
    if text.count("(") > text.count(")"):
        return "Close the parenthesis."
    return "Write what comes after it." if text.strip() else _EXAMPLE


def _cure(text: str, at: int, error: UnexpectedInput) -> str:
    sign = text[at]
    for signs, cure in _CURES:
        if sign in signs:
            return cure
    if sign.isspace() or not sign.isprintable():
        return "An unusual blank stands there: write a plain one."
    if sign == ")" and text[:at].count("(") <= text[:at].count(")"):
        return "Leave it out: no parenthesis is open."
    if text[at - 1 : at + 1] == "**":
        return "There are no powers: multiply."
    kind = error.token.type if isinstance(error, UnexpectedToken) else ""
    if kind == "COMPARE":
        return "Comparisons cannot be chained: join two of them with `and`."
    if kind in ("NAME", "NUMBER"):
        return "Put a sign or a word between the two, such as +, > or and."
    return _EXAMPLE
