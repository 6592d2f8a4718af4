"""Signal specs -> checked signals: metrics that are right, and formulas over them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from shared.model import Component
from shared.rulebook.ast import Binary, Node, Number, Signal, signals_of, walk
from shared.rulebook.catalogue import catalogue
from shared.rulebook.checks import extensive
from shared.rulebook.entry import Entry
from shared.rulebook.expressions import parse_value
from shared.rulebook.problems import nearest
from shared.rulebook.rules import TRAFFIC, SignalDef
from shared.rulebook.schema import SignalSpec
from shared.rulebook.sources import read_metric
from shared.rulebook.specs import Reporter
from shared.rulebook.typecheck import Names
from shared.rulebook.unit import PERCENTS, alike, parse_unit, quoted
from shared.rulebook.vocabulary import Vocabulary

TRAFFIC_CURE = "requests: {metric: AzureOpenAIRequests, aggregation: total, unit: requests}"
_GOOD_HIGH = ("CacheMatchRate", "AvailabilityRate")


def compile_signals(
    specs: Mapping[str, tuple[SignalSpec, Reporter]], written: Collection[str], partial: bool
) -> Vocabulary:
    """The signals; problems go to the reporter of the file that holds each.

    `written` are the names of all signals, of those without a usable spec as well; `partial` says
    that there may be others.
    """
    entries = {name: _entry(name, at) for name, (_, at) in specs.items()}
    units = {
        name: unit
        for name, (spec, _) in specs.items()
        if (unit := entries[name].read(parse_unit, spec.unit, "unit"))
    }
    names = Names(units, {}, frozenset(written) - units.keys(), partial)
    compiled: dict[str, SignalDef] = {}
    for name in units:
        spec, reporter = specs[name]
        before = reporter.errors
        signal = _signal(name, spec, names, entries[name])
        if signal and reporter.errors == before:
            compiled[name] = signal
    _weights(compiled, entries, names)
    _cycles(compiled, entries)
    _families(compiled, entries)
    _close(compiled)
    _traffic(compiled, entries)
    return Vocabulary(compiled, frozenset(written) - compiled.keys(), partial)


def _entry(name: str, reporter: Reporter) -> Entry:
    return Entry(reporter, ("signals", name), f"signal {name}")


def _signal(name: str, spec: SignalSpec, names: Names, entry: Entry) -> SignalDef | None:
    if bool(spec.metric) == bool(spec.formula):
        entry.error("it needs either a metric or a formula", "Write one of the two.")
        return None
    title, good = spec.title or name.replace("_", " "), spec.good
    if spec.formula:
        return _formula(name, spec, title, names, entry)
    unit = names.signals[name]
    metric = read_metric(spec, unit, entry)
    if metric is None:
        return None
    if not good and metric.name.endswith(_GOOD_HIGH):
        good = "high"
    if not good and (metric.name.endswith("InMS") or "Utilization" in metric.name):
        good = "low"
    component = Component(metric.name, spec.aggregation, tuple(sorted(spec.where.items())))
    return SignalDef(name, title, unit, component, spec.weight, good=good)


def _formula(
    name: str, spec: SignalSpec, title: str, names: Names, entry: Entry
) -> SignalDef | None:
    declared = names.signals[name]
    for key in ("aggregation", "weight", "where"):
        if getattr(spec, key):
            entry.error(f"a formula has no {key}", "Leave it out; its signals have it.", key)
    read = entry.read_expression(lambda text: parse_value(text, names), spec.formula, "formula")
    if read is None:
        return None
    node, unit = read
    if not signals_of(node) or any(not isinstance(n, Signal | Binary | Number) for n in walk(node)):
        cure = "Use functions in the rule instead."
        entry.error("a formula is of signals, numbers and + - * / alone", cure, "formula")
        return None
    percent = unit.bare and declared.bases == PERCENTS.bases
    if not percent and not alike(unit, declared):
        cure = 'Declare unit: 1, or unit: "%".' if unit.bare else f"Declare unit: {quoted(unit)}."
        entry.error(f"the formula gives {unit.words}, not {declared.words}", cure, "unit")
        return None
    return SignalDef(name, title, declared, formula=node, percent=percent, good=spec.good)


def _weights(compiled: dict[str, SignalDef], entries: Mapping[str, Entry], names: Names) -> None:
    known = names.signals.keys() | names.broken
    for signal in [signal for signal in compiled.values() if signal.weight]:
        weight = compiled.get(signal.weight)
        if weight and weight.component and weight.component.aggregation == "total":
            continue
        if weight or not (signal.weight in known or names.partial):
            cure = "Weigh by a total, e.g. weight: successful_requests."
            if not weight:
                cure = nearest(signal.weight, known, "signals") or cure
            entries[signal.name].error(f"{signal.weight} is no total to weigh by", cure, "weight")
        del compiled[signal.name]


def _cycles(compiled: dict[str, SignalDef], entries: Mapping[str, Entry]) -> None:
    circular = [name for name in compiled if name in _below(name, compiled)]
    for name in circular:
        cure = "Make one of the formulas of a circle from metrics."
        entries[name].error(f"the formula of {name} leads back to {name}", cure, "formula")
    for name in circular:
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


def _families(compiled: dict[str, SignalDef], entries: Mapping[str, Entry]) -> None:
    mixed = [name for name in compiled if len(_families_of(name, compiled)) > 1]
    for name in mixed:
        message = "it mixes metrics of both families, which count the same traffic"
        cure = "Use the AzureOpenAI* names alone, or the newer Models names alone."
        entries[name].error(message, cure)
    for name in mixed:
        del compiled[name]


def _families_of(name: str, compiled: Mapping[str, SignalDef]) -> set[str]:
    reach = {name, *_below(name, compiled)} | {compiled[name].weight}
    components = [compiled[n].component for n in reach if n in compiled]
    return {catalogue()[component.metric].family for component in components if component}


def _close(compiled: dict[str, SignalDef]) -> None:
    """Leaves out signals that need one that is wrong: its own error is said already."""
    while lost := [n for n in compiled if not _below(n, compiled) <= compiled.keys()]:
        for name in lost:
            del compiled[name]


def _traffic(compiled: dict[str, SignalDef], entries: Mapping[str, Entry]) -> None:
    if TRAFFIC in compiled and not extensive(Signal(TRAFFIC), compiled):
        entries[TRAFFIC].error("it must be a total", f"Write {TRAFFIC_CURE}.")
        del compiled[TRAFFIC]
