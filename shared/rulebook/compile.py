"""Rule specs -> checked rules."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from shared.rulebook.ast import Binary, Compare, Node, Number, Signal, Window, walk
from shared.rulebook.expressions import parse_condition, parse_value
from shared.rulebook.problems import ExpressionError, Mark, Problem, nearest
from shared.rulebook.rules import Hold, Override, Rule, Scope, SignalDef
from shared.rulebook.schema import RuleSpec, ScopeSpec
from shared.rulebook.specs import Reporter
from shared.rulebook.typecheck import Names
from shared.rulebook.units import Unit, parse_literal, parse_minutes
from shared.rulebook.yamlfile import Path

LONGEST_WINDOW = 60
_HOLE = re.compile(r"\{([^{}]*)\}")
_ORDER = {"<", "<=", ">", ">="}
_N_OF_M = re.compile(r"(\d+) of (\d+)")


def compile_rule(
    spec: RuleSpec, path: Path, signals: Mapping[str, SignalDef], reporter: Reporter
) -> Rule | None:
    """The rule, or None after reporting everything that is wrong with it."""
    before = reporter.errors
    rule = _Compiler(spec, path, signals, reporter).rule()
    return rule if reporter.errors == before else None


class _Compiler:
    def __init__(
        self, spec: RuleSpec, path: Path, signals: Mapping[str, SignalDef], reporter: Reporter
    ) -> None:
        self.spec, self.path, self.signals, self.reporter = spec, path, signals, reporter
        self.title = spec.name or "this rule"
        self.parameters: dict[str, float] = {}
        units: dict[str, Unit] = {}
        for name, text in spec.parameters.items():
            literal = self._literal(text, "parameters", name)
            if literal and name in signals:
                self._error(f"parameter {name} has the name of a signal", "", "parameters", name)
            elif literal:
                self.parameters[name], units[name] = literal
        self.units = units
        self.names = Names({name: s.unit for name, s in signals.items()}, units)

    def rule(self) -> Rule | None:
        spec = self.spec
        when = self._condition("when") if spec.when else None
        until = self._condition("until") if spec.until else None
        needs = self._condition("needs") if spec.needs else None
        shortest, longest = self._over()
        rule = Rule(
            name=spec.name,
            severity=spec.severity,
            owner=spec.owner,
            summary=self._summary(),
            runbook=spec.runbook,
            when=when or Number(0, Unit()),
            until=until,
            needs=needs,
            shortest=shortest,
            longest=longest,
            hold=self._hold(),
            keep_firing=self._minutes("keep_firing_for", spec.keep_firing_for) or 0,
            mode=spec.mode,
            scope=_scope(spec.scope),
            parameters=self.parameters,
            overrides=self._overrides(),
            mark=self.reporter.document.value(*self.path),
        )
        if when:
            self._window_use(rule)
            self._direction(when)
            self._unreachable(when, until)
        return rule if when else None

    def _condition(self, field: Literal["when", "until", "needs"]) -> Node | None:
        try:
            return parse_condition(getattr(self.spec, field), self.names)
        except ExpressionError as error:
            self._expression_error(error, field)
            return None

    def _expression_error(self, error: ExpressionError, field: str, offset: int = 0) -> None:
        mark = self.reporter.document.value(*self.path, field)
        place = Mark(mark.file, mark.line, mark.column + offset + error.column - 1)
        message = f"{field} of {self.title}: {error.message}"
        self.reporter.problems.append(Problem(place, message, error.cure))

    def _summary(self) -> tuple[str | tuple[Node, Unit], ...]:
        parts: list[str | tuple[Node, Unit]] = []
        end = 0
        for hole in _HOLE.finditer(self.spec.summary):
            parts.append(self.spec.summary[end : hole.start()])
            end = hole.end()
            try:
                parts.append(parse_value(hole[1], self.names))
            except ExpressionError as error:
                self._expression_error(error, "summary", hole.start() + 1)
        return (*parts, self.spec.summary[end:])

    def _over(self) -> tuple[int, int]:
        first, _, last = self.spec.over.partition("..")
        shortest = self._minutes("over", first)
        longest = self._minutes("over", last) if last else shortest
        if shortest is None or longest is None:
            return 5, 5
        if not 1 <= shortest <= longest <= LONGEST_WINDOW:
            cure = "Write over: 5m, or over: 10m..30m for a window that grows."
            self._error(f"a window lasts from 1 to {LONGEST_WINDOW} minutes", cure, "over")
            return 5, 5
        if longest > shortest and not self.spec.needs:
            self._error(
                "a window that grows needs to know when it is long enough",
                "Add needs, e.g. needs: requests >= 5.",
                "over",
            )
        return shortest, longest

    def _hold(self) -> Hold:
        match = _N_OF_M.fullmatch(self.spec.hold)
        if not match:
            return Hold(minutes=self._minutes("for", self.spec.hold) or 0)
        breaches, among = int(match[1]), int(match[2])
        if not 1 <= breaches <= among <= 60:
            self._error("n of m needs 1 <= n <= m <= 60", "Write for: 3 of 5.", "for")
        return Hold(breaches=breaches, among=among)

    def _overrides(self) -> tuple[Override, ...]:
        result = []
        for n, override in enumerate(self.spec.overrides):
            values: dict[str, float] = {}
            for name, text in override.parameters.items():
                where: Path = ("overrides", n, "parameters", name)
                if name not in self.units:
                    cure = nearest(name, self.units, "parameters")
                    self._error(f"the rule has no parameter {name}", cure, *where)
                    continue
                literal = self._literal(text, *where)
                if literal and literal[1].bases != self.units[name].bases:
                    self._error(f"{name} is not measured in {literal[1]}", "", *where)
                elif literal:
                    values[name] = literal[0]
            result.append(Override(_scope(override.scope), values))
        return tuple(result)

    def _literal(self, text: str, *where: str | int) -> tuple[float, Unit] | None:
        try:
            return parse_literal(text)
        except ValueError as error:
            self._error(str(error), "", *where)
            return None

    def _minutes(self, field: str, text: str) -> int | None:
        try:
            return parse_minutes(text)
        except ValueError as error:
            self._error(str(error), "", field)
            return None

    def _window_use(self, rule: Rule) -> None:
        for fitted in rule.asked:
            if extensive(Signal(fitted.signal), self.signals):
                self._error(
                    f"what is normal for {fitted.signal} depends on the length of the window",
                    "Compare a quotient, e.g. tokens_per_answer, or an average.",
                    "when",
                )
        for node in (n for root in (*rule.nodes, *rule.shown) for n in walk(root)):
            if not isinstance(node, Window) or node.how != "sum":
                continue
            if not extensive(Signal(node.signal), self.signals):
                message = f"sum({node.signal}) adds up values that are no totals"
                self._error(message, "Use avg, min or max.", "when")

    def _direction(self, when: Node) -> None:
        for node in walk(when):
            if not (isinstance(node, Compare) and isinstance(node.left, Signal)):
                continue
            good, fixed = self.signals[node.left.name].good, isinstance(node.right, Number)
            wrong = {"high": (">", ">="), "low": ("<", "<=")}.get(good, ())
            if fixed and node.op in wrong:
                self.reporter.warn(
                    (*self.path, "when"),
                    f"{self.title} fires while {node.left.name} is good ({good})",
                    "Turn the comparison round, or set good: in signals.yaml.",
                )

    def _unreachable(self, when: Node, until: Node | None) -> None:
        if not (isinstance(when, Compare) and isinstance(until, Compare)):
            return
        low, high = until.right, when.right
        if when.left != until.left or not (isinstance(low, Number) and isinstance(high, Number)):
            return
        if not {when.op, until.op} <= _ORDER:
            return
        upward, same = ">" in when.op, (">" in when.op) == (">" in until.op)
        beyond = low.value > high.value if upward else low.value < high.value
        at_limit = low.value == high.value and not ("=" in until.op and "=" not in when.op)
        if same and (beyond or at_limit):
            self._error(
                "until can never be reached: while it is true, when is true as well",
                "Turn the comparison round, e.g. when: ttlt > 10s with until: ttlt < 8s.",
                "until",
            )

    def _error(self, message: str, cure: str, *where: str | int) -> None:
        self.reporter.error((*self.path, *where), f"{self.title}: {message}", cure)


def extensive(node: Node, signals: Mapping[str, SignalDef]) -> bool:
    """Whether a value grows with the length of its window, as totals do and quotients do not."""
    if isinstance(node, Binary):
        left, right = extensive(node.left, signals), extensive(node.right, signals)
        return left and not right if node.op == "/" else left or right
    if not isinstance(node, Signal):
        return False
    signal = signals[node.name]
    if signal.formula is not None:
        return extensive(signal.formula, signals)
    return signal.component is not None and signal.component.aggregation == "total"


def _scope(spec: ScopeSpec) -> Scope:
    return Scope(tuple(spec.accounts), tuple(spec.deployments), tuple(spec.regions))
