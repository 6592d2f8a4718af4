"""What Azure Monitor offers for an account: metrics, their units, aggregations and dimensions."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent.parent / "shared" / "rulebook" / "metrics.csv"
NAMESPACE = "Microsoft.CognitiveServices/accounts"
ACCOUNT_ID = re.compile(
    r"/subscriptions/(?P<subscription>[^/,;\s]+)/resourcegroups/[^/,;\s]+"
    r"/providers/microsoft\.cognitiveservices/accounts/[^/,;\s]+",
    re.IGNORECASE,
)
"""The resource id of an account, in any case."""
OTHER_NAMESPACE = "accounts/projects"
"""Marks the rows of the agents' namespace, which an account does not answer for."""


@dataclass(frozen=True, slots=True)
class Metric:
    name: str
    display: str
    unit: str
    aggregations: tuple[str, ...]
    dimensions: tuple[str, ...]

    @property
    def default_aggregation(self) -> str:
        return "total" if "total" in self.aggregations else "average"

    def dimension(self, name: str) -> str | None:
        """The catalogue's spelling of a dimension; Azure takes any case."""
        return next((own for own in self.dimensions if own.casefold() == name.casefold()), None)


@cache
def metrics() -> Mapping[str, Metric]:
    """The metrics of an account by lower-case name."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if OTHER_NAMESPACE not in _notes(row)]
    return {row["name"].casefold(): _metric(row) for row in rows}


def _notes(row: Mapping[str, str]) -> str:
    return f"{row['notes']} {row['source']}".casefold()


def _metric(row: Mapping[str, str]) -> Metric:
    aggregations = tuple(row["aggregations"].casefold().split(";"))
    dimensions = tuple(row["dimensions"].split(";"))
    return Metric(row["name"], row["display"], row["unit"], aggregations, dimensions)
