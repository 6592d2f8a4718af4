"""What an event shows: the sentence, the facts behind it, the curve, the metric. Pure."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from shared.engine.evaluate import Context, key_of
from shared.engine.lifecycle import Told
from shared.engine.windows import Windows
from shared.model import Chart, Component, Event, Evidence, Fact, time_of
from shared.rulebook.ast import (
    Ago,
    Baseline,
    BeforeChange,
    Binary,
    Compare,
    Deviation,
    Node,
    Signal,
    Window,
    signals_of,
    text_of,
    walk,
)
from shared.rulebook.rules import TRAFFIC
from shared.rulebook.typecheck import Names, unit_of
from shared.rulebook.units import BARE, Unit, show

MOST_FACTS = 5
CHART_MINUTES = 30


class Witness:
    """Reads one cell (a slot of a deployment) of a rule's context."""

    def __init__(self, context: Context, row: int, column: int) -> None:
        self.context, self.row, self.column = context, row, column
        self.rulebook, self.rule = context.rulebook, context.rule

    @cached_property
    def names(self) -> Names:
        return Names({name: signal.unit for name, signal in self.rulebook.signals.items()})

    def value(self, node: Node) -> float | None:
        value = float(self.context.value(node)[self.row, self.column])
        return value if math.isfinite(value) else None

    def shown(self, node: Node) -> str:
        unit = unit_of(node, self.names) or BARE
        if isinstance(node, Signal | Window | Ago):
            name = node.name if isinstance(node, Signal) else node.signal
            unit = self.rulebook.signals[name].unit
        return show(self.value(node), unit)

    def sentence(self) -> str:
        """The rule's summary, filled in; empty where a value is unknown."""
        parts = []
        for part in self.rule.summary:
            if isinstance(part, str):
                parts.append(part)
            elif self.value(part[0]) is None:
                return ""
            else:
                parts.append(show(self.value(part[0]), part[1]))
        return "".join(parts)

    def state(self) -> str:
        """The leading signal in one sentence, for an event that ends; empty where unknown."""
        compare = self.rule.leading
        if compare is None or self.value(compare.left) is None:
            return ""
        title = self._title(compare.left)
        return f"{title[:1].upper()}{title[1:]} is at {self.shown(compare.left)}"

    def facts(self) -> tuple[Fact, ...]:
        """A line for each signal of the condition, then what they are judged against."""
        facts: dict[str, Fact] = {}
        for node in walk(self.rule.when):
            if isinstance(node, Compare):
                fact = self._comparison(node)
                facts.setdefault(fact.name, fact)
        for name in self._background():
            title = self.rulebook.signals[name].title
            facts.setdefault(title, Fact(title, self.shown(Signal(name))))
        for fact in self._changes():
            facts.setdefault(fact.name, fact)
        return tuple(facts.values())[:MOST_FACTS]

    def _comparison(self, node: Compare) -> Fact:
        threshold = f"{_SIGNS[node.op]} {self.shown(node.right)}"
        normal = next((n for n in walk(node) if isinstance(n, Baseline | BeforeChange)), None)
        reference = ""
        if normal is not None and normal != node.left:
            word = "expected" if isinstance(normal, Baseline) else "before"
            reference = f"{self.shown(normal)} {word}"
        return Fact(self._title(node.left), self.shown(node.left), reference, threshold)

    def _title(self, node: Node) -> str:
        signals = self.rulebook.signals
        match node:
            case Signal():
                return signals[node.name].title
            case Window():
                how = {"avg": "mean", "sum": "total"}.get(node.how, f"{node.how}imum")
                return f"{signals[node.signal].title}, {how} of {node.minutes} min"
            case Deviation():
                return f"{signals[node.signal].title}, standard deviations off"
            case BeforeChange():
                return f"{signals[node.signal].title} before the change"
            case Binary(op="-", left=BeforeChange() as left, right=Signal()):
                return f"{signals[left.signal].title}, loss"
            case _:
                return text_of(node)

    def _background(self) -> list[str]:
        """Signals that explain: what baselines are given, and the traffic."""
        given = [
            n.given for n in walk(self.rule.when) if isinstance(n, Baseline | Deviation) and n.given
        ]
        return list(dict.fromkeys([*given, *signals_of(self.rule.needs), TRAFFIC]))

    def _changes(self) -> list[Fact]:
        found = {}
        for node in walk(self.rule.when):
            if isinstance(node, BeforeChange):
                fit = self.context.setting.fits[key_of(node)][self.column]
                if fit:
                    when = f"{time_of(fit.slot):%H:%M} UTC"
                    name = f"{node.kind.replace('_', ' ')} changed"
                    found[name] = Fact(name, when, fit.reference)
        return list(found.values())

    def leading(self) -> float | None:
        """The value of the leading signal."""
        compare = self.rule.leading
        return self.value(compare.left) if compare else None

    def chart(self) -> Chart | None:
        """The leading signal minute by minute up to this slot."""
        compare = self.rule.leading
        name = next(iter(signals_of(compare.left)), "") if compare else ""
        if not compare or not name:
            return None
        windows = self.context.windows
        last = windows.first + self.row
        first = max(last - CHART_MINUTES + 1, 0)
        alone = Windows(windows.frame, self.rulebook.signals, first, last - first + 1, 1)
        values = alone.value(name, alone.lengths(1))[:, self.column]
        signal = self.rulebook.signals[name]
        return Chart(
            title=signal.title,
            unit=str(signal.unit),
            start=windows.frame.start + first,
            values=tuple(_rounded(value, signal.unit) for value in values),
            threshold=(_rounded(self.value(compare.right), signal.unit),) * len(values),
        )

    def evidence(self) -> Evidence | None:
        """The metric of the leading signal, or of the first part of its formula."""
        compare = self.rule.leading
        names = signals_of(compare.left if compare else self.rule.when)
        components: tuple[Component, ...] = self.rulebook.components(*names)
        return Evidence(components[0].metric, components[0].aggregation) if components else None


def event_of(told: Told, witness: Witness, region: str) -> Event:
    """The event of a change of state, with its evidence as of the witness's cell."""
    rule, worst = witness.rule, told.alert.worst
    return told.event(
        severity=rule.severity,
        owner=rule.owner,
        runbook=rule.runbook,
        region=region,
        summary=witness.state() if told.kind == "resolved" else witness.sentence(),
        worst=show(worst, _leading_unit(witness)) if worst is not None else "",
        facts=witness.facts(),
        chart=witness.chart(),
        evidence=witness.evidence(),
    )


def farewell(told: Told, region: str) -> Event:
    """The event of an alert that ends from outside: there is no condition left to show."""
    return told.event(severity="info", region=region, summary=_FAREWELLS[told.reason])


def _leading_unit(witness: Witness) -> Unit:
    compare = witness.rule.leading
    return (unit_of(compare.left, witness.names) if compare else None) or BARE


def _rounded(value: float | np.float64 | None, unit: Unit) -> float | None:
    """In its unit, with six significant digits: enough to draw, and the same wherever computed."""
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value / unit.scale:.6g}")


_FAREWELLS = {
    "rule removed": "The rule was removed or no longer covers this deployment.",
    "new normal": "It has been so for a day, and counts as normal from now on.",
    "no longer watched": "The account was taken out of the settings.",
}
_SIGNS = {
    "<": "below",
    "<=": "at most",
    ">": "above",
    ">=": "at least",
    "==": "equal to",
    "!=": "not",
}
