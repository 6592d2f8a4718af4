"""Names and calls in an expression: what they stand for, and which arguments they take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from lark import Token

from shared.rulebook.ast import (
    Ago,
    Baseline,
    BeforeChange,
    Deviation,
    Node,
    Number,
    Parameter,
    Signal,
    Window,
)
from shared.rulebook.problems import AlreadyToldError, ExpressionError, nearest
from shared.rulebook.typecheck import Names
from shared.rulebook.units import MS
from shared.rulebook.words import CHANGE_KINDS, FUNCTIONS, KEYWORDS, WINDOWS


@dataclass(frozen=True)
class Word:
    """A name that is not yet known to be a signal, a parameter or a kind of change."""

    name: str
    column: int


@dataclass(frozen=True)
class Given:
    signal: Token
    given: Token


Argument: TypeAlias = Node | Given | Word


def place(token: Token) -> int:
    """Where a word begins, counted from 1 over all lines of the text."""
    return (token.start_pos or 0) + 1


def resolve(item: Argument, names: Names) -> Node:
    """The node that stands where a value is wanted."""
    if isinstance(item, Given):
        column = place(item.signal)
        cure = "Write it like baseline(ttlt given tokens_per_answer)."
        raise ExpressionError("given stands only in baseline() and deviation()", cure, column)
    if not isinstance(item, Word):
        return item
    if item.name in names.parameters:
        return Parameter(item.name, names.parameters[item.name], item.column)
    if item.name in names.signals:
        return Signal(item.name, item.column)
    raise _unknown(item, names)


def _unknown(word: Word, names: Names) -> ExpressionError:
    name, column = word.name, word.column
    if name in names.broken or (names.partial and name.casefold() not in KEYWORDS | FUNCTIONS):
        return AlreadyToldError(f"{name} is not defined rightly", "", column)
    if name.casefold() in KEYWORDS:
        message = f"{name} is a keyword and stands where a value should"
        return ExpressionError(message, f"Write a value before {name.casefold()}.", column)
    if name in FUNCTIONS:
        return ExpressionError(f"{name} is a function", usage(name), column)
    cure = nearest(name, {*names.signals, *names.parameters}, "signals")
    return ExpressionError(f"unknown signal {name}", cure, column)


def usage(function: str) -> str:
    usages = {
        "ago": "ago(ttlt, 1d)",
        "baseline": "baseline(ttlt) or baseline(ttlt given tokens_per_answer)",
        "deviation": "deviation(ttlt) or deviation(ttlt given tokens_per_answer)",
        "before_change": "before_change(cache_match_rate, prompt_template)",
    }
    return f"Write it like {usages.get(function, f'{function}(ttlt, 15m)')}."


@dataclass(frozen=True)
class Call:
    name: str
    column: int
    arguments: list[Argument]
    names: Names

    def build(self) -> Node:
        if self.name not in FUNCTIONS:
            cure = nearest(self.name, FUNCTIONS, "functions")
            raise self._error(f"unknown function {self.name}", cure)
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
        if isinstance(first, Given):
            return make(self._known(first.signal), self._known(first.given), self.column)
        return make(self._signal(0, 1), "", self.column)

    def _known(self, token: Token) -> str:
        if str(token) not in self.names.signals:
            signals = replace(self.names, parameters={})
            raise _unknown(Word(str(token), place(token)), signals)
        return str(token)

    def _signal(self, index: int, count: int = 2) -> str:
        self._count(count)
        argument = resolve(self.arguments[index], self.names)
        if not isinstance(argument, Signal):
            raise self._error(f"{self.name}() takes the name of a signal", usage(self.name))
        return argument.name

    def _minutes(self, index: int) -> int:
        argument = self.arguments[index]
        if not isinstance(argument, Number) or argument.unit != MS or argument.value % 6e4:
            raise self._error(f"{self.name}() takes a duration in whole minutes", usage(self.name))
        minutes = int(argument.value / 6e4)
        limit, longest = (60, "60m") if self.name in WINDOWS else (7 * 24 * 60, "7d")
        if not 1 <= minutes <= limit:
            message = f"{self.name}() reaches from 1 minute to {limit} minutes"
            raise self._error(message, f"Write 1m to {longest}.")
        return minutes

    def _kind(self, index: int) -> str:
        argument = self.arguments[index]
        kind = argument.name if isinstance(argument, Word) else ""
        if kind not in CHANGE_KINDS:
            raise self._error("unknown kind of change", nearest(kind, CHANGE_KINDS, "kinds"))
        return kind

    def _count(self, wanted: int) -> None:
        if len(self.arguments) != wanted:
            plural = "s" if wanted > 1 else ""
            raise self._error(f"{self.name}() takes {wanted} argument{plural}", usage(self.name))

    def _error(self, message: str, cure: str = "") -> ExpressionError:
        return ExpressionError(message, cure, self.column)
