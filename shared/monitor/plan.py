"""Components -> the fewest queries of `metrics:getBatch` that answer them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from shared.model import Component

DEPLOYMENT = "ModelDeploymentName"
MOST_NAMES, MOST_ACCOUNTS = 20, 50
"""Limits of one getBatch request (REST reference, facts on Azure Monitor)."""

T = TypeVar("T")


@dataclass(frozen=True)
class Query:
    """Metrics that share an aggregation and the dimensions they are split by."""

    metrics: tuple[str, ...]
    aggregation: str
    dimensions: tuple[str, ...]
    """Besides the deployment, which every query is split by."""
    components: tuple[Component, ...]

    def only(self, metrics: Sequence[str]) -> Query:
        """The part of the query that asks for some of its metrics."""
        kept = tuple(c for c in self.components if c.metric in metrics)
        return Query(tuple(metrics), self.aggregation, self.dimensions, kept)


def plan(components: Iterable[Component]) -> tuple[Query, ...]:
    """Groups by (aggregation, dimensions), at most 20 names each.

    A total and its parts come from one query, split by all dimensions that the parts need; other
    aggregations cannot be added up, so each split of theirs is asked by itself.
    """
    wanted = list(dict.fromkeys(components))
    groups: dict[tuple[str, tuple[str, ...]], dict[str, list[Component]]] = {}
    for component in wanted:
        dimensions = {name for name, _ in component.where}
        if component.aggregation == "total":
            dimensions = {
                name
                for other in wanted
                if other.metric == component.metric and other.aggregation == "total"
                for name, _ in other.where
            }
        group = groups.setdefault((component.aggregation, tuple(sorted(dimensions))), {})
        group.setdefault(component.metric, []).append(component)
    return tuple(
        Query(names, aggregation, dimensions, tuple(c for n in names for c in metrics[n]))
        for (aggregation, dimensions), metrics in groups.items()
        for names in chunks(tuple(metrics), MOST_NAMES)
    )


def chunks(items: Sequence[T], size: int) -> list[tuple[T, ...]]:
    return [tuple(items[n : n + size]) for n in range(0, len(items), size)]


def filter_of(query: Query, deployments: Sequence[str] = ()) -> str:
    """The filter expression: every deployment, or some, each split by the query's dimensions."""
    names = " or ".join(f"{DEPLOYMENT} eq '{_literal(name)}'" for name in deployments)
    parts = [names or f"{DEPLOYMENT} eq '*'"]
    return " and ".join([*parts, *(f"{name} eq '*'" for name in query.dimensions)])


def _literal(value: str) -> str:
    """A value as the filter wants it: quotes doubled, brackets encoded twice as documented (the
    URL's own encoding comes on top), and so the percent sign itself."""
    encoded = value.replace("%", "%2525").replace("(", "%2528").replace(")", "%2529")
    return encoded.replace("'", "''")
