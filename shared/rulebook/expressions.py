"""Text -> expression, and the rules of units that it has to obey."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

from lark import Lark, Token, Transformer, Tree, UnexpectedCharacters, UnexpectedInput
from lark.exceptions import UnexpectedEOF, UnexpectedToken, VisitError

from shared.rulebook.ast import (
    Ago,
    Baseline,
    BeforeChange,
    Binary,
    Compare,
    Deviation,
    Logic,
    Node,
    Number,
    Parameter,
    Signal,
    Window,
)
from shared.rulebook.problems import ExpressionError, nearest
from shared.rulebook.typecheck import Names, unit_of
from shared.rulebook.units import BARE, MS, Unit, parse_literal

KEYWORDS = frozenset({"and", "or", "not", "given"})
WINDOWS = frozenset({"avg", "min", "max", "sum"})
FUNCTIONS = WINDOWS | {"ago", "baseline", "deviation", "before_change"}
MAX_LENGTH = 2_000
MAX_DEPTH = 50

CHANGE_KINDS = {
    "prompt_template": "the first tokens of the prompt: instructions, tools, examples",
    "model_version": "the model or its version",
    "capacity": "PTUs or quota of the deployment",
    "sku": "the kind of deployment",
    "content_filter": "the content filter's configuration",
    "other": "anything else that alters behaviour",
}


@dataclass(frozen=True)
class _Word:
    """A name that is not yet known to be a signal, a parameter or a kind of change."""

    name: str
    column: int


@dataclass(frozen=True)
class _Given:
    signal: Token
    given: Token


_Argument: TypeAlias = "Node | _Given | _Word"


def parse(text: str, names: Names) -> Node:
    """The expression of a text, with every name known and every unit fitting.

    Raises:
        ExpressionError: with the column and, where there is one, the cure.
    """
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"the expression is longer than {MAX_LENGTH} characters")
    try:
        tree = _parser().parse(text)
        if _depth(tree) > MAX_DEPTH:
            raise ExpressionError("the expression is nested too deeply")
        node = resolve(_Builder(names).transform(tree), names)
    except UnexpectedInput as error:
        raise _syntax_error(text, error) from None
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
        raise ExpressionError("a condition stands where a value is wanted")
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


def _syntax_error(text: str, error: UnexpectedInput) -> ExpressionError:
    column = getattr(error, "column", -1)
    if isinstance(error, UnexpectedEOF) or column < 1:
        return ExpressionError("the expression ends too early", "", len(text) + 1)
    if isinstance(error, UnexpectedCharacters):
        found = repr(text[error.pos_in_stream or 0])
    else:
        assert isinstance(error, UnexpectedToken)
        if error.token.type == "$END":
            return ExpressionError("the expression ends too early", "", len(text) + 1)
        found = repr(str(error.token))
        if error.token.type == "COMPARE":
            cure = "Comparisons cannot be chained: join two of them with `and`."
            return ExpressionError(f"{found} is not expected here", cure, column)
    cure = "Numbers carry their unit without a space: 95%, 10s, 250ms, 15m, 2k."
    return ExpressionError(f"{found} is not expected here", cure, column)


class _Builder(Transformer[Token, _Argument]):
    """Builds nodes bottom-up; lark calls the methods by the names in the grammar."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self.names = names

    def number(self, items: list[Token]) -> _Argument:
        try:
            value, unit = parse_literal(items[0])
        except ValueError as error:
            raise ExpressionError(str(error), "", items[0].column or 1) from None
        return Number(value, unit, str(items[0]), items[0].column or 1)

    def name(self, items: list[Token]) -> _Argument:
        return _Word(str(items[0]), items[0].column or 1)

    def binary(self, items: list[_Argument]) -> _Argument:
        left, op, right = self._node(items[0]), str(items[1]), self._node(items[2])
        return Binary(op, left, right, left.column)

    def compare(self, items: list[_Argument]) -> _Argument:
        left, op, right = self._node(items[0]), str(items[1]), self._node(items[2])
        return Compare(op, left, right, left.column)

    def minus(self, items: list[_Argument]) -> _Argument:
        inner = self._node(items[1])
        return Binary("-", Number(0.0, BARE, "0"), inner, inner.column)

    def any_of(self, items: list[_Argument]) -> _Argument:
        return self._logic("or", items)

    def all_of(self, items: list[_Argument]) -> _Argument:
        return self._logic("and", items)

    def negation(self, items: list[_Argument]) -> _Argument:
        return self._logic("not", items)

    def given(self, items: list[Token]) -> _Argument:
        return _Given(items[0], items[1])

    def argument(self, items: list[_Argument]) -> _Argument:
        return items[0]

    def call(self, items: list[_Argument]) -> _Argument:
        word = items[0]
        assert isinstance(word, Token)
        return _Call(str(word), word.column or 1, items[1:], self.names).build()

    def _logic(self, op: str, items: list[_Argument]) -> _Argument:
        parts = tuple(self._node(item) for item in items)
        return Logic(op, parts, parts[0].column)

    def _node(self, item: _Argument) -> Node:
        return resolve(item, self.names)


def resolve(item: _Argument, names: Names) -> Node:
    """The node that stands where a value is wanted."""
    if isinstance(item, _Given):
        column = item.signal.column or 1
        cure = "Write it like baseline(ttlt given tokens_per_answer)."
        raise ExpressionError("given stands only in baseline() and deviation()", cure, column)
    if not isinstance(item, _Word):
        return item
    word, column = item.name, item.column
    if word in KEYWORDS:
        raise ExpressionError(f"{word} is a keyword and stands where a value should", "", column)
    if word in names.parameters:
        return Parameter(word, names.parameters[word], column)
    if word in names.signals:
        return Signal(word, column)
    cure = nearest(word, {*names.signals, *names.parameters}, "signals")
    raise ExpressionError(f"unknown signal {word}", cure, column)


@dataclass(frozen=True)
class _Call:
    name: str
    column: int
    arguments: list[_Argument]
    names: Names

    def build(self) -> Node:
        if self.name not in FUNCTIONS:
            raise self._error(
                f"unknown function {self.name}", nearest(self.name, FUNCTIONS, "functions")
            )
        if self.name in WINDOWS:
            return Window(self.name, self._signal(0), self._minutes(1), self.column)
        if self.name == "ago":
            return Ago(self._signal(0), self._minutes(1), self.column)
        if self.name == "before_change":
            return BeforeChange(self._signal(0), self._kind(1), self.column)
        return self._fitted()

    def _fitted(self) -> Node:
        make = Baseline if self.name == "baseline" else Deviation
        self._count(1)
        first = self.arguments[0]
        if isinstance(first, _Given):
            return make(self._known(first.signal), self._known(first.given), self.column)
        return make(self._signal(0, 1), "", self.column)

    def _known(self, token: Token) -> str:
        if str(token) not in self.names.signals:
            cure = nearest(str(token), self.names.signals, "signals")
            raise ExpressionError(f"unknown signal {token}", cure, token.column or 1)
        return str(token)

    def _signal(self, index: int, count: int = 2) -> str:
        self._count(count)
        argument = resolve(self.arguments[index], self.names)
        if not isinstance(argument, Signal):
            raise self._error(f"{self.name}() takes the name of a signal", self._usage())
        return argument.name

    def _minutes(self, index: int) -> int:
        argument = self.arguments[index]
        if not isinstance(argument, Number) or argument.unit != MS or argument.value % 6e4:
            raise self._error(f"{self.name}() takes a duration in whole minutes", self._usage())
        minutes = int(argument.value / 6e4)
        limit = 60 if self.name in WINDOWS else 7 * 24 * 60
        if not 1 <= minutes <= limit:
            raise self._error(f"{self.name}() reaches from 1 minute to {limit} minutes")
        return minutes

    def _kind(self, index: int) -> str:
        argument = self.arguments[index]
        kind = argument.name if isinstance(argument, _Word) else ""
        if kind not in CHANGE_KINDS:
            raise self._error("unknown kind of change", nearest(kind, CHANGE_KINDS, "kinds"))
        return kind

    def _count(self, wanted: int) -> None:
        if len(self.arguments) != wanted:
            raise self._error(f"{self.name}() takes {wanted} arguments", self._usage())

    def _usage(self) -> str:
        usages = {
            "ago": "ago(ttlt, 1d)",
            "baseline": "baseline(ttlt) or baseline(ttlt given tokens_per_answer)",
            "deviation": "deviation(ttlt) or deviation(ttlt given tokens_per_answer)",
            "before_change": "before_change(cache_match_rate, prompt_template)",
        }
        return f"Write it like {usages.get(self.name, f'{self.name}(ttlt, 15m)')}."

    def _error(self, message: str, cure: str = "") -> ExpressionError:
        return ExpressionError(message, cure, self.column)
