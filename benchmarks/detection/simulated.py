"""Set (c): a simulated deployment, its slow-downs, and decoys in which answers only get longer.

28 days: calls come at random (Poisson) at a recorded rate of a production service, scaled to a
mean and played twice; the tokens of an answer are drawn from a recorded trace; an answer takes
126 ms and 41.3 ms a token, with log-normal noise as single calls of the real day have it. The first
14 days are history. The others are 48 equal stretches with one event each, at a random place: in 24
all answers take longer by a factor for 30 minutes, in 24 answers have twice the tokens for an hour.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.detection.data import OWN, TRACES, columns, numbers
from benchmarks.detection.play import START, alarms, answered, only, play, rulebook, series
from shared.engine.frame import Floats
from shared.model import Series
from shared.rulebook.rules import Rulebook

HISTORY = JUDGED = 14 * 1440
TTFT, TBT = 126.0, 41.3
EVENTS, SLOW, LONGER = 24, 30, 60
"""Slow-downs, and as many decoys; minutes that each lasts."""
GRACE = 30
"""Minutes after an event in which an alert still counts as its."""


@dataclass(frozen=True)
class World:
    trace: str
    calls: float
    """A minute, on average."""
    factor: float
    seed: int


@dataclass(frozen=True)
class Played:
    """A world's series, and the minutes at which its slow-downs and decoys begin."""

    series: list[Series]
    slow: list[int]
    decoys: list[int]


@dataclass(frozen=True)
class Found:
    """What a rule made of a world."""

    delays: tuple[int, ...]
    """Minutes from the beginning of each slow-down that was found to the end of the minute that
    fired."""
    false: int
    """Alerts that no slow-down explains, those in decoys included."""
    decoys: int

    @property
    def recall(self) -> float:
        return len(self.delays) / EVENTS

    @property
    def false_a_week(self) -> float:
        return self.false / (JUDGED / 10_080)


@cache
def noise() -> float:
    """Standard deviation of the logarithm of a single call's latency around the law.

    From the minutes of the real day that had one call, so that nothing is averaged.
    """
    table = columns(TRACES / "provisioned-deployment-24h.csv")
    names = ("SuccessfulCalls_sum", "Latency_avg_ms", "GeneratedTokens_sum")
    calls, latency, tokens = (numbers(table[name]) for name in names)
    alone = (calls == 1) & (latency > 0) & (tokens > 0)
    return float(np.std(np.log(latency[alone] / (TTFT + TBT * tokens[alone]))))


@cache
def load(trace: str) -> Floats:
    """Calls a minute for the whole time, with a mean of 1."""
    rate = numbers(columns(TRACES / f"request-rate-{trace}.csv")["requests_per_s"])
    minutes: Floats = np.resize(np.repeat(rate, 10), HISTORY + JUDGED)
    return minutes / float(minutes.mean())


@cache
def answers() -> Floats:
    """The tokens of each recorded answer."""
    return numbers(columns(TRACES / "AzureLLMInferenceTrace_conv.csv")["GeneratedTokens"])


def build(world: World) -> Played:
    """The minutes of a world; its noise and events do not depend on the factor."""
    rng = np.random.default_rng([world.seed, int(world.calls * 100)])
    slow, decoys = _plan(rng)
    steps = HISTORY + JUDGED
    slower, longer = _during(slow, SLOW, world.factor), _during(decoys, LONGER, 2.0)
    calls = rng.poisson(world.calls * load(world.trace)).astype(float)
    minute = np.repeat(np.arange(steps), calls.astype(int))
    tokens = rng.choice(answers(), len(minute)) * longer[minute]
    luck = np.exp(rng.normal(0, noise(), len(minute)))
    took = (TTFT + TBT * tokens) * luck * slower[minute]
    mean = np.bincount(minute, took, steps) / np.where(calls > 0, calls, np.nan)
    found = [
        answered("chat", calls),
        series("chat", "AzureOpenAITTLTInMS", mean, "average"),
        series("chat", "GeneratedTokens", np.bincount(minute, tokens, steps).astype(float)),
    ]
    return Played(found, slow, decoys)


def _plan(rng: np.random.Generator) -> tuple[list[int], list[int]]:
    kinds = rng.permutation(np.repeat([True, False], EVENTS))
    stretch = JUDGED // len(kinds)
    begin = HISTORY + np.arange(len(kinds)) * stretch
    at = begin + rng.integers(LONGER, stretch - 2 * LONGER, len(kinds))
    return at[kinds].tolist(), at[~kinds].tolist()


def _during(begins: Iterable[int], minutes: int, factor: float) -> Floats:
    result = np.ones(HISTORY + JUDGED)
    for begin in begins:
        result[begin : begin + minutes] = factor
    return result


def watch(played: Played, book: Rulebook) -> Found:
    """What the one rule of a rulebook makes of a world."""
    judged = play(book, START, played.series, START + HISTORY)
    fired = np.array([a.fired - START for a in alarms(judged, START + HISTORY + JUDGED)], dtype=int)
    delays = []
    explained = np.zeros(len(fired), dtype=bool)
    for begin in played.slow:
        own = (fired >= begin) & (fired < begin + SLOW + GRACE)
        delays += [int(fired[own][0]) + 1 - begin] if own.any() else []
        explained |= own
    in_decoy = [((fired >= b) & (fired < b + LONGER + GRACE)).any() for b in played.decoys]
    return Found(tuple(delays), int((~explained).sum()), int(sum(in_decoy)))


def ours() -> Rulebook:
    return only(rulebook(), ["TTLTRisingWithoutTokens"])


def raw() -> Rulebook:
    """The same rule without the tokens."""
    return only(rulebook(OWN), ["RawLatency"])
