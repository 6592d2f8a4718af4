"""Units: what may be compared with what, and how a value reads to a person.

A unit is a product of bases with powers, e.g. tokens/request. Times are held in milliseconds,
percents as 0 to 100, counts as they are.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

TIME, PERCENT = "ms", "%"
_SCALES = {"ms": 1.0, "s": 1e3, "min": 6e4, "m": 6e4, "h": 3.6e6, "d": 8.64e7}
_LARGEST = 1e15
_WORD = re.compile(r"[A-Za-z]+|%")
_LITERAL = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|%|k|M)?")


@dataclass(frozen=True)
class Unit:
    """`bases` maps base to power, sorted; `scale` turns a value into milliseconds and counts."""

    bases: tuple[tuple[str, int], ...] = ()
    scale: float = field(default=1.0, compare=False)
    text: str = field(default="", compare=False)

    @property
    def bare(self) -> bool:
        return not self.bases

    @property
    def counted(self) -> bool:
        """Made of counts alone, so that it may be compared with a bare number."""
        return all(base not in (TIME, PERCENT) for base, _ in self.bases)

    def __mul__(self, other: Unit) -> Unit:
        return self._with(other, 1)

    def __truediv__(self, other: Unit) -> Unit:
        return self._with(other, -1)

    def _with(self, other: Unit, sign: int) -> Unit:
        powers = dict(self.bases)
        for base, power in other.bases:
            powers[base] = powers.get(base, 0) + sign * power
        return Unit(tuple(sorted((b, p) for b, p in powers.items() if p)))

    def __str__(self) -> str:
        if self.text or self.bare:
            return self.text or "a bare number"
        upper = " ".join(_plural(b) for b, p in self.bases if p > 0) or "1"
        lower = " ".join(b for b, p in self.bases if p < 0)
        return f"{upper}/{lower}" if lower else upper


BARE, MS, PERCENTS = Unit(), Unit(((TIME, 1),), text="ms"), Unit(((PERCENT, 1),), text="%")


def compatible(left: Unit, right: Unit) -> bool:
    """Whether two units may be compared or added: alike, or counts with a bare number."""
    if left.bases == right.bases:
        return True
    return (left.bare and right.counted) or (right.bare and left.counted)


def parse_unit(text: str) -> Unit:
    """`ms`, `s`, `%`, `requests`, `tokens/request`, `tokens/s`, `1`.

    Raises:
        ValueError: the text is no unit.
    """
    upper, _, lower = text.strip().partition("/")
    if text.strip() in ("", "1"):
        return BARE
    over, above = _base(upper), _base(lower) if lower else BARE
    unit = over / above
    return Unit(unit.bases, over.scale / above.scale, text.strip())


def _base(word: str) -> Unit:
    word = word.strip()
    if not _WORD.fullmatch(word):
        raise ValueError(f"{word!r} is no unit")
    if word in _SCALES:
        return Unit(((TIME, 1),), _SCALES[word])
    if word == PERCENT:
        return PERCENTS
    return Unit(((word[:-1] if word.endswith("s") and len(word) > 1 else word, 1),))


def parse_literal(text: str) -> tuple[float, Unit]:
    """A number with its unit: `10s` -> (10000.0, ms), `95%` -> (95.0, %), `2k` -> (2000.0, bare).

    Raises:
        ValueError: the text is no such number.
    """
    match = _LITERAL.fullmatch(text.strip())
    if not match:
        raise ValueError(f"{text!r} is no number like 5, 95%, 250ms, 10s, 15m, 1d, 2k or 1M")
    number, suffix = float(match[1]), match[2]
    if number > _LARGEST:
        raise ValueError(f"{text[:20]!r}... is too large a number")
    if suffix is None:
        return number, BARE
    if suffix == "%":
        return number, PERCENTS
    if suffix in ("k", "M"):
        return number * (1e3 if suffix == "k" else 1e6), BARE
    return number * _SCALES[suffix], MS


def parse_minutes(text: str) -> int:
    """A whole number of minutes: `5m`, `2h`, `0`.

    Raises:
        ValueError: the text is no duration, or has seconds.
    """
    value, unit = parse_literal(text)
    if unit.bases != MS.bases and value:
        raise ValueError(f"{text!r} is no duration like 5m or 2h")
    minutes = value / 6e4
    if minutes != int(minutes):
        raise ValueError(f"{text!r} is not a whole number of minutes")
    return int(minutes)


def show(value: float | None, unit: Unit) -> str:
    """The value as a person reads it: `4.2 s`, `61 %`, `1.8` for a bare ratio, `180 tokens`."""
    if value is None or not math.isfinite(value):
        return "unknown"
    if unit.bases == MS.bases:
        return _time(value)
    if unit.bases == PERCENTS.bases:
        return f"{_digits(value)} %"
    value = value / unit.scale
    if unit.bare:
        return _digits(value)
    return f"{_digits(value)} {_name(value, unit)}"


def _time(ms: float) -> str:
    for limit, size, name in ((1e3, 1.0, "ms"), (1.2e5, 1e3, "s"), (7.2e6, 6e4, "min")):
        if abs(ms) < limit:
            return f"{_digits(ms / size)} {name}"
    return f"{_digits(ms / 3.6e6)} h"


def _digits(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 100 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2g}"


def _name(value: float, unit: Unit) -> str:
    text = str(unit).replace("/", " per ") if unit.counted else str(unit)
    return text[:-1] if value == 1 and text.endswith("s") and "/" not in text else text


def _plural(word: str) -> str:
    return word if word in (TIME, PERCENT) else f"{word}s"
