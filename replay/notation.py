"""The notation of a series, a value a minute: `4s x60, 9s x30, 4s`. Text -> pieces -> values.

5                 5 for as long as the scenario lasts
5 x30             5 for 30 minutes
1k..9k x10        from 1,000 to 9,000 in 10 minutes
_ x5              5 minutes without a point
4s ±10% x30       scattered evenly within 10 % of 4 s, the same at every run
4s x60, 9s        60 minutes of 4 s, then 9 s to the end
(1, 0 x9) x3      a group, three times over; without a count, to the end
"""

from __future__ import annotations

import re

from replay.scenariovalues import Notation, Piece
from shared.rulebook.problems import ExpressionError
from shared.rulebook.units import MS, PERCENTS, Unit, parse_literal

MOST_MINUTES = 14 * 1440
MOST_TEXT = 2_000

_VALUE = r"\d+(?:\.\d+)?(?:ms|s|m|h|d|%|k|M)?"
_COUNT = r"(?:\s*x\s*(?P<count>\d+))?"
_PIECE = re.compile(
    rf"(?P<first>_|{_VALUE})(?:\s*\.\.\s*(?P<last>{_VALUE}))?"
    rf"(?:\s*(?:±|\+-)\s*(?P<spread>\d+(?:\.\d+)?)\s*%)?{_COUNT}"
)
_OPEN, _CLOSE, _COMMA = (re.compile(p) for p in (r"\s*\(\s*", rf"\s*\){_COUNT}\s*", r"\s*,\s*"))
_BLANK = re.compile(r"\s*")


class NotationError(ExpressionError):
    """A text that is no series; `column` counts from 1 inside of it."""


def parse_series(text: str, unit: Unit) -> Notation:
    """The pieces of a text; values in milliseconds, percents or counts.

    Raises:
        NotationError: with the column and the cure.
    """
    if len(text) > MOST_TEXT:
        raise NotationError(f"the series is longer than {MOST_TEXT} characters")
    return _Parser(text, unit).parse()


class _Parser:
    def __init__(self, text: str, unit: Unit) -> None:
        self.text, self.unit, self.at = text, unit, 0

    def parse(self) -> Notation:
        pieces: list[Piece] = []
        while True:
            self._eat(_BLANK)
            before = self.at
            found, counted = self._group() if self._eat(_OPEN) else self._piece()
            if not self._eat(_COMMA):
                break
            pieces += found
            self._bound(sum(piece.minutes for piece in pieces), before)
        self._eat(_BLANK)
        if self.at < len(self.text):
            raise self._error("this cannot be read here")
        if not counted:
            return Notation(tuple(pieces), tuple(found))
        self._bound(sum(piece.minutes for piece in (*pieces, *found)), before)
        return Notation((*pieces, *found))

    def _group(self) -> tuple[list[Piece], bool]:
        pieces: list[Piece] = []
        while True:
            self._eat(_BLANK)
            pieces += self._piece()[0]
            if not self._eat(_COMMA):
                break
        before = self.at
        close = self._eat(_CLOSE)
        if not close:
            raise self._error("the group is not closed here")
        count = self._count(close["count"], before)
        self._bound(count * sum(piece.minutes for piece in pieces), before)
        return pieces * count, close["count"] is not None

    def _piece(self) -> tuple[list[Piece], bool]:
        before = self.at
        match = self._eat(_PIECE)
        if not match:
            raise self._error("a value is missing here" if self._ended else "this is no value")
        if match["last"] and (match["first"] == "_" or not match["count"]):
            cure = "Write it like 1s..9s x10."
            raise NotationError("a ramp has two values and its minutes", cure, before + 1)
        first = self._value(match["first"], match.start("first"))
        last = self._value(match["last"], match.start("last")) if match["last"] else first
        spread = float(match["spread"] or 0) / 100
        if spread > 1:
            cure = "Write it like 4s ±10%."
            raise NotationError("values scatter within 100 % at most", cure, before + 1)
        minutes = self._count(match["count"], before)
        return [Piece(first, last, minutes, spread)], match["count"] is not None

    @property
    def _ended(self) -> bool:
        return self.at >= len(self.text) or self.text[self.at] in ",)"

    def _value(self, text: str, at: int) -> float:
        if text == "_":
            return float("nan")
        try:
            value, unit = parse_literal(text)
        except ValueError as error:
            raise NotationError(str(error), "", at + 1) from None
        if unit.bases == self.unit.bases or (unit.bare and self.unit.counted):
            return value
        raise NotationError(f"{text} is not measured in {self.unit}", _cure(self.unit), at + 1)

    def _count(self, digits: str | None, at: int) -> int:
        count = 1 if digits is None else int(digits.lstrip("0")[:9] or 0)
        if count < 1:
            raise NotationError("it lasts no minute", "Write x1 or more.", at + 1)
        self._bound(count, at)
        return count

    def _bound(self, minutes: int, at: int) -> None:
        if minutes > MOST_MINUTES:
            message = f"the series is longer than 14 days ({MOST_MINUTES:,} minutes)"
            raise NotationError(message, "Numbers after x are minutes.", at + 1)

    def _eat(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.at)
        if match:
            self.at = match.end()
        return match

    def _error(self, message: str) -> NotationError:
        cure = "Write it like `5`, `4s x60, 9s`, `1k..9k x10`, `_ x5` or `(1, 0 x9) x3`."
        return NotationError(message, cure, self.at + 1)


def _cure(unit: Unit) -> str:
    if unit.bases == MS.bases:
        return "Write it like 4s or 250ms."
    if unit.bases == PERCENTS.bases:
        return "Write it like 95%."
    if unit.counted:
        return "Write it like 5, 20k or 1M."
    return "Such values cannot be written; give the series that it is made of."
