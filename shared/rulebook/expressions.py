"""Text -> expression, and the rules of units that it has to obey."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lark import Lark, Token, Transformer, Tree, UnexpectedInput
from lark.exceptions import VisitError

from shared.rulebook.ast import Binary, Compare, Logic, Node, Number
from shared.rulebook.calls import Argument, Call, Given, Word, place, resolve
from shared.rulebook.literals import parse_literal
from shared.rulebook.mistakes import syntax_error
from shared.rulebook.problems import ExpressionError, TextError
from shared.rulebook.typecheck import Names, unit_of
from shared.rulebook.units import BARE, Unit
from shared.rulebook.words import CHANGE_KINDS as CHANGE_KINDS

MAX_LENGTH = 2_000
MAX_DEPTH = 50


def parse(text: str, names: Names) -> Node:
    """The expression of a text, with every name known and every unit fitting.

    Raises:
        ExpressionError: with the column and, where there is one, the cure.
    """
    if len(text) > MAX_LENGTH:
        cure = "Make signals of its parts, with a formula each."
        raise ExpressionError(f"the expression is longer than {MAX_LENGTH} characters", cure)
    try:
        tree = _parser().parse(text)
        if _depth(tree) > MAX_DEPTH:
            cure = "Make signals of its parts, with a formula each."
            raise ExpressionError("the expression is nested too deeply", cure)
        node = resolve(_Builder(names).transform(tree), names)
    except UnexpectedInput as error:
        raise syntax_error(text, error) from None
    except VisitError as error:
        if isinstance(error.orig_exc, ExpressionError):
            raise error.orig_exc from None
        raise
    unit_of(node, names)
    return node


def parse_value(text: str, names: Names) -> tuple[Node, Unit]:
    """An expression that has a value, not a truth, with its unit (for formulas and summaries).

    Raises:
        ExpressionError: as `parse`, or the expression is a condition.
    """
    node = parse(text, names)
    unit = unit_of(node, names)
    if unit is None:
        cure = "Leave the comparison out."
        raise ExpressionError("a condition stands where a value is wanted", cure)
    return node, unit


def parse_condition(text: str, names: Names) -> Node:
    """An expression that is true, false or unknown.

    Raises:
        ExpressionError: as `parse`, or the expression is a value.
    """
    node = parse(text, names)
    if unit_of(node, names) is not None:
        cure = "Compare it with something, e.g. ttlt > 10s."
        raise ExpressionError("a value stands where a condition is wanted", cure)
    return node


@cache
def _parser() -> Lark:
    grammar = Path(__file__).with_name("expression.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=False)


def _depth(tree: Tree[Token]) -> int:
    """How deeply operations lie in one another, however they are written."""
    depth, level = 0, [tree]
    while level:
        depth += 1
        level = [child for node in level for child in node.children if isinstance(child, Tree)]
    return depth


class _Builder(Transformer[Token, Argument]):
    """Builds nodes bottom-up; lark calls the methods by the names in the grammar."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self.names = names

    def number(self, items: list[Token]) -> Argument:
        column = place(items[0])
        try:
            value, unit = parse_literal(items[0])
        except TextError as error:
            raise ExpressionError(error.message, error.cure, column) from None
        return Number(value, unit, str(items[0]), column)

    def name(self, items: list[Token]) -> Argument:
        return Word(str(items[0]), place(items[0]))

    def binary(self, items: list[Argument]) -> Argument:
        left, op, right = self._node(items[0]), str(items[1]), self._node(items[2])
        return Binary(op, left, right, left.column)

    def compare(self, items: list[Argument]) -> Argument:
        left, op, right = self._node(items[0]), str(items[1]), self._node(items[2])
        return Compare(op, left, right, left.column)

    def minus(self, items: list[Argument]) -> Argument:
        inner = self._node(items[1])
        return Binary("-", Number(0.0, BARE, "0"), inner, inner.column)

    def any_of(self, items: list[Argument]) -> Argument:
        return self._logic("or", items)

    def all_of(self, items: list[Argument]) -> Argument:
        return self._logic("and", items)

    def negation(self, items: list[Argument]) -> Argument:
        return self._logic("not", items)

    def given(self, items: list[Token]) -> Argument:
        return Given(items[0], items[1])

    def argument(self, items: list[Argument]) -> Argument:
        return items[0]

    def call(self, items: list[Argument]) -> Argument:
        word = items[0]
        assert isinstance(word, Token)
        return Call(str(word), place(word), items[1:], self.names).build()

    def _logic(self, op: str, items: list[Argument]) -> Argument:
        parts = tuple(self._node(item) for item in items)
        return Logic(op, parts, parts[0].column)

    def _node(self, item: Argument) -> Node:
        return resolve(item, self.names)
