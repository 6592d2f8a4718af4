"""What Tokenwatch is compared with on plain series: a rolling median and MAD, nothing else."""

from __future__ import annotations

import numpy as np

from benchmarks.detection.score import Span
from shared.engine.frame import Bools, Floats

FACTOR, BREACHES, AMONG = 5.0, 2, 3
LEAST = 24
"""Values that have to lie before the first one that is judged."""


def alerts(values: Floats, history: int, *, both: bool = False) -> list[Span]:
    """Where 2 of 3 values are more than 5 robust standard deviations from the `history` values
    before them: above, or on both sides."""
    breach = np.zeros(len(values), dtype=bool)
    for n in range(LEAST, len(values)):
        before = values[max(0, n - history) : n]
        middle = np.median(before)
        spread = 1.4826 * np.median(np.abs(before - middle))
        off = values[n] - middle
        # A spread of 0 says nothing; a z would be endless.
        breach[n] = spread > 0 and (abs(off) if both else off) > FACTOR * spread
    lately = np.convolve(breach, np.ones(AMONG))[: len(values)]
    return runs(lately >= BREACHES)


def runs(flags: Bools) -> list[Span]:
    """[begin, end) of each stretch of true flags."""
    padded = np.concatenate([[False], flags, [False]]).astype(np.int8)
    edges = np.flatnonzero(np.diff(padded)).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))
