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
from shared.rulebook.problems import ExpressionError
from shared.rulebook.units import BARE, MS, PERCENTS, Unit, compatible


@dataclass(frozen=True)
class Names:
    """What an expression may mention: signals and parameters with their units."""

    signals: Mapping[str, Unit]
    parameters: Mapping[str, Unit] = field(default_factory=dict)


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


def _value(node: Node, names: Names) -> Unit:
    unit = unit_of(node, names)
    if unit is None:
        raise ExpressionError(
            f"{text_of(node)} is a condition where a value is wanted", "", node.column
        )
    return unit


def _binary(node: Binary, names: Names) -> Unit:
    left, right = _value(node.left, names), _value(node.right, names)
    if node.op == "*":
        return left * right
    if node.op == "/":
        return left / right
    if isinstance(node.left, Number) and node.left.value == 0 and node.left.unit.bare:
        return right
    _fit(node, left, right, "adds")
    return right if left.bare else left


def _comparison(node: Compare, names: Names) -> None:
    _fit(node, _value(node.left, names), _value(node.right, names), "compares")


def _fit(node: Binary | Compare, left: Unit, right: Unit, verb: str) -> None:
    if compatible(left, right):
        return
    raise ExpressionError(
        f"{text_of(node)} {verb} {left} with {right}", _cure(node, left, right), node.column
    )


def _cure(node: Binary | Compare, left: Unit, right: Unit) -> str:
    bare = node.right if right.bare else node.left
    other = left if right.bare else right
    if isinstance(bare, Number) and other == PERCENTS:
        percent = bare.value * 100 if 0 < bare.value < 1 else bare.value
        return f"Write the percent sign: {percent:g}%."
    if isinstance(bare, Number) and other == MS:
        return f"Write the unit of time: {bare.text}ms or {bare.text}s."
    return ""
