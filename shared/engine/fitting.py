"""The numbers of a fit: how far requests scatter, what the hour of the day explains, a robust line.
Pure arithmetic on bins of history.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shared.engine.expectation import HOURS
from shared.engine.frame import Bools, Floats

Slots = NDArray[np.int64]

SLOW_BINS, CALM_DAYS, SLOW_SIGMAS = 0.975, 0.75, 2.15
"""What 97.5 % of a day's bins stay below, on three days of four, is so many standard deviations.
Normal noise reaches 2.02 (96 bins a day, 14 days), so it hardly ever counts as a heavy tail."""
HOUR_DAYS, HOUR_GAIN = 3, 0.7
"""Time of day is used if each hour was seen on three even and three odd days, and if it shrinks
the spread to 0.7 of what it is without."""

RHYTHM_SHARE, RHYTHM_DAYS = 0.2, 3
"""What takes more of the history than this, on so many days and on most, is no incident."""


def recurring(slots: Slots, bad: Bools) -> bool:
    """Whether incidents are so much of the history that they are how it is.

    A deployment without history alerts on its daily rhythm at first. If all of that were left out,
    the rhythm would never be learned and would alert for ever.
    """
    if not bad.any() or bad.mean() < RHYTHM_SHARE:
        return False
    days, bad_days = np.unique(slots // 1440), np.unique(slots[bad] // 1440)
    return len(bad_days) >= max(RHYTHM_DAYS, len(days) / 2)


def spread_of(slots: Slots, ratio: Floats, n: Floats, fitted: int) -> float:
    """Relative standard deviation of one request, from ratios that average n requests each.

    The larger one of what the middle half of the bins says (median absolute deviation; Huber,
    Robust Statistics, 1981) and of what the slow bins of a day say. Latencies have heavy tails, and
    what is slow on most days is no incident. Three bad days of 14 change nothing, though.

    The last factor is that of a prediction by `fitted` numbers from so many bins: they fit what
    they were made of too well, and are themselves uncertain. It matters on the first day only.
    """
    off = (ratio - 1) * np.sqrt(n)
    middle = 1.4826 * float(np.median(np.abs(off)))
    slow = _quantiles(slots // 1440, off, SLOW_BINS)
    spread = max(middle, float(np.quantile(slow, CALM_DAYS)) / SLOW_SIGMAS)
    return spread * float(np.sqrt((len(n) + fitted) / (len(n) - fitted)))


def hours_of(slots: Slots, ratio: Floats) -> tuple[float, ...]:
    """The median of each hour of the day; nothing if one of them was seen on too few days."""
    hour, day = slots // 60 % HOURS, slots // 1440
    seen = np.unique(hour + HOURS * day)
    days = np.bincount(seen % HOURS + HOURS * (seen // HOURS % 2), minlength=2 * HOURS)
    if days.min() < HOUR_DAYS:
        return ()
    return tuple(_quantiles(hour, ratio, 0.5).tolist())


def of_other_days(slots: Slots, ratio: Floats) -> Floats:
    """Each bin over the median of its hour on the days of the other parity.

    What was not used to expect a bin shows honestly how well the time of day foretells it.
    """
    hour, odd = slots // 60 % HOURS, slots // 1440 % 2 == 1
    result = np.empty_like(ratio)
    for mine in (odd, ~odd):
        result[mine] = ratio[mine] / _quantiles(hour[~mine], ratio[~mine], 0.5)[hour[mine]]
    return result


def _quantiles(groups: Slots, values: Floats, share: float) -> Floats:
    """A quantile of the values of each group, in the order of the groups."""
    order = np.lexsort((values, groups))
    _, first, count = np.unique(groups[order], return_index=True, return_counts=True)
    ranked, at = values[order], share * (count - 1)
    below = at.astype(np.int64)
    low, high = ranked[first + below], ranked[first + np.minimum(below + 1, count - 1)]
    quantiles: Floats = low + (at - below) * (high - low)
    return quantiles


def robust_line(x: Floats, y: Floats, n: Floats) -> tuple[float, float]:
    """Intercept and slope of y over x, both at least 0, for noise that grows with y.

    Iteratively reweighted least squares on relative residuals with Huber's weights (Huber,
    Robust Statistics, 1981; k = 1.345), started from proportionality; n weighs the bins. Where x
    hardly varies (interquartile range below a tenth of the median) a line cannot be told from
    noise and y is taken as proportional to x.
    """
    ratio = float(np.median(y / x))
    quartile, middle, third = np.percentile(x, [25, 50, 75])
    if third - quartile < 0.1 * middle:
        return 0.0, ratio
    intercept, slope = 0.0, ratio
    for _ in range(20):
        expected = intercept + slope * x
        off = np.abs(y / expected - 1) * np.sqrt(n)
        limit = 1.345 * max(1.4826 * float(np.median(off)), 1e-9)
        weight = n / expected**2 * np.minimum(1.0, limit / np.maximum(off, 1e-12))
        before, (intercept, slope) = (intercept, slope), _least_squares(x, y, weight)
        if slope <= 0:
            return float(np.median(y)), 0.0
        if intercept < 0:
            intercept, slope = 0.0, float((weight * x * y).sum() / (weight * x * x).sum())
        if np.allclose(before, (intercept, slope), rtol=1e-9):
            break
    return intercept, slope


def _least_squares(x: Floats, y: Floats, weight: Floats) -> tuple[float, float]:
    total = weight.sum()
    mean_x, mean_y = (weight * x).sum() / total, (weight * y).sum() / total
    slope = (weight * (x - mean_x) * (y - mean_y)).sum() / (weight * (x - mean_x) ** 2).sum()
    return float(mean_y - slope * mean_x), float(slope)
