"""What the name of a series stands for: a signal, or a metric of Azure Monitor with its part."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from shared.model import Component
from shared.rulebook.catalogue import Metric, catalogue
from shared.rulebook.problems import ExpressionError, nearest
from shared.rulebook.rules import SignalDef
from shared.rulebook.units import BARE, MS, PERCENTS, Unit

Where = tuple[tuple[str, str], ...]
"""Which part of a metric, by dimension."""

_COMPONENT = re.compile(r"(\w+):(\w+)(?:\[([^\]]*)\])?")
_UNITS = {"MilliSeconds": MS, "Percent": PERCENTS}


@dataclass(frozen=True)
class Source:
    """What a name stands for: a component, or a formula."""

    name: str
    unit: Unit
    component: Component | None
    formula: SignalDef | None = None


def source_of(name: str, signals: Mapping[str, SignalDef]) -> Source:
    """The signal or metric of a name.

    Raises:
        ExpressionError: there is no such thing.
    """
    signal = signals.get(name)
    if signal:
        return Source(name, signal.unit, signal.component, None if signal.component else signal)
    match = _COMPONENT.fullmatch(name)
    if not match:
        raise _unknown(name, signals)
    metric = catalogue().get(match[1])
    if not metric:
        cure = nearest(match[1], catalogue(), "metrics")
        raise ExpressionError(f"unknown metric {match[1]}", cure)
    if match[2] not in metric.aggregations:
        cure = f"It has: {', '.join(metric.aggregations)}."
        raise ExpressionError(f"{metric.name} does not offer {match[2]}", cure)
    component = Component(metric.name, match[2], _where(match[3] or "", metric))
    return Source(name, _UNITS.get(metric.unit) or BARE, component)


def _unknown(name: str, signals: Mapping[str, SignalDef]) -> ExpressionError:
    if name[:1].isdigit() or name[:1] in "_(":
        cure = "In {} a comma begins the next entry: quote the series, or write a line for each."
        return ExpressionError(f"{name!r} is a value where a signal should stand", cure)
    cure = nearest(name, signals, "signals")
    return ExpressionError(
        f"unknown signal {name}", cure or "A metric is written like AzureOpenAITTLTInMS:average."
    )


def _where(text: str, metric: Metric) -> Where:
    found = []
    for pair in re.split("[,;]", text) if text else ():
        dimension, _, value = (part.strip() for part in pair.partition("="))
        if dimension not in metric.dimensions or not value:
            cure = f"Write it like [StatusCode=429]; it has: {', '.join(metric.dimensions)}."
            raise ExpressionError(f"{metric.name} has no part {pair!r}", cure)
        found.append((dimension, value))
    return tuple(sorted(found))
