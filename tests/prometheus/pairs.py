"""The same rule twice, in our language and in Prometheus's, and what is judged by it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tests.engine.build import rule_text
from tests.prometheus.history import MIDDLE, TOP, History

SAME = {"Over": ">", "Under": "<", "AtMost": "<=", "AtLeast": ">="}
CLEAR = {"Under": float(TOP), "AtLeast": 0.0}
"""A value that breaches none of the rules of that name."""
HOLDS = (0, 1, 5, 10)
KEEPS = (0, 1, 10)
FIVE = "[4m30s]"
"""The last five samples. It begins between two of them, because 2.x counts one that lies on the
edge and 3.x does not."""


@dataclass(frozen=True)
class Pair:
    name: str
    when: str
    expr: str
    hold: int = 0
    """Minutes, as is `keep`."""
    keep: int = 0
    over: str = "1m"
    until: str = ""
    among: str = ""
    """Our `for`, where Prometheus has no such thing."""

    @property
    def ours(self) -> str:
        keys = {"when": self.when, "over": self.over, "hold": self.among or f"{self.hold}m"}
        if self.until:
            keys["until"] = self.until
        return rule_text(self.name, keep_firing_for=f"{self.keep}m", **keys)

    @property
    def theirs(self) -> dict[str, str]:
        return {
            "alert": self.name,
            "expr": self.expr,
            "for": f"{self.hold}m",
            "keep_firing_for": f"{self.keep}m",
        }


@dataclass(frozen=True)
class Group:
    """Every pair is judged on every history."""

    pairs: tuple[Pair, ...]
    histories: Mapping[int, History]

    def but(self, change: Callable[[History], History]) -> Group:
        return replace(self, histories={n: change(h) for n, h in self.histories.items()})


def thresholds(word: str, keep: int, holds: Iterable[int] = HOLDS) -> tuple[Pair, ...]:
    """`level > 10` and so on; the values are whole numbers, so the limit is often met exactly."""
    condition = f"level {SAME[word]} {MIDDLE}"
    return tuple(
        Pair(f"{word}For{hold}Keep{keep}", condition, condition, hold, keep) for hold in holds
    )


def all_thresholds(words: Sequence[str]) -> list[tuple[Pair, ...]]:
    """Two words of opposite directions have every `for` with every `keep_firing_for` once; Over
    and AtMost, Under and AtLeast, have them in the other direction each."""
    return [
        thresholds(word, keep, HOLDS[(i + k) % 2 :: 2])
        for i, word in enumerate(words)
        for k, keep in enumerate(KEEPS)
    ]


def windows() -> tuple[Pair, ...]:
    """Windows of five minutes. Means are compared with what no mean of whole numbers is, because
    Prometheus rounds them otherwise than we do."""
    return (
        Pair("Sum", "level >= 50", f"sum_over_time(level{FIVE}) >= 50", 2, 3, over="5m"),
        Pair("OwnSum", "sum(level, 5m) < 50", f"sum_over_time(level{FIVE}) < 50", 5, 1),
        Pair("Mean", "pace > 10.03ms", f"avg_over_time(level{FIVE}) > 10.03", 3, 2, over="5m"),
        Pair("OwnMean", "avg(pace, 5m) < 9.97ms", f"avg_over_time(level{FIVE}) < 9.97", 1, 10),
        Pair("PerMinute", "avg(level, 5m) >= 10", f"sum_over_time(level{FIVE}) / 5 >= 10", 2, 2),
        Pair("Lowest", "min(level, 5m) > 8", f"min_over_time(level{FIVE}) > 8", 1, 1),
        Pair("Highest", "max(level, 5m) < 12", f"max_over_time(level{FIVE}) < 12", 1, 1),
    )
