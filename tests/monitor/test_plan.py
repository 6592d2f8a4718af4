"""From components to the fewest queries."""

from __future__ import annotations

from shared.model import Component
from shared.monitor.plan import Query, filter_of, plan

REQUESTS = Component("AzureOpenAIRequests", "total")
OK = Component("AzureOpenAIRequests", "total", (("StatusCode", "2xx"),))
THROTTLED = Component("AzureOpenAIRequests", "total", (("StatusCode", "429"),))
TTLT = Component("AzureOpenAITTLTInMS", "average")
TOKENS = Component("GeneratedTokens", "total")


def test_a_total_and_its_parts_come_from_one_query() -> None:
    """Requests, successes and 429s are one query, split by StatusCode."""
    (query,) = plan([REQUESTS, OK, THROTTLED])
    assert query.metrics == ("AzureOpenAIRequests",)
    assert query.dimensions == ("StatusCode",)
    assert set(query.components) == {REQUESTS, OK, THROTTLED}


def test_metrics_are_grouped_by_aggregation_and_dimensions() -> None:
    """What is split alike and aggregated alike is asked together; nothing is asked twice."""
    queries = plan([TTLT, TOKENS, REQUESTS, OK, TTLT])
    asked = [(query.aggregation, query.dimensions, query.metrics) for query in queries]
    assert asked == [
        ("average", (), ("AzureOpenAITTLTInMS",)),
        ("total", (), ("GeneratedTokens",)),
        ("total", ("StatusCode",), ("AzureOpenAIRequests",)),
    ]


def test_a_query_names_twenty_metrics_at_most() -> None:
    """Azure's limit of names divides a group."""
    queries = plan(Component(f"Metric{n:02d}", "average") for n in range(45))
    assert [len(query.metrics) for query in queries] == [20, 20, 5]


def test_names_in_filters_are_quoted_as_azure_wants_it() -> None:
    """Quotes are doubled, brackets encoded twice; several names are joined by `or`."""
    query = Query(("M",), "total", ("StatusCode",), ())
    assert filter_of(query) == "ModelDeploymentName eq '*' and StatusCode eq '*'"
    assert filter_of(query, ["it's (new)", "b"]) == (
        "ModelDeploymentName eq 'it''s %2528new%2529' or ModelDeploymentName eq 'b' "
        "and StatusCode eq '*'"
    )
