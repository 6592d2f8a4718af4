"""What Azure Monitor said, as arrays: one a component, steps x deployments, NaN for no point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.model import Component, Deployment, Reading, Series, Slot

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Frame:
    """Values over time. Step n covers the slots [start + n * step, start + (n + 1) * step)."""

    start: Slot
    step: int
    """Minutes a step."""
    steps: int
    deployments: tuple[Deployment, ...]
    values: Mapping[Component, Floats]
    failed: Mapping[Component, Bools]
    """By component: whether the query failed, a value a deployment."""

    def row(self, slot: Slot) -> int:
        return (slot - self.start) // self.step

    def seen(self) -> NDArray[np.int64]:
        """The first step at which a deployment has any point; `steps` where it has none."""
        present = np.zeros((self.steps, len(self.deployments)), dtype=bool)
        for values in self.values.values():
            present |= ~np.isnan(values)
        return np.where(present.any(axis=0), present.argmax(axis=0), self.steps)


def deployments_in(reading: Reading, known: Iterable[Deployment]) -> tuple[Deployment, ...]:
    """Every deployment that is known or has a series, sorted; one spelling each (the known one)."""
    found = {deployment.key: deployment for deployment in known}
    for series in reading.series:
        found.setdefault(series.deployment.key, series.deployment)
    return tuple(sorted(found.values()))


def frame_of(
    reading: Reading, deployments: Sequence[Deployment], components: Iterable[Component]
) -> Frame:
    """Composes the components from the series that were read.

    A component with `where` is the sum of the series it matches; where its whole has requests in a
    step and the part has none, the part is 0 there, since the same query answered both.
    """
    column = {deployment.key: n for n, deployment in enumerate(deployments)}
    by_metric: dict[tuple[str, str], list[Series]] = {}
    for series in reading.series:
        by_metric.setdefault((series.metric.casefold(), series.aggregation), []).append(series)
    values, failed = {}, {}
    for component in components:
        candidates = by_metric.get((component.metric.casefold(), component.aggregation), [])
        shape = (reading.steps, len(deployments))
        values[component] = _compose(component, candidates, column, shape)
        failed[component] = np.array(
            [(d.account, component) in reading.failures for d in deployments], dtype=bool
        )
    return Frame(reading.start, reading.step, reading.steps, tuple(deployments), values, failed)


def _compose(
    component: Component,
    candidates: Iterable[Series],
    column: Mapping[str, int],
    shape: tuple[int, int],
) -> Floats:
    whole, part = np.full(shape, np.nan), np.full(shape, np.nan)
    names = {name.casefold() for name, _ in component.where}
    split_total = bool(component.where) and component.aggregation == "total"
    for series in candidates:
        n = column.get(series.deployment.key)
        split = {name.casefold() for name, _ in series.dimensions}
        # Totals add up over any split; an average only stands for the split it was asked with.
        if n is None or (component.aggregation != "total" and split != names):
            continue
        if split_total:
            _add(whole, n, series.values)
        if matches(component.where, series.dimensions):
            _add(part, n, series.values)
    if not split_total:
        return part
    absent = np.isnan(part) & (whole > 0)
    return np.where(absent, 0.0, part)


def _add(into: Floats, column: int, values: Floats) -> None:
    """Adds where both have a point, and takes the one that has where only one has."""
    before = into[:, column]
    into[:, column] = np.where(
        np.isnan(before), values, before + np.where(np.isnan(values), 0.0, values)
    )


def matches(where: tuple[tuple[str, str], ...], dimensions: tuple[tuple[str, str], ...]) -> bool:
    """Whether a series is of the part that `where` names; `2xx` stands for its whole class."""
    found = {name.casefold(): value for name, value in dimensions}
    return all(_fits(pattern, found.get(name.casefold(), "")) for name, pattern in where)


def _fits(pattern: str, value: str) -> bool:
    if len(pattern) == 3 and pattern[0].isdigit() and pattern[1:].lower() == "xx":
        return len(value) == 3 and value.isdigit() and value[0] == pattern[0]
    return pattern.casefold() == value.casefold()
