"""Checks of a rule as a whole: that its parts make sense together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shared.rulebook.ast import Binary, Compare, Node, Number, Parameter, Signal, Window, walk
from shared.rulebook.entry import Entry
from shared.rulebook.rules import Rule, SignalDef

_ORDER = {"<", "<=", ">", ">="}


def check(rule: Rule, signals: Mapping[str, SignalDef], entry: Entry) -> None:
    """Reports everything that is wrong with a rule whose parts are right."""
    _subject(rule, entry)
    _baselines(rule, signals, entry)
    _sums(rule, signals, entry)
    _divisors(rule, entry)
    _unused(rule, entry)
    _direction(rule, signals, entry)
    _unreachable(rule, entry)


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


def _all(rule: Rule) -> Iterator[Node]:
    for root in (*rule.nodes, *rule.shown):
        yield from walk(root)


def _subject(rule: Rule, entry: Entry) -> None:
    if not rule.signals:
        message = "the condition mentions no signal, so it is the same for all"
        entry.error(message, "Compare a signal, e.g. when: ttlt > 10s.", "when")


def _baselines(rule: Rule, signals: Mapping[str, SignalDef], entry: Entry) -> None:
    for fitted in rule.asked:
        if extensive(Signal(fitted.signal), signals):
            message = f"what is normal for {fitted.signal} depends on the length of the window"
            cure = "Compare a quotient, e.g. tokens_per_answer, or an average."
            entry.error(message, cure, "when")


def _sums(rule: Rule, signals: Mapping[str, SignalDef], entry: Entry) -> None:
    for node in _all(rule):
        if not (isinstance(node, Window) and node.how == "sum"):
            continue
        if not extensive(Signal(node.signal), signals):
            message = f"sum({node.signal}) adds up values that are no totals"
            entry.error(message, "Use avg, min or max.", "when")


def _divisors(rule: Rule, entry: Entry) -> None:
    """A parameter of 0 in a divisor, of the rule or of an override."""
    quotients = (node for node in _all(rule) if isinstance(node, Binary) and node.op == "/")
    below = {node.right.name for node in quotients if isinstance(node.right, Parameter)}
    own: tuple[str | int, ...] = ("parameters",)
    places = {own: rule.parameters}
    places |= {("overrides", n, *own): one.parameters for n, one in enumerate(rule.overrides)}
    for place, values in places.items():
        for name in sorted(below & values.keys()):
            if values[name] == 0:
                message = f"the rule divides by {name}, which is 0 here"
                entry.error(message, "Write another value.", *place, name)


def _unused(rule: Rule, entry: Entry) -> None:
    used = {node.name for node in _all(rule) if isinstance(node, Parameter)}
    for name in rule.parameters.keys() - used:
        entry.warn(f"parameter {name} is not used", "Leave it out.", "parameters", name)


def _direction(rule: Rule, signals: Mapping[str, SignalDef], entry: Entry) -> None:
    for node in walk(rule.when):
        if not (isinstance(node, Compare) and isinstance(node.left, Signal)):
            continue
        good, limited = signals[node.left.name].good, isinstance(node.right, Number)
        wrong = {"high": (">", ">="), "low": ("<", "<=")}.get(good, ())
        if limited and node.op in wrong:
            message = f"it fires while {node.left.name} is good ({good})"
            cure = "Turn the comparison round, or set good: in signals.yaml."
            entry.warn(message, cure, "when")


def _unreachable(rule: Rule, entry: Entry) -> None:
    when, until = rule.when, rule.until
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
        entry.error(
            "until can never be reached: while it is true, when is true as well",
            "Turn the comparison round, e.g. when: ttlt > 10s with until: ttlt < 8s.",
            "until",
        )
