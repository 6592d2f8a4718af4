"""What an expression means, as frozen values. Equal expressions are equal, wherever they stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from shared.rulebook.units import Unit, show


@dataclass(frozen=True)
class Number:
    value: float
    unit: Unit
    text: str = field(default="", compare=False)
    column: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Parameter:
    """A number that the rule names, so that overrides can set it per deployment."""

    name: str
    unit: Unit = field(compare=False)
    column: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Signal:
    name: str
    column: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Window:
    """`avg|min|max|sum(signal, 15m)`: a window of its own."""

    how: str
    signal: str
    minutes: int
    column: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Ago:
    """`ago(signal, 1d)`: the rule's window, so many minutes earlier."""

    signal: str
    minutes: int
    column: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Baseline:
    """`baseline(signal)` or `baseline(signal given other)`."""

    signal: str
    given: str = ""
    column: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Deviation:
    """The distance from the baseline in robust standard deviations."""

    signal: str
    given: str = ""
    column: int = field(default=1, compare=False)


@dataclass(frozen=True)
class BeforeChange:
    """`before_change(signal, KIND)`: the hour before the last recorded change of the kind."""

    signal: str
    kind: str
    column: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Binary:
    op: str
    left: Node
    right: Node
    column: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Compare:
    op: str
    left: Node
    right: Node
    column: int = field(default=1, compare=False)


@dataclass(frozen=True)
class Logic:
    """`and` or `or` of two or more parts, `not` of one."""

    op: str
    parts: tuple[Node, ...]
    column: int = field(default=1, compare=False)


Node: TypeAlias = (
    Number
    | Parameter
    | Signal
    | Window
    | Ago
    | Baseline
    | Deviation
    | BeforeChange
    | Binary
    | Compare
    | Logic
)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, from left to right."""
    yield node
    if isinstance(node, Logic):
        for part in node.parts:
            yield from walk(part)
    elif isinstance(node, Binary | Compare):
        yield from walk(node.left)
        yield from walk(node.right)


def signals_of(*nodes: Node | None) -> tuple[str, ...]:
    """The names of all signals that the expressions mention, in order, each once."""
    names: dict[str, None] = {}
    for root in nodes:
        for node in walk(root) if root else ():
            if isinstance(node, Signal):
                names[node.name] = None
            elif not isinstance(node, Number | Parameter | Binary | Compare | Logic):
                names[node.signal] = None
                if isinstance(node, Baseline | Deviation) and node.given:
                    names[node.given] = None
    return tuple(names)


def text_of(node: Node) -> str:
    """The expression as a person would write it."""
    match node:
        case Number():
            return node.text or show(node.value, node.unit)
        case Parameter() | Signal():
            return node.name
        case Window():
            return f"{node.how}({node.signal}, {node.minutes}m)"
        case Ago():
            return f"ago({node.signal}, {node.minutes}m)"
        case Baseline() | Deviation():
            given = f" given {node.given}" if node.given else ""
            return f"{type(node).__name__.lower()}({node.signal}{given})"
        case BeforeChange():
            return f"before_change({node.signal}, {node.kind})"
        case Binary() | Compare():
            # What stands on the right binds no looser: a - (b - c) keeps its parentheses.
            right = _inner(node.right, _binding(node) + 1)
            return f"{_inner(node.left, _binding(node))} {node.op} {right}"
        case Logic(op="not"):
            return f"not {_inner(node.parts[0], _binding(node))}"
        case Logic():
            return f" {node.op} ".join(_inner(part, _binding(node) + 1) for part in node.parts)


def _binding(node: Node) -> int:
    """How tightly an operation binds, as in Python; what is no operation binds most."""
    match node:
        case Logic():
            return ("or", "and", "not").index(node.op)
        case Compare():
            return 3
        case Binary():
            return 4 if node.op in "+-" else 5
        case _:
            return 6


def _inner(node: Node, least: int) -> str:
    """A part, in parentheses if it binds more loosely than its place wants."""
    text = text_of(node)
    return text if _binding(node) >= least else f"({text})"
