"""What a score set says: figures with their targets, and a table behind them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Span = tuple[int, int]
"""[begin, end) in whatever steps a score set counts."""


@dataclass(frozen=True)
class Figure:
    """One number, and what it has to reach; without a sense it is only reported."""

    name: str
    value: float
    sense: Literal["at least", "at most", ""] = ""
    target: float = 0.0

    @property
    def missed(self) -> bool:
        if self.sense == "at least":
            return not self.value >= self.target
        return self.sense == "at most" and not self.value <= self.target

    @property
    def wanted(self) -> str:
        return f"{self.sense} {self.target:g}" if self.sense else "reported"

    @property
    def verdict(self) -> str:
        return ("missed" if self.missed else "reached") if self.sense else ""


@dataclass(frozen=True)
class Score:
    """One score set."""

    key: str
    title: str
    figures: tuple[Figure, ...]
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Count:
    """Incidents and alerts of some series, as they meet."""

    incidents: int = 0
    found: int = 0
    alerts: int = 0
    right: int = 0
    """Alerts that touch an incident."""
    weeks: float = 0.0

    def __add__(self, other: Count) -> Count:
        return Count(
            self.incidents + other.incidents,
            self.found + other.found,
            self.alerts + other.alerts,
            self.right + other.right,
            self.weeks + other.weeks,
        )

    @property
    def recall(self) -> float:
        return self.found / max(self.incidents, 1)

    @property
    def precision(self) -> float:
        return self.right / max(self.alerts, 1)

    @property
    def false_a_week(self) -> float:
        return (self.alerts - self.right) / self.weeks


def count(incidents: Sequence[Span], alerts: Sequence[Span], grace: int, weeks: float) -> Count:
    """How alerts and incidents meet; an incident is wider by `grace` on either side."""
    wide = [(begin - grace, end + grace) for begin, end in incidents]
    return Count(
        len(incidents),
        sum(_touches(one, alerts) for one in wide),
        len(alerts),
        sum(_touches(one, wide) for one in alerts),
        weeks,
    )


def _touches(one: Span, others: Iterable[Span]) -> bool:
    return any(one[0] < end and begin < one[1] for begin, end in others)
