"""A curve as a line of text, and the points to keep of one that is too long. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

_BARS = "▁▂▃▄▅▆▇█"
_GAP = "·"


def sparkline(values: Sequence[float | None]) -> str:
    """A bar for each value, from the lowest to the highest; a dot where there is none."""
    known = [value for value in values if value is not None]
    if not known:
        return _GAP * len(values)
    low, high = min(known), max(known)
    return "".join(_GAP if value is None else _bar(value, low, high) for value in values)


def _bar(value: float, low: float, high: float) -> str:
    if high == low:
        return _BARS[len(_BARS) // 2 - 1]
    return _BARS[round((value - low) / (high - low) * (len(_BARS) - 1))]


def thinned(values: Sequence[float | None], most: int) -> list[int]:
    """The places of at most so many values: of each stretch the one that stands out the most.

    A mean would flatten the very peak (or the dip) that the curve is shown for.
    """
    if len(values) <= most:
        return list(range(len(values)))
    middle = median([value for value in values if value is not None] or [0.0])
    edges = [len(values) * part // most for part in range(most + 1)]
    return [_outlier(values, start, end, middle) for start, end in pairwise(edges)]


def _outlier(values: Sequence[float | None], start: int, end: int, middle: float) -> int:
    """The last place stands for a stretch without a value."""
    known = [
        (abs(value - middle), place)
        for place in range(start, end)
        if (value := values[place]) is not None
    ]
    return max(known)[1] if known else end - 1
