"""What a fit expects of each cell, and how far a window is from it. Pure arithmetic on arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shared.engine.frame import Floats
from shared.engine.windows import Lengths, divide

HOURS = 24


def by_hour(level: Floats, factors: Floats, slots: NDArray[np.int64], lengths: Lengths) -> Floats:
    """A level by the hour of the day, for windows of at most an hour that end with the slots.

    `factors` is 24 x deployments. A window that began in the hour before expects a part of each,
    else the first minutes after a busy hour would be compared with the quiet one.
    """
    hour, inside = slots // 60 % HOURS, slots % 60 + 1
    share = np.minimum(1.0, inside[:, None] / np.maximum(lengths, 1))
    expected: Floats = level * (share * factors[hour] + (1 - share) * factors[hour - 1])
    return expected


def on_line(at: Floats, intercept: Floats, slope: Floats, low: Floats, high: Floats) -> Floats:
    """A line at the present value of what is given; far outside of what was seen, the larger one
    of the line and of scaling in proportion from the end of the range."""
    line: Floats = intercept + slope * at
    edge = np.where(at > high, high, low)
    scaled = (intercept + slope * edge) * np.divide(at, edge, out=np.ones_like(at), where=edge > 0)
    beyond = (at > 1.25 * high) | (at < 0.75 * low)
    return np.where(beyond, np.maximum(line, scaled), line)


def mean_of_minutes(minutes: Floats, weights: Floats, lengths: Lengths) -> Floats:
    """The weighted mean over windows of the given lengths; a minute that is NaN does not count.

    The last rows of `minutes` are those that the windows end with; it begins as many rows earlier
    as the longest window needs.
    """
    known = ~np.isnan(minutes) & (weights > 0)
    weighed, weights = np.where(known, minutes * weights, 0.0), np.where(known, weights, 0.0)
    total, by = np.zeros(lengths.shape), np.zeros(lengths.shape)
    first = len(minutes) - len(lengths)
    for back in range(int(lengths.max(initial=0))):
        rows, within = slice(first - back, len(minutes) - back), lengths > back
        total += np.where(within, weighed[rows], 0.0)
        by += np.where(within, weights[rows], 0.0)
    return divide(total, by)


def deviation(ratio: Floats, spread: Floats, requests: Floats, floor: float) -> Floats:
    """How many standard deviations a ratio to the expectation is from 1, for so many requests."""
    off: Floats = (ratio - 1) / np.sqrt(spread**2 / np.fmax(requests, 1.0) + floor**2)
    return off
