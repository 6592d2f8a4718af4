"""What a recording holds: tapes, and the names of their columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from emulator.catalogue import metrics

KEYS = ("time", "account", "deployment")
_COLUMN = re.compile(r"(?P<metric>\w+):(?P<aggregation>\w+)(?:\[(?P<where>[^\]]+)\])?")


class RecordingError(ValueError):
    """A recording that cannot be read; the text says file, line and column, and what to do."""


@dataclass(frozen=True, slots=True)
class Component:
    """One column of values: a metric, how it is aggregated, and which part of it."""

    metric: str
    aggregation: str
    where: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        part = ";".join(f"{name}={value}" for name, value in self.where)
        return f"{self.metric}:{self.aggregation}" + (f"[{part}]" if part else "")


@dataclass(frozen=True, slots=True, eq=False)
class Tape:
    """The minutes of one deployment from `begin` on, an array a component; NaN is no point."""

    account: str
    """Its resource id as the file spells it first; likewise the deployment's name."""
    deployment: str
    begin: int
    """The first minute, since 1970."""
    columns: Mapping[Component, NDArray[np.float64]]


def components(path: Path, names: Sequence[str]) -> dict[str, Component]:
    """The component of each column of values, or a RecordingError that names what is wrong."""
    if tuple(names[: len(KEYS)]) != KEYS:
        raise RecordingError(f"{path}: line 1: the first columns must be {', '.join(KEYS)}")
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise RecordingError(f"{path}: line 1: column {doubled[0]} is given twice")
    if len(names) == len(KEYS):
        raise RecordingError(f"{path}: line 1: there are no columns of values")
    found = {name: _component(path, name) for name in names[len(KEYS) :]}
    _refuse_mixtures(path, list(found.values()))
    return found


def _component(path: Path, column: str) -> Component:
    match = _COLUMN.fullmatch(column)
    metric = metrics().get(match["metric"].casefold()) if match else None
    if not match or not metric or match["aggregation"] not in metric.aggregations:
        raise RecordingError(
            f"{path}: line 1: column {column!r} names no metric and aggregation: write "
            "METRIC:AGGREGATION as shared/rulebook/metrics.csv has them, e.g. GeneratedTokens:total"
        )
    pairs = [pair.partition("=") for pair in (match["where"] or "").split(";") if pair]
    where = tuple((metric.dimension(name), value) for name, _, value in pairs)
    named = tuple((name, value) for name, value in where if name and value)
    if named != where:
        raise RecordingError(f"{path}: line 1: column {column!r} names an unknown dimension")
    return Component(metric.name, match["aggregation"], named)


def _refuse_mixtures(path: Path, found: Sequence[Component]) -> None:
    """A whole beside its parts would be counted twice, and so would parts of another kind."""
    split: dict[tuple[str, str], set[str]] = {}
    for number, part in enumerate(found):
        by = {name for name, _ in part.where}
        other = split.setdefault((part.metric, part.aggregation), by)
        if by != other and not (by and other):
            raise RecordingError(f"{path}: line 1: {part.metric} is given whole and in parts")
        if by != other:
            raise RecordingError(f"{path}: line 1: {part.metric} is divided in more than one way")
        if part in found[:number]:
            raise RecordingError(f"{path}: line 1: column {part} is given twice")
