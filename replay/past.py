"""A past held in memory: the minutes of some deployments, and the same at the grain of a fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shared.engine.baseline import GRAIN, Due
from shared.engine.frame import Floats, Frame, frame_of
from shared.model import Component, Deployment, Reading, Series, Slot

REQUESTS = "AzureOpenAIRequests"


@dataclass(frozen=True, eq=False)
class Past:
    """Everything that Azure Monitor would say of some deployments, from which any piece is cut.

    `whole` has a step of one minute. Averages are reduced to a coarser grain as Azure does it,
    weighted by the number of samples, for which the successful requests stand.
    """

    whole: Frame
    weights: Floats
    """Steps x deployments; 1 where nobody knows better."""
    never: frozenset[str] = frozenset()
    """Signals without a single point: their fits come to nothing, and need not be tried."""

    @classmethod
    def of(cls, start: Slot, series: Sequence[Series], needed: Iterable[Component]) -> Past:
        """The past of the series' deployments, from series of one length that begin at `start`."""
        steps = max((len(one.values) for one in series), default=0)
        deployments = sorted({one.deployment for one in series})
        good = Component(REQUESTS, "total", (("StatusCode", "2xx"),))
        reading = Reading(start, 1, steps, tuple(series))
        whole = frame_of(reading, deployments, {*needed, good})
        weights = whole.values[good]
        return cls(whole, np.where(weights > 0, weights, 1.0))

    @property
    def start(self) -> Slot:
        return self.whole.start

    @property
    def end(self) -> Slot:
        """The first slot after it."""
        return self.whole.start + self.whole.steps

    @property
    def deployments(self) -> tuple[Deployment, ...]:
        return self.whole.deployments

    def alone(self, deployment: Deployment) -> Past:
        """The past of one deployment."""
        n = self.deployments.index(deployment)
        values = {c: rows[:, n : n + 1] for c, rows in self.whole.values.items()}
        failed = {c: flags[n : n + 1] for c, flags in self.whole.failed.items()}
        whole = replace(self.whole, deployments=(deployment,), values=values, failed=failed)
        return Past(whole, self.weights[:, n : n + 1])

    def minutes(self, first: Slot, last: Slot) -> Frame:
        """The minutes [first, last]; without points where the past does not reach."""
        return _cut(self.whole, first, last + 1)

    def history(self, dues: Sequence[Due]) -> Mapping[Due, Frame]:
        """The history of each due that can come to anything, with the deployments that are here."""
        return {
            due: self._piece(due.start, due.end, due.step)
            for due in dues
            if due.kind == "before" or not {due.signal, due.given} & self.never
        }

    def _piece(self, start: Slot, end: Slot, step: int) -> Frame:
        if step == 1:
            return _cut(self.whole, start, end)
        assert (step, start % GRAIN, end % GRAIN) == (GRAIN, 0, 0)
        return _cut(self._coarse, start, end)

    @cached_property
    def _coarse(self) -> Frame:
        """The whole at the grain of a fit, from a multiple of it to a multiple of it."""
        start, end = self.start - self.start % GRAIN, self.end + -self.end % GRAIN
        padded = _cut(self.whole, start, end)
        inside = slice(self.start - start, self.end - start)
        weights = np.ones((padded.steps, len(self.deployments)))
        weights[inside] = self.weights
        values = {
            component: _reduced(component.aggregation, rows, weights)
            for component, rows in padded.values.items()
        }
        return replace(padded, step=GRAIN, steps=padded.steps // GRAIN, values=values)


def _cut(frame: Frame, start: Slot, end: Slot) -> Frame:
    """The steps [start, end) of a frame; views where they lie within it."""
    first, count = (start - frame.start) // frame.step, (end - start) // frame.step
    values = {component: _rows(rows, first, count) for component, rows in frame.values.items()}
    return replace(frame, start=start, steps=count, values=values)


def _rows(rows: Floats, first: int, count: int) -> Floats:
    if first >= 0 and first + count <= len(rows):
        return rows[first : first + count]
    wanted = np.full((count, rows.shape[1]), np.nan)
    begin, end = max(first, 0), min(first + count, len(rows))
    if begin < end:
        wanted[begin - first : end - first] = rows[begin:end]
    return wanted


def _reduced(aggregation: str, rows: Floats, weights: Floats) -> Floats:
    """GRAIN minutes as one; NaN where none of them has a point."""
    cells = rows.reshape(-1, GRAIN, rows.shape[1])
    if aggregation in ("minimum", "maximum"):
        best = np.fmin if aggregation == "minimum" else np.fmax
        extremes: Floats = best.reduce(cells, axis=1)
        return extremes
    known = ~np.isnan(cells)
    by = np.where(known, weights.reshape(cells.shape), 0.0) if aggregation == "average" else known
    sums = (np.where(known, cells, 0.0) * by).sum(axis=1)
    if aggregation == "average":
        sums = sums / np.maximum(by.sum(axis=1), 1e-300)
    reduced: Floats = np.where(known.any(axis=1), sums, np.nan)
    return reduced
