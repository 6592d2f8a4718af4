"""Reads the tree of one scenario, and says at which place of the file something is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from replay.scenario import HISTORY
from shared.rulebook.problems import ExpressionError, Mark, Problem
from shared.rulebook.specs import Reporter
from shared.rulebook.units import parse_minutes
from shared.rulebook.yamlfile import Path, Tree

T = TypeVar("T")
S = TypeVar("S", bound=msgspec.Struct)

SHAPES = {
    "series": "Write e.g. series: {requests: 20, ttlt: 4s}.",
    "expect": "Write e.g. expect: {12m: fired}, or expect: {never: fired}.",
    "history": "Write e.g. history: {requests: 20, ttlt: 4s}, or history: none.",
    "baseline": "Write e.g. baseline: {ttlt: 4s}.",
    "changes": "Write e.g. changes: [{kind: prompt_template, at: 30m}].",
    "silences": "Write e.g. silences: [{from: 10m, until: 40m, reason: load test, owner: me}].",
}
NONE = "none"
"""`history: none`: the deployment is new."""


class Place:
    """The tree of a scenario, where it stands, and the reporter that hears of its errors."""

    def __init__(self, tree: dict[str, Tree], path: Path, title: str, reporter: Reporter) -> None:
        self.tree, self.path, self.title, self.reporter = tree, path, title, reporter
        self._before = reporter.errors

    @property
    def wrong(self) -> bool:
        """Whether anything was wrong with the scenario so far."""
        return self.reporter.errors > self._before

    @property
    def mark(self) -> Mark:
        return self.reporter.document.value(*self.path)

    def mapping(self, key: str) -> Mapping[str, Tree]:
        tree = self.tree.get(key, "")
        if isinstance(tree, dict):
            return tree
        if tree and not (key == "history" and tree == NONE):
            self.error(f"{key} is no mapping", SHAPES[key], key)
        return {}

    def listed(self, key: str, kind: type[S]) -> list[tuple[S, Path]]:
        """The entries of a list, each with where it stands."""
        tree = self.tree.get(key, "")
        if isinstance(tree, list):
            return [(self.flat(one, kind, key, n), (key, n)) for n, one in enumerate(tree)]
        if tree:
            self.error(f"{key} is no list", SHAPES[key], key)
        return []

    def flat(self, tree: Tree, kind: type[S], *where: str | int) -> S:
        """Keys with plain values."""
        what = f"{where[0]} of {self.title}" if where else self.title
        return self.reporter.convert(tree, kind, (*self.path, *where), what) or kind()

    def minute(self, text: str, *where: str | int, most: int = HISTORY) -> int:
        """A time since the beginning."""
        if not text:
            self.error("a time is missing here", f"Write e.g. {where[-1]}: 30m.", *where)
            return 0
        try:
            minute = parse_minutes(text)
        except ValueError as error:
            self.error(str(error), "Write it in whole minutes, e.g. 30m.", *where)
            return 0
        if minute > most:
            self.error(f"{text} lies after the end at {most}m", "", *where)
        return min(minute, most)

    def attempt(self, make: Callable[[], T], *where: str | int, within: bool = False) -> T | None:
        """What comes of it, or None after saying what is wrong; `within` the text of a value."""
        try:
            return make()
        except ExpressionError as error:
            document, path = self.reporter.document, (*self.path, *where)
            mark = document.key(*path)
            if within:
                value = document.value(*path)
                mark = Mark(value.file, value.line, value.column + error.column - 1)
            self.problem(mark, error.message, error.cure)
            return None

    def error(self, message: str, cure: str, *where: str | int) -> None:
        self.problem(self.reporter.document.value(*self.path, *where), message, cure)

    def problem(self, mark: Mark, message: str, cure: str) -> None:
        self.reporter.problems.append(Problem(mark, f"{self.title}: {message}", cure))
