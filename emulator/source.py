"""Where the numbers come from: the protocol that a world and a recording fulfil."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from emulator.faults import Fault

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Account:
    """One account; `id` in the spelling of its owner."""

    id: str
    region: str


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """One value a minute of one combination of dimension values; NaN where there is no point.

    `weights` are the samples behind an average: with them a coarser grain, or a sum over
    dimensions that were not asked for, is the exact sum / count that Azure computes.
    """

    dimensions: Mapping[str, str]
    values: Array
    weights: Array


class Source(Protocol):
    """Minutes of metrics. Every range may be asked, in any order, with the same answer."""

    @property
    def accounts(self) -> Mapping[str, Account]:
        """By id in lower case."""

    def deployments(self, account: str) -> Sequence[str]:
        """The names of an account's deployments; none of an account that is not there."""

    @property
    def start(self) -> int:
        """Where the emulator's clock begins."""

    @property
    def ingest_delay(self) -> int:
        """Minutes after its end until a minute can be seen at all."""

    @property
    def faults(self) -> Sequence[Fault]: ...

    def series(
        self, account: str, metric: str, aggregation: str, start: int, end: int
    ) -> Sequence[Series]:
        """All series of a metric for the minutes [start, end)."""


def reduce(aggregation: str, parts: Sequence[Series], grain: int) -> Array:
    """One series at a coarser grain from several at one minute; lengths are multiples of it."""
    if grain == 1 and len(parts) == 1:
        return parts[0].values
    values = _cells([part.values for part in parts], grain)
    known = ~np.isnan(values)
    if aggregation == "average":
        weights = np.where(known, _cells([part.weights for part in parts], grain), 0.0)
        with np.errstate(invalid="ignore"):
            means: Array = (np.where(known, values, 0.0) * weights).sum(1) / weights.sum(1)
        return means
    if aggregation == "total":
        return np.where(known.any(1), np.where(known, values, 0.0).sum(1), np.nan)
    best = np.fmax if aggregation == "maximum" else np.fmin
    extremes: Array = best.reduce(values, axis=1)
    return extremes


def _cells(parts: Sequence[Array], grain: int) -> Array:
    """One row a point of the answer, holding every minute of every part that belongs to it."""
    stacked = np.stack(parts).reshape(len(parts), -1, grain)
    return stacked.transpose(1, 0, 2).reshape(stacked.shape[1], -1)
