"""Checked signals and rules, ready to be judged. Made by `load`, read by the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Literal

from shared.model import Account, Component, Deployment, Severity
from shared.rulebook.ast import (
    Ago,
    Baseline,
    BeforeChange,
    Compare,
    Deviation,
    Node,
    Signal,
    Window,
    signals_of,
    walk,
)
from shared.rulebook.problems import Mark, Problem
from shared.rulebook.scope import Scope
from shared.rulebook.silences import Silence
from shared.rulebook.units import Unit

Fitted = Baseline | Deviation | BeforeChange

TRAFFIC = "requests"
"""The signal that tells an idle deployment from a silent metric; every rulebook defines it."""


@dataclass(frozen=True)
class SignalDef:
    """A named value: either a component of Azure Monitor or a formula over other signals."""

    name: str
    title: str
    unit: Unit
    component: Component | None = None
    weight: str = ""
    formula: Node | None = None
    percent: bool = False
    """The formula is a bare ratio that is declared in %: multiply by 100."""
    good: Literal["high", "low", ""] = ""


@dataclass(frozen=True)
class Hold:
    """How long a breach must last: `breaches` of the last `among` known slots, or `minutes`."""

    minutes: int = 0
    breaches: int = 0
    among: int = 0


@dataclass(frozen=True)
class Override:
    scope: Scope
    parameters: Mapping[str, float]


@dataclass(frozen=True)
class Rule:
    name: str
    severity: Severity
    owner: str
    summary: tuple[str | tuple[Node, Unit], ...]
    runbook: str
    when: Node
    until: Node | None = None
    needs: Node | None = None
    shortest: int = 5
    longest: int = 5
    hold: Hold = field(default_factory=lambda: Hold(minutes=5))
    keep_firing: int = 10
    remind_every: int = 0
    """Minutes after which people are told again while it fires; 0 for never."""
    unless: tuple[str, ...] = ()
    """Rules that say more: while one of them fires on the deployment, this one is not told."""
    mode: Literal["notify", "observe"] = "notify"
    scope: Scope = field(default_factory=Scope)
    parameters: Mapping[str, float] = field(default_factory=dict)
    overrides: tuple[Override, ...] = ()
    mark: Mark = field(default_factory=lambda: Mark(""))

    @property
    def observed(self) -> bool:
        """Tracked and shown, but nobody is told."""
        return self.mode == "observe"

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """All conditions, for what they mention."""
        return tuple(node for node in (self.when, self.until, self.needs) if node)

    @cached_property
    def shown(self) -> tuple[Node, ...]:
        """The expressions that the summary fills in."""
        return tuple(part[0] for part in self.summary if not isinstance(part, str))

    @cached_property
    def signals(self) -> tuple[str, ...]:
        return signals_of(*self.nodes)

    @cached_property
    def fits(self) -> tuple[Fitted, ...]:
        """What the conditions compare with, so that nothing is known without it."""
        return _fitted(self.nodes)

    @cached_property
    def asked(self) -> tuple[Fitted, ...]:
        """What history has to answer, for the conditions and for the summary."""
        return _fitted((*self.nodes, *self.shown))

    @cached_property
    def leading(self) -> Compare | None:
        """The comparison that a chart shows: the first one of a signal on its left side."""
        compares = [node for node in walk(self.when) if isinstance(node, Compare)]
        plain = [node for node in compares if isinstance(node.left, Signal | Window | Ago)]
        return next(iter(plain or compares), None)

    def parameter(self, name: str, account: Account, deployment: Deployment) -> float:
        """The value for a deployment: of the last override that covers it, else the rule's."""
        for override in reversed(self.overrides):
            if name in override.parameters and override.scope.matches(account, deployment):
                return override.parameters[name]
        return self.parameters[name]


def _fitted(roots: tuple[Node, ...]) -> tuple[Fitted, ...]:
    found = (n for root in roots for n in walk(root))
    return tuple(dict.fromkeys(n for n in found if isinstance(n, Fitted)))


@dataclass(frozen=True)
class Rulebook:
    """All signals and rules of a folder; what was wrong with it is in `problems`."""

    signals: Mapping[str, SignalDef]
    rules: tuple[Rule, ...]
    problems: tuple[Problem, ...] = ()
    build: int = 0
    silences: tuple[Silence, ...] = ()

    @cached_property
    def judged(self) -> tuple[Rule, ...]:
        """The rules, each after those that it is not told for (`unless`)."""
        rules = {rule.name: rule for rule in self.rules}
        before = {name: [o for o in rule.unless if o in rules] for name, rule in rules.items()}
        return tuple(rules[name] for name in TopologicalSorter(before).static_order())

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if not problem.warning)

    def components(self, *signals: str) -> tuple[Component, ...]:
        """The components that the signals, their formulas and their weights are made of."""
        found: dict[Component, None] = {}
        for name in signals:
            signal = self.signals[name]
            if signal.component:
                found[signal.component] = None
            below = signals_of(signal.formula) + ((signal.weight,) if signal.weight else ())
            for component in self.components(*below) if below else ():
                found[component] = None
        return tuple(found)

    @cached_property
    def needed(self) -> tuple[Component, ...]:
        """Every component that the rules need, traffic included, each once."""
        names = {TRAFFIC: None} | {s: None for rule in self.rules for s in rule.signals}
        for rule in self.rules:
            names |= dict.fromkeys(signals_of(*rule.shown))
        return self.components(*names)
