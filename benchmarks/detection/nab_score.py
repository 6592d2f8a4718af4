"""The score of the Numenta Anomaly Benchmark, standard profile, after its paper.

Lavin and Ahmad, Evaluating Real-Time Anomaly Detection Algorithms: the Numenta Anomaly Benchmark
(ICMLA 2015, arXiv:1510.03336). A window counts by its earliest detection, and the earlier the more:
at y from -1 (its first row) to 0 (its last) it is worth 2 / (1 + exp(5 y)) - 1. A detection outside
costs the same curve beyond 0, measured from the window before it in lengths of that window, and -1
where there is none; times 0.11. A window without a detection costs 1. The sum is scaled so that no
detection at all is 0 and the first row of every window is 100.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Window = tuple[int, int]
"""First and last row of a labelled window."""
FALSE_WEIGHT, MISS_WEIGHT = 0.11, 1.0
PROBATION = 0.15
"""Share of a file's first rows, of 5000 at most, in which nothing counts."""


@dataclass(frozen=True)
class Raw:
    """A sum that is not scaled yet, and the number of windows it is about."""

    value: float = 0.0
    windows: int = 0

    def __add__(self, other: Raw) -> Raw:
        return Raw(self.value + other.value, self.windows + other.windows)

    @property
    def scaled(self) -> float:
        """0 for silence, 100 for perfection; below 0 is worse than silence."""
        nothing, perfect = -MISS_WEIGHT * self.windows, worth(-1.0) * self.windows
        return 100 * (self.value - nothing) / (perfect - nothing)


def worth(y: float) -> float:
    """What a detection at a relative position is worth."""
    return 2 / (1 + math.exp(5 * y)) - 1 if y < 3 else -1.0


def probation(rows: int) -> int:
    return int(PROBATION * min(rows, 5000))


def raw(detections: Sequence[int], windows: Sequence[Window], rows: int) -> Raw:
    """The score of one file's detections, given as rows."""
    counted = [row for row in detections if row >= probation(rows)]
    total = 0.0
    for first, last in windows:
        inside = [row for row in counted if first <= row <= last]
        total += worth((min(inside) - last) / (last - first)) if inside else -MISS_WEIGHT
    for row in counted:
        if not any(first <= row <= last for first, last in windows):
            total += FALSE_WEIGHT * worth(_behind(row, windows))
    return Raw(total, len(windows))


def _behind(row: int, windows: Sequence[Window]) -> float:
    """How far a row is behind the window before it; far, if there is none."""
    before = [window for window in windows if window[1] < row]
    if not before:
        return math.inf
    first, last = max(before, key=lambda window: window[1])
    return (row - last) / (last - first)
