"""Units: what they are made of, and what may be compared with what.

A unit is a product of bases with powers, e.g. tokens/request. Times are held in milliseconds,
percents as 0 to 100, counts as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from shared.rulebook.problems import TextError, closest

TIME, PERCENT, REQUEST = "ms", "%", "request"
COUNTS = ("call", "event", "image", "page", REQUEST, "token")
"""What metrics count. The list is closed, so that a misspelt unit is no new one."""
SCALES = {"ms": 1.0, "s": 1e3, "min": 6e4, "m": 6e4, "h": 3.6e6, "d": 8.64e7}
_SPELLED = {
    "ms": "ms msec msecs millisecond milliseconds",
    "s": "s sec secs second seconds",
    "m": "m min mins minute minutes",
    "h": "h hr hrs hour hours",
    "d": "d day days",
    "%": "% pct percent",
    "k": "k thousand",
    "M": "M million",
}
UNIT_WORDS = {word: unit for unit, words in _SPELLED.items() for word in words.split()}
"""What people write, and how numbers have it."""

Bases = tuple[tuple[str, int], ...]
_WORDS: dict[str, Bases] = {"1": (), PERCENT: ((PERCENT, 1),)}
_WORDS |= dict.fromkeys(SCALES, ((TIME, 1),))
_WORDS |= {word: ((count, 1),) for count in COUNTS for word in (count, f"{count}s")}


@dataclass(frozen=True)
class Unit:
    """`bases` maps base to power, sorted; `scale` turns a value into milliseconds and counts."""

    bases: Bases = ()
    scale: float = field(default=1.0, compare=False)
    text: str = field(default="", compare=False)

    @property
    def bare(self) -> bool:
        return not self.bases

    @property
    def measured(self) -> Bases:
        """The times and percents in it: what a number has to state."""
        return tuple((base, power) for base, power in self.bases if base in (TIME, PERCENT))

    @property
    def counted(self) -> bool:
        """Made of counts alone, so that it may be compared with a bare number."""
        return not self.measured

    @property
    def essence(self) -> Bases:
        """What tells it from others. An average time is one of a request, so that beside a time a
        request says nothing: ttlt / tokens_per_answer is a time per token."""
        timed = TIME in dict(self.bases)
        return tuple((b, p) for b, p in self.bases if not (timed and b == REQUEST))

    @property
    def words(self) -> str:
        return "a bare number" if self.bare else str(self)

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
        """As `parse_unit` reads it, and as short as it can be said."""
        short = any(power > 0 for _, power in self.essence)
        return self.text or _written(self.essence if short else self.bases)


BARE, MS, PERCENTS = Unit(), Unit(((TIME, 1),), text="ms"), Unit(((PERCENT, 1),), text="%")


def alike(left: Unit, right: Unit) -> bool:
    """Whether two units are the same thing."""
    return left.essence == right.essence


def compatible(left: Unit, right: Unit) -> bool:
    """Whether values may be compared or added: of like units, or counts with a bare number."""
    if alike(left, right):
        return True
    return (left.bare and right.counted) or (right.bare and left.counted)


def parse_unit(text: str) -> Unit:
    """`ms`, `%`, `requests`, `tokens/request`, `tokens/s`, `ms*tokens/request`, `1`.

    Raises:
        TextError: the text is no unit.
    """
    unit = _product(text)
    if unit is None:
        raise TextError(f"{text!r} is no unit", _cure(text))
    return unit


def _product(text: str) -> Unit | None:
    words = [word.strip() for word in re.split("([*/])", text)]
    if not set(words[::2]) <= _WORDS.keys():
        return None
    unit, scale = BARE, 1.0
    for sign, word in zip(["*", *words[1::2]], words[::2], strict=True):
        factor = Unit(_WORDS[word], SCALES.get(word, 1.0))
        unit = unit / factor if sign == "/" else unit * factor
        scale = scale / factor.scale if sign == "/" else scale * factor.scale
    return Unit(unit.bases, scale, "".join(words)) if unit.bases else BARE


def quoted(unit: Unit) -> str:
    """The unit as YAML takes it."""
    return f'"{unit}"' if str(unit).startswith(PERCENT) else str(unit)


def _cure(text: str) -> str:
    parts = re.split(r"\s*([*/])\s*", text.strip().replace(" per ", "/"))
    meant = "".join(part if part in ("*", "/") else _meant(part) for part in parts)
    unit = _product(meant)
    if unit:
        return f"Write {quoted(unit)}."
    counts = ", ".join(f"{count}s" for count in COUNTS)
    return f"Use ms, s, %, 1, a count ({counts}), or a rate such as tokens/request."


def _meant(word: str) -> str:
    """The word of a unit that is most like another; the same word if none is."""
    if word in _WORDS:
        return word
    known = UNIT_WORDS.get(word.lower(), "")
    return (
        {"m": "min"}.get(known, known)
        or closest(word, [long for long in _WORDS if len(long) > 2])
        or word
    )


def _written(bases: Bases) -> str:
    """Percents last, since a value that begins with % has to be quoted in YAML."""
    ordered = sorted(bases, key=lambda pair: (pair[0] == PERCENT, pair[0] != TIME, pair[0]))
    above = [_plural(base) for base, power in ordered for _ in range(power)]
    below = [f"/{base}" for base, power in ordered for _ in range(-power)]
    return ("*".join(above) or "1") + "".join(below)


def _plural(word: str) -> str:
    return word if word in (TIME, PERCENT) else f"{word}s"
