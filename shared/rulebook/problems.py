"""What is wrong with a rule file: where, what, and how to mend it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Mark:
    """A place in a file; line and column count from 1."""

    file: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, order=True)
class Problem:
    mark: Mark
    message: str
    cure: str = ""
    warning: bool = False

    def __str__(self) -> str:
        kind = "warning" if self.warning else "error"
        place = f"{self.mark.file}:{self.mark.line}:{self.mark.column}"
        return f"{place}: {kind}: {self.message}" + (f"\n    {self.cure}" if self.cure else "")


class TextError(ValueError):
    """A text that cannot be used, and what to write instead."""

    def __init__(self, message: str, cure: str = "") -> None:
        super().__init__(message)
        self.message, self.cure = message, cure


class ExpressionError(TextError):
    """An expression that cannot be understood; `column` counts from 1 inside its text."""

    def __init__(self, message: str, cure: str = "", column: int = 1) -> None:
        super().__init__(message, cure)
        self.column = column


class AlreadyToldError(ExpressionError):
    """The expression mentions something whose own definition is wrong, which is said there."""


def nearest(word: str, known: Iterable[str], what: str) -> str:
    """A cure for an unknown word: the nearest known one, or all of them where they are few."""
    names = sorted(known)
    match = closest(word, names)
    if match:
        return f"Did you mean {match}?"
    return f"Known {what}: {', '.join(names)}." if 0 < len(names) <= 20 else ""


def closest(word: str, known: Iterable[str]) -> str:
    """The known word that is most like another, whatever its case; empty if none is."""
    folded = {name.casefold(): name for name in known}
    found = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else ""
