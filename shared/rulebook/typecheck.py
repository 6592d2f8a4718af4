"""Which units an expression has, and whether they fit: times with times, percents with percents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.rulebook.ast import (
    Binary,
    Compare,
    Deviation,
    Logic,
    Node,
    Number,
    Parameter,
    Signal,
    text_of,
)
from shared.rulebook.literals import plain
from shared.rulebook.problems import ExpressionError
from shared.rulebook.units import BARE, MS, PERCENTS, TIME, Unit, compatible


@dataclass(frozen=True)
class Names:
    """What an expression may mention: signals and parameters with their units."""

    signals: Mapping[str, Unit]
    parameters: Mapping[str, Unit] = field(default_factory=dict)
    broken: frozenset[str] = frozenset()
    """Names that are defined, but wrongly: whoever mentions them is not to blame."""
    partial: bool = False
    """There may be more signals, in a file that cannot be read."""


def unit_of(node: Node, names: Names) -> Unit | None:
    """The unit of a value; None for a condition.

    Raises:
        ExpressionError: units that do not fit, or a value where a condition is wanted.
    """
    match node:
        case Number() | Parameter():
            return node.unit
        case Deviation():
            return BARE
        case Signal():
            return names.signals[node.name]
        case Binary():
            return _binary(node, names)
        case Compare():
            _comparison(node, names)
            return None
        case Logic():
            for part in node.parts:
                if unit_of(part, names) is not None:
                    raise ExpressionError(
                        f"{text_of(part)} is a value where a condition is wanted",
                        "Compare it with something, e.g. ttlt > 10s.",
                        part.column,
                    )
            return None
        case _:
            return names.signals[node.signal]


def fixed(node: Node) -> bool:
    """Whether a value is made of numbers and parameters alone."""
    if isinstance(node, Binary):
        return fixed(node.left) and fixed(node.right)
    return isinstance(node, Number | Parameter)


def _value(node: Node, names: Names) -> Unit:
    unit = unit_of(node, names)
    if unit is None:
        raise ExpressionError(
            f"{text_of(node)} is a condition where a value is wanted",
            "Conditions are joined with `and` and `or`; they cannot be reckoned with.",
            node.column,
        )
    return unit


def _binary(node: Binary, names: Names) -> Unit:
    left, right = _value(node.left, names), _value(node.right, names)
    if node.op == "*":
        return left * right
    if node.op == "/":
        if _constant(node.right) == 0:
            message = f"{text_of(node)} divides by 0 and so has no value"
            raise ExpressionError(message, "Divide by something else.", node.column)
        return left / right
    if isinstance(node.left, Number) and node.left.value == 0 and node.left.unit.bare:
        return right
    _fit(node, left, right, "adds")
    return right if left.bare or fixed(node.left) else left


def _constant(node: Node) -> float | None:
    """The value of what is made of numbers alone."""
    if isinstance(node, Number):
        return node.value
    if not isinstance(node, Binary):
        return None
    left, right = _constant(node.left), _constant(node.right)
    if left is None or right is None:
        return None
    if node.op == "/":
        return left / right
    return {"+": left + right, "-": left - right, "*": left * right}[node.op]


def _comparison(node: Compare, names: Names) -> None:
    _fit(node, _value(node.left, names), _value(node.right, names), "compares")


def _fit(node: Binary | Compare, left: Unit, right: Unit, verb: str) -> None:
    """A number states its time or percent; the counts of what it is compared with go without."""
    number = fixed(node.left) or fixed(node.right)
    if compatible(left, right) or (number and left.measured == right.measured):
        return
    raise ExpressionError(
        f"{text_of(node)} {verb} {left.words} with {right.words}",
        _cure(node, left, right),
        node.column,
    )


def _cure(node: Binary | Compare, left: Unit, right: Unit) -> str:
    bare = node.right if right.bare else node.left
    other = left if right.bare else right
    if isinstance(bare, Parameter) and bare.unit.bare and other.measured:
        unit = "%" if other.measured == PERCENTS.bases else "s"
        return f"Give the parameter its unit, e.g. {bare.name}: 10{unit}."
    if not isinstance(bare, Number) or not bare.unit.bare:
        return ""
    if other.measured == PERCENTS.bases:
        percent = bare.value * 100 if 0 < bare.value < 1 else bare.value
        return f"Write the percent sign: {plain(percent)}%."
    if other.measured == MS.bases:
        return f"Write the unit of time: {plain(bare.value)}ms or {plain(bare.value)}s."
    if other.measured == ((TIME, -1),):
        return f"Say how much time: {bare.text} / 1s for a second, {bare.text} / 1m for a minute."
    return ""
