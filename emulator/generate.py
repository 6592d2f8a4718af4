"""A day of one deployment: requests are drawn one by one, then counted by minute.

So averages carry the noise of the requests behind them, as real ones do, and TTLT follows its
law: time to first token + time between tokens x tokens generated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from emulator.incidents import Conditions
from emulator.source import Array
from emulator.times import DAY

Key = tuple[str, str]
"""Metric and status code; the code is empty where the metric is not split by it."""


@dataclass(frozen=True, slots=True)
class Law:
    """What of a deployment does not change from minute to minute."""

    capacity: float | None
    """Tokens a minute of a provisioned deployment; None for pay-as-you-go."""
    noise: float
    cache_noise: float
    trace: Array


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A metric in each minute of a day: what its samples add up to; NaN where it has none."""

    total: Array
    count: Array
    minimum: Array
    maximum: Array

    def values(self, aggregation: str) -> Array:
        if aggregation != "average":
            array: Array = getattr(self, aggregation)
            return array
        return self.total / np.maximum(self.count, 1)


Day = Mapping[Key, Block]


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """The requests of a day in the order of their minutes."""

    minute: NDArray[np.intp]
    status: NDArray[np.int64]
    prompt: Array
    generated: Array
    ttft: Array
    tbt: Array
    ttlt: Array
    cache: Array


def day(law: Law, now: Conditions, random: np.random.Generator) -> Day:
    """Everything that Azure Monitor would know of the day."""
    requests = draw(law, now, random)
    answered = requests.status == 200
    blocks = _traffic(requests, answered) | _latency(law, requests, answered)
    if law.capacity is not None:
        minute, cache = requests.minute[answered], requests.cache[answered]
        blocks[("AzureOpenAIContextTokensCacheMatchRate", "")] = samples(minute, cache)
        load = _utilization(law.capacity, now, requests, answered)
        blocks[("AzureOpenAIProvisionedManagedUtilizationV2", "")] = load
    return blocks


def draw(law: Law, now: Conditions, random: np.random.Generator) -> Requests:
    counts = random.poisson(now.load)
    minute = np.repeat(np.arange(DAY), counts)
    size = len(minute)
    prompt, generated = law.trace[random.integers(len(law.trace), size=size)].T
    generated = np.maximum(1.0, np.round(generated * now.tokens[minute]))
    ttft = now.ttft[minute] * _noise(law.noise, size, random)
    tbt = now.tbt[minute] * _noise(law.noise, size, random)
    cache = now.cache[minute] + law.cache_noise * random.standard_normal(size)
    failed = random.random(size) < now.failing[minute]
    status = np.where(failed, now.status[minute], 200).astype(np.int64)
    status[random.random(size) < now.throttled[minute]] = 429
    ttlt = ttft + tbt * generated + now.added[minute]
    return Requests(minute, status, prompt, generated, ttft, tbt, ttlt, np.clip(cache, 0.0, 100.0))


def _noise(sigma: float, size: int, random: np.random.Generator) -> Array:
    """Log-normal with mean 1."""
    return np.exp(sigma * random.standard_normal(size) - sigma**2 / 2)


def samples(minute: NDArray[np.intp], values: Array) -> Block:
    """The aggregates of values whose minutes are in order."""
    counts = np.bincount(minute, minlength=DAY)
    filled = np.flatnonzero(counts)
    starts = np.searchsorted(minute, filled)
    columns = [np.full(DAY, np.nan) for _ in range(3)]
    if len(filled):
        for column, ufunc in zip(columns, (np.add, np.minimum, np.maximum), strict=True):
            column[filled] = ufunc.reduceat(values, starts)
    return Block(columns[0], counts.astype(float), columns[1], columns[2])


def _traffic(requests: Requests, answered: NDArray[np.bool_]) -> dict[Key, Block]:
    """Requests by status code, availability (which a 429 does not lower) and tokens."""
    available = np.where(requests.status >= 500, 0.0, 100.0)
    blocks = {("AzureOpenAIAvailabilityRate", ""): samples(requests.minute, available)}
    for status in {200, *requests.status.tolist()}:
        minute = requests.minute[requests.status == status]
        blocks[("AzureOpenAIRequests", str(status))] = samples(minute, np.ones(len(minute)))
    minute = requests.minute[answered]
    prompt, generated = requests.prompt[answered], requests.generated[answered]
    blocks[("ProcessedPromptTokens", "")] = samples(minute, prompt)
    blocks[("GeneratedTokens", "")] = samples(minute, generated)
    blocks[("TokenTransaction", "")] = samples(minute, prompt + generated)
    return blocks


def _latency(law: Law, requests: Requests, answered: NDArray[np.bool_]) -> dict[Key, Block]:
    """Latencies in ms, of answered requests only.

    Time to response and time between tokens are documented as "not for Standard deployments".
    """
    minute, ttft = requests.minute[answered], requests.ttft[answered] * 1000
    first = ttft / requests.prompt[answered]
    blocks = {
        ("AzureOpenAITTLTInMS", ""): samples(minute, requests.ttlt[answered] * 1000),
        ("AzureOpenAINormalizedTTFTInMS", ""): samples(minute, first),
    }
    if law.capacity is not None:
        tbt = samples(minute, requests.tbt[answered] * 1000)
        blocks[("AzureOpenAINormalizedTBTInMS", "")] = tbt
        blocks[("AzureOpenAITimeToResponse", "200")] = samples(minute, ttft)
    return blocks


def _utilization(
    capacity: float, now: Conditions, requests: Requests, answered: NDArray[np.bool_]
) -> Block:
    """Tokens that had to be worked on (the cached ones are free), one sample a minute."""
    fresh = requests.prompt * (1 - requests.cache / 100) + requests.generated
    busy = samples(requests.minute[answered], fresh[answered]).total / capacity * 100
    percent = np.where(np.isnan(now.utilization), busy, now.utilization)
    known = np.flatnonzero(~np.isnan(percent))
    return samples(known, percent[known])
