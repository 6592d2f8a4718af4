"""The sentence of a rule, with the expressions that are filled in."""

from __future__ import annotations

import re

from shared.rulebook.ast import Node
from shared.rulebook.entry import Entry
from shared.rulebook.expressions import parse_value
from shared.rulebook.problems import ExpressionError
from shared.rulebook.typecheck import Names
from shared.rulebook.units import Unit

Summary = tuple[str | tuple[Node, Unit], ...]
_HOLE = re.compile(r"\{([^{}]*)\}")
_CURE = "Write {ttlt} for a value. A brace itself cannot be shown."


def read_summary(text: str, names: Names, entry: Entry) -> Summary | None:
    """Text and expressions in turn; None where one of them is wrong."""
    parts: list[str | tuple[Node, Unit]] = []
    end, whole = 0, True
    for hole in _HOLE.finditer(text):
        parts.append(text[end : hole.start()])
        end = hole.end()
        value = entry.read_expression(
            lambda inner: _filled(inner, names), text, "summary", hole.start(1), hole.end(1)
        )
        whole &= value is not None
        if value is not None:
            parts.append(value)
    rest = _HOLE.sub(lambda hole: "-" * len(hole[0]), text)
    whole &= entry.read_expression(lambda _: _balanced(rest), text, "summary") is not None
    return (*parts, text[end:]) if whole else None


def _filled(text: str, names: Names) -> tuple[Node, Unit]:
    if not text.strip():
        raise ExpressionError("nothing stands between the braces", _CURE)
    return parse_value(text, names)


def _balanced(text: str) -> str:
    stray = re.search("[{}]", text)
    if stray:
        message = f"{stray[0]!r} stands alone"
        raise ExpressionError(message, _CURE, stray.start() + 1)
    return text
