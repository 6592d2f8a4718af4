"""Checks of a signal that is a metric: it exists, is the right one, offers what is asked."""

from __future__ import annotations

import re
from functools import partial

from shared.rulebook.catalogue import REPLACEMENTS, Metric, catalogue
from shared.rulebook.entry import Entry
from shared.rulebook.problems import TextError, closest, nearest
from shared.rulebook.schema import SignalSpec
from shared.rulebook.unit import Unit, quoted

STATUS = "StatusCode"
_CODE = re.compile("[1-5](?:[0-9]{2}|xx)", re.IGNORECASE)
_CLASS = re.compile("[1-5]xx", re.IGNORECASE)
_DEPLOYMENT = "ModelDeploymentName"


def read_metric(spec: SignalSpec, unit: Unit, entry: Entry) -> Metric | None:
    """The metric of a signal; None if there is no such metric. Reports all else that is wrong."""
    if spec.metric in REPLACEMENTS:
        message = f"{spec.metric} is not to be used for Azure OpenAI: it misleads or is deprecated"
        entry.error(message, f"Use {REPLACEMENTS[spec.metric]}.", "metric")
        return None
    metric = catalogue().get(spec.metric)
    if metric is None:
        cure = nearest(spec.metric, catalogue(), "metrics")
        cure = cure or "The metrics are those of shared/rulebook/metrics.csv."
        entry.error(f"unknown metric {spec.metric}", cure, "metric")
        return None
    if metric.family == "Agents":
        message = f"{metric.name} is a metric of projects, which are not read yet"
        entry.error(message, "Use a metric of deployments.", "metric")
    _check_aggregation(metric, spec, entry)
    _check_unit(metric, unit, entry)
    for dimension, pattern in spec.where.items():
        if dimension not in metric.dimensions:
            _unknown_dimension(metric, dimension, entry)
        else:
            entry.read(partial(_check_part, dimension), pattern, "where", dimension)
    _check_classes(spec, entry)
    return metric


def _check_aggregation(metric: Metric, spec: SignalSpec, entry: Entry) -> None:
    if spec.aggregation not in metric.aggregations:
        asked = spec.aggregation or "no aggregation"
        cure = f"It has: {', '.join(metric.aggregations)}."
        entry.error(f"{metric.name} does not offer {asked}", cure, "aggregation")
    if spec.weight and spec.aggregation != "average":
        entry.error(f"{spec.aggregation} values are not weighted", "Leave it out.", "weight")


def _check_unit(metric: Metric, unit: Unit, entry: Entry) -> None:
    """A time may say what it is of: `ms/token` for the time between tokens."""
    wanted = metric.measured
    right = unit.counted if wanted is None else unit.bases == wanted.bases
    if wanted is not None and wanted.measured:
        right = unit.measured == wanted.measured
    if not right or unit.scale != 1:
        cure = f"Write unit: {quoted(wanted) if wanted else 'events, or another count'}."
        entry.error(f"{metric.name} is not measured in {unit.words}", cure, "unit")


def _unknown_dimension(metric: Metric, dimension: str, entry: Entry) -> None:
    near = closest(dimension, metric.dimensions)
    cure = f"It has: {', '.join(metric.dimensions)}."
    message = f"{metric.name} has no dimension {dimension}"
    entry.error(message, f"Did you mean {near}? {cure}" if near else cure, "where", dimension)


def _check_part(dimension: str, value: str) -> str:
    """The value again; raises TextError where no series can have it."""
    if dimension == _DEPLOYMENT:
        cure = f'Write scope: {{deployments: ["{value}"]}} in the rule.'
        raise TextError("a signal is of one deployment anyway", cure)
    if dimension == STATUS and not _CODE.fullmatch(value):
        cure = "Write a code such as 429, or a class: 1xx, 2xx, 3xx, 4xx or 5xx."
        raise TextError(f"{value!r} is no status code and no class of them", cure)
    if dimension != STATUS and (not value.strip() or re.search("[*?!]", value)):
        cure = "Write one value, as Azure Monitor shows it."
        raise TextError(f"{value!r} is no value of {dimension}", cure)
    return value


def _check_classes(spec: SignalSpec, entry: Entry) -> None:
    """A class is several series, and only totals add up."""
    pattern = spec.where.get(STATUS, "")
    if _CLASS.fullmatch(pattern) and spec.aggregation not in ("total", ""):
        message = f"{pattern} is several series, and their {spec.aggregation} cannot be told"
        cure = "Write one code, e.g. 200: only totals take a class."
        entry.error(message, cure, "where", STATUS)
