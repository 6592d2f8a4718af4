"""Signal specs -> checked signals: the metric exists, is the right one, offers what is asked."""

from __future__ import annotations

from collections.abc import Mapping

from shared.model import Component
from shared.rulebook.ast import Binary, Node, Number, Signal, signals_of, walk
from shared.rulebook.catalogue import REPLACEMENTS, Metric, catalogue
from shared.rulebook.expressions import parse_value
from shared.rulebook.problems import ExpressionError, nearest
from shared.rulebook.rules import SignalDef
from shared.rulebook.schema import SignalSpec
from shared.rulebook.specs import Reporter
from shared.rulebook.typecheck import Names
from shared.rulebook.units import BARE, MS, PERCENTS, Unit, parse_unit

_METRIC_UNITS = {"MilliSeconds": MS, "Percent": PERCENTS}
_GOOD_HIGH = ("CacheMatchRate", "AvailabilityRate")


def compile_signals(
    specs: Mapping[str, tuple[SignalSpec, Reporter]],
) -> dict[str, SignalDef]:
    """The signals that are right; problems go to the reporter of the file that holds each."""
    units = {name: unit for name, (spec, at) in specs.items() if (unit := _unit(name, spec, at))}
    compiled: dict[str, SignalDef] = {}
    for name, (spec, reporter) in specs.items():
        before = len(reporter.problems)
        signal = _signal(name, spec, units, reporter) if name in units else None
        if signal and len(reporter.problems) == before:
            compiled[name] = signal
    _weights(compiled, specs)
    _cycles(compiled, specs)
    _families(compiled, specs)
    return _closed(compiled)


def _unit(name: str, spec: SignalSpec, reporter: Reporter) -> Unit | None:
    try:
        return parse_unit(spec.unit)
    except ValueError as error:
        cure = "Use ms, s, %, a count such as requests, a rate such as tokens/request, or 1."
        reporter.error(("signals", name, "unit"), str(error), cure)
        return None


def _signal(
    name: str, spec: SignalSpec, units: Mapping[str, Unit], reporter: Reporter
) -> SignalDef | None:
    path = ("signals", name)
    if bool(spec.metric) == bool(spec.formula):
        reporter.error(path, f"signal {name} needs either a metric or a formula")
        return None
    title, good = spec.title or name.replace("_", " "), spec.good
    if spec.formula:
        return _formula(name, spec, title, units, reporter)
    metric = _metric(name, spec, units[name], reporter)
    if metric is None:
        return None
    where = tuple(sorted(spec.where.items()))
    if not good and metric.name.endswith(_GOOD_HIGH):
        good = "high"
    if not good and (metric.name.endswith("InMS") or "Utilization" in metric.name):
        good = "low"
    component = Component(metric.name, spec.aggregation, where)
    return SignalDef(name, title, units[name], component, spec.weight, good=good)


def _metric(name: str, spec: SignalSpec, unit: Unit, reporter: Reporter) -> Metric | None:
    path = ("signals", name, "metric")
    if spec.metric in REPLACEMENTS:
        message = f"{spec.metric} is not to be used for Azure OpenAI: it misleads or is deprecated"
        reporter.error(path, message, f"Use {REPLACEMENTS[spec.metric]}.")
        return None
    metric = catalogue().get(spec.metric)
    if metric is None:
        cure = nearest(spec.metric, catalogue(), "metrics")
        reporter.error(path, f"unknown metric {spec.metric}", cure)
        return None
    if metric.family == "Agents":
        reporter.error(path, f"{metric.name} is a metric of projects, which are not read yet")
    if spec.aggregation not in metric.aggregations:
        asked = spec.aggregation or "no aggregation"
        cure = f"It has: {', '.join(metric.aggregations)}."
        reporter.error(
            ("signals", name, "aggregation"), f"{metric.name} does not offer {asked}", cure
        )
    for dimension in spec.where:
        if dimension not in metric.dimensions:
            cure = f"It has: {', '.join(metric.dimensions)}."
            reporter.error(
                ("signals", name, "where", dimension),
                f"{metric.name} has no dimension {dimension}",
                cure,
            )
    if spec.weight and spec.aggregation != "average":
        reporter.error(
            ("signals", name, "weight"),
            f"{spec.aggregation} values are not weighted",
            "Leave it out.",
        )
    wanted = _METRIC_UNITS.get(metric.unit)
    if (wanted and unit != wanted) or unit.scale != 1 or (not wanted and not unit.counted):
        cure = f"Write unit: {wanted or 'requests, tokens or another count'}."
        reporter.error(("signals", name, "unit"), f"{metric.name} is not measured in {unit}", cure)
    return metric


def _formula(
    name: str, spec: SignalSpec, title: str, units: Mapping[str, Unit], reporter: Reporter
) -> SignalDef | None:
    path, declared = ("signals", name, "formula"), units[name]
    for key in ("aggregation", "weight"):
        if getattr(spec, key):
            reporter.error((*path[:2], key), f"a formula has no {key}")
    try:
        node, unit = parse_value(spec.formula, Names(units))
    except ExpressionError as error:
        cure = f"Column {error.column} of the formula. {error.cure}".strip()
        reporter.error(path, f"formula of {name}: {error.message}", cure)
        return None
    if any(not isinstance(n, Signal | Binary | Number) for n in walk(node)):
        reporter.error(path, f"formula of {name}: only signals, numbers and + - * / may stand here")
        return None
    percent = declared.bases == PERCENTS.bases and unit.bases == BARE.bases
    if not percent and unit.bases != declared.bases:
        cure = f"Declare unit: {unit}." if not unit.bare else 'Declare unit: 1, or unit: "%".'
        reporter.error((*path[:2], "unit"), f"the formula gives {unit}, not {declared}", cure)
        return None
    return SignalDef(name, title, declared, formula=node, percent=percent, good=spec.good)


def _weights(
    compiled: dict[str, SignalDef], specs: Mapping[str, tuple[SignalSpec, Reporter]]
) -> None:
    for signal in list(compiled.values()):
        if not signal.weight:
            continue
        weight, reporter = compiled.get(signal.weight), specs[signal.name][1]
        if weight and weight.component and weight.component.aggregation == "total":
            continue
        cure = "Weigh by a total, e.g. weight: successful_requests."
        if signal.weight not in specs:
            cure = nearest(signal.weight, specs, "signals") or cure
        path = ("signals", signal.name, "weight")
        reporter.error(path, f"{signal.weight} is no total to weigh by", cure)
        del compiled[signal.name]


def _cycles(
    compiled: dict[str, SignalDef], specs: Mapping[str, tuple[SignalSpec, Reporter]]
) -> None:
    for name in list(compiled):
        if name in _below(name, compiled):
            path = ("signals", name, "formula")
            specs[name][1].error(path, f"the formula of {name} leads back to {name}")
    for name in [name for name in compiled if name in _below(name, compiled)]:
        del compiled[name]


def _below(name: str, compiled: Mapping[str, SignalDef]) -> set[str]:
    """Every signal that a signal's formula reaches."""
    reached: set[str] = set()
    open_names = list(signals_of(_formula_of(name, compiled)))
    while open_names:
        inner = open_names.pop()
        if inner not in reached:
            reached.add(inner)
            open_names.extend(signals_of(_formula_of(inner, compiled)))
    return reached


def _formula_of(name: str, compiled: Mapping[str, SignalDef]) -> Node | None:
    return compiled[name].formula if name in compiled else None


def _families(
    compiled: Mapping[str, SignalDef], specs: Mapping[str, tuple[SignalSpec, Reporter]]
) -> None:
    for name, signal in compiled.items():
        reach = {name, *_below(name, compiled)} | ({signal.weight} if signal.weight else set())
        components = [compiled[n].component for n in reach if n in compiled]
        families = {catalogue()[c.metric].family for c in components if c}
        if len(families) > 1:
            specs[name][1].error(
                ("signals", name),
                f"signal {name} mixes metrics of both families, which count the same traffic",
                "Use the AzureOpenAI* names alone, or the newer Models names alone.",
            )


def _closed(compiled: dict[str, SignalDef]) -> dict[str, SignalDef]:
    """Without the signals that need one that is wrong: its own error is said already."""
    while True:
        lost = [n for n in compiled if not _below(n, compiled) <= compiled.keys()]
        if not lost:
            return compiled
        for name in lost:
            del compiled[name]
