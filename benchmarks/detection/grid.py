"""Set (c), scored: three rates of calls x two factors x five seeds; and raw latency beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from benchmarks.detection.score import Figure, Score
from benchmarks.detection.simulated import Found, World, build, ours, raw, watch

RATES, FACTORS = (0.25, 2.0, 20.0), (1.5, 2.0)
HALVES = {"held back": ("m-small", range(5)), "tuned on": ("m-large", range(5, 10))}
"""Trace of the load, and seeds."""


@dataclass(frozen=True)
class Cell:
    """A rate and a factor, over all seeds of a half."""

    half: str
    calls: float
    factor: float
    found: tuple[Found, ...]
    by_raw: tuple[Found, ...]

    @property
    def recall(self) -> float:
        return float(np.mean([one.recall for one in self.found]))

    @property
    def delay(self) -> float:
        delays = [minutes for one in self.found for minutes in one.delays]
        return float(np.median(delays)) if delays else np.inf

    @property
    def false_a_week(self) -> float:
        return float(np.mean([one.false_a_week for one in self.found]))

    @property
    def decoys(self) -> int:
        return sum(one.decoys for one in self.found)

    @property
    def row(self) -> tuple[str, ...]:
        worst = min(one.recall for one in self.found)
        theirs = np.mean([one.recall for one in self.by_raw])
        fooled = [one.decoys for one in self.by_raw]
        return (
            self.half,
            f"{self.calls:g}",
            f"x{self.factor:g}",
            f"{self.recall:.2f} ({worst:.2f})",
            f"{self.delay:.0f} min",
            f"{self.false_a_week:.2f}",
            f"{self.decoys}",
            f"{theirs:.2f}",
            f"{min(fooled)} to {max(fooled)}",
        )


def cell(half: str, calls: float, factor: float) -> Cell:
    trace, seeds = HALVES[half]
    worlds = [build(World(trace, calls, factor, seed)) for seed in seeds]
    return Cell(
        half,
        calls,
        factor,
        tuple(watch(world, ours()) for world in worlds),
        tuple(watch(world, raw()) for world in worlds),
    )


def figures(cells: Iterable[Cell]) -> tuple[Figure, ...]:
    """The worst cell decides."""
    every = list(cells)
    busy = [one for one in every if one.calls >= 2]
    quiet = [one for one in every if one.calls < 2]
    (slower,) = [one for one in quiet if one.factor == 1.5]
    (twice,) = [one for one in quiet if one.factor == 2]
    return (
        Figure("mean recall, 2 calls a minute and more", _least(busy), "at least", 0.97),
        Figure("median delay in minutes", max(one.delay for one in busy), "at most", 10.0),
        Figure("false alarms a week", max(one.false_a_week for one in busy), "at most", 0.05),
        Figure("decoys", float(sum(one.decoys for one in busy)), "at most", 0.0),
        Figure("mean recall, 0.25 calls a minute, x2", twice.recall, "at least", 0.88),
        Figure("mean recall, 0.25 calls a minute, x1.5", slower.recall, "at least", 0.65),
        Figure(
            "false alarms a week, 0.25 calls a minute",
            max(one.false_a_week for one in quiet),
            "at most",
            0.3,
        ),
        Figure(
            "decoys, 0.25 calls a minute", float(sum(one.decoys for one in quiet)), "at most", 0.0
        ),
    )


def _least(cells: Iterable[Cell]) -> float:
    return min(one.recall for one in cells)


def score() -> Score:
    cells = [cell(half, rate, factor) for half in HALVES for rate in RATES for factor in FACTORS]
    held = [one for one in cells if one.half == "held back"]
    names = (
        "worlds",
        "calls a minute",
        "slow-down",
        "recall (worst seed)",
        "median delay",
        "false a week",
        "decoys of 120",
        "raw: recall",
        "raw: decoys of 24",
    )
    return Score("c", "simulated deployment", figures(held), names, tuple(one.row for one in cells))
