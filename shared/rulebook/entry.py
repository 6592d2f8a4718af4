"""A rule or a signal of a file that is being compiled: its problems go to their place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from shared.rulebook.document import Path
from shared.rulebook.problems import AlreadyToldError, ExpressionError, Problem, TextError
from shared.rulebook.specs import Reporter

T = TypeVar("T")


@dataclass(frozen=True)
class Entry:
    reporter: Reporter
    path: Path
    title: str

    def error(self, message: str, cure: str, *where: str | int) -> None:
        self.reporter.error((*self.path, *where), f"{self.title}: {message}", cure)

    def error_of_key(self, message: str, cure: str, *where: str | int) -> None:
        self.reporter.error_of_key((*self.path, *where), f"{self.title}: {message}", cure)

    def warn(self, message: str, cure: str, *where: str | int) -> None:
        self.reporter.warn((*self.path, *where), f"{self.title}: {message}", cure)

    def is_text(self, key: str) -> bool:
        """Whether text stands under a key, though it may be wanted otherwise."""
        return (*self.path, key) in self.reporter.document.raw

    def read(self, parse: Callable[[str], T], text: str, *where: str | int) -> T | None:
        """What a text means; None after reporting that it means nothing."""
        try:
            return parse(text)
        except TextError as error:
            self.error(error.message, error.cure, *where)
            return None

    def read_key(self, parse: Callable[[str], T], text: str, *where: str | int) -> T | None:
        """The same of a key."""
        try:
            return parse(text)
        except TextError as error:
            self.error_of_key(error.message, error.cure, *where)
            return None

    def read_expression(
        self, parse: Callable[[str], T], text: str, key: str, begin: int = 0, end: int | None = None
    ) -> T | None:
        """What an expression means, which is the text under a key or a part of it."""
        try:
            return parse(text[begin:end])
        except AlreadyToldError:
            return None
        except ExpressionError as error:
            path = (*self.path, key)
            place = self.reporter.document.inside(path, text, begin + error.column - 1)
            message = f"{key} of {self.title}: {error.message}"
            self.reporter.problems.append(Problem(place, message, error.cure))
            return None
