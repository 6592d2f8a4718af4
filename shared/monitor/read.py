"""Accounts and components -> a Reading. One account, metric or batch that fails costs no other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from shared.model import (
    UNATTRIBUTED,
    Account,
    Component,
    Deployment,
    Failure,
    Reading,
    Series,
    Slot,
    iso,
)
from shared.monitor.body import Answer, BodyError, answers
from shared.monitor.client import QueryError
from shared.monitor.plan import DEPLOYMENT, MOST_ACCOUNTS, Query, chunks, filter_of, plan

NAMESPACE = "microsoft.cognitiveservices/accounts"
EMPTY = "__Empty"
TOP = 5_000
"""Series a metric and resource; Azure's default of 10 cuts silently."""
_TRANSIENT_CODES = ("throttled", "timeout", "servererror", "internalservererror", "unavailable")


class Poster(Protocol):
    """What asks Azure Monitor: see client.Client."""

    def post(
        self, region: str, subscription: str, parameters: Mapping[str, str], ids: list[str]
    ) -> bytes: ...


@dataclass(frozen=True)
class Range:
    """Steps of `step` minutes from `start`."""

    start: Slot
    steps: int
    step: int = 1


@dataclass
class _Collected:
    series: list[Series] = field(default_factory=list)
    failures: dict[tuple[str, Component], Failure] = field(default_factory=dict)
    truncated: list[str] = field(default_factory=list)
    queries: int = 0
    silence: Failure | None = None
    """Why nobody answers in this region, once that is known."""


def read(
    poster: Poster,
    accounts: Iterable[Account],
    components: Iterable[Component],
    over: Range,
    deployments: Sequence[str] = (),
) -> Reading:
    """Reads the components of some accounts of one subscription and region.

    What cannot be read is in `failures`, never an exception: the other accounts and components are
    judged all the same. `deployments` narrows the query to some deployments by name.
    """
    collected = _Collected()
    for batch in chunks(tuple(accounts), MOST_ACCOUNTS):
        for query in plan(components):
            if collected.silence:
                _fail(batch, query, collected.silence, collected)
            else:
                _ask(poster, batch, query, over, deployments, collected)
    return Reading(
        over.start,
        over.step,
        over.steps,
        tuple(collected.series),
        collected.failures,
        tuple(collected.truncated),
        collected.queries,
    )


def _ask(
    poster: Poster,
    batch: Sequence[Account],
    query: Query,
    over: Range,
    deployments: Sequence[str],
    into: _Collected,
) -> None:
    """Asks one query of one batch; where it fails and is divisible, asks its halves."""
    first = batch[0]
    into.queries += 1
    try:
        parameters = parameters_of(query, over, deployments)
        ids = [account.id for account in batch]
        body = poster.post(first.region, first.subscription, parameters, ids)
        found = list(answers(body, query.aggregation, over.start, over.step, over.steps))
    except BodyError as error:
        _fail(batch, query, Failure(str(error), transient=True), into)
    except QueryError as error:
        halves = list(_halves(batch, query)) if error.divisible else []
        into.silence = Failure(error.reason, error.transient) if error.silent else None
        for half, part in halves:
            _ask(poster, half, part, over, deployments, into)
        if not halves:
            _fail(batch, query, Failure(error.reason, error.transient), into)
    else:
        _collect(found, batch, query, into)


def _halves(batch: Sequence[Account], query: Query) -> Iterator[tuple[Sequence[Account], Query]]:
    """First by metric, since one unknown metric is the commonest reason; then by account."""
    if len(query.metrics) > 1:
        middle = len(query.metrics) // 2
        yield batch, query.only(query.metrics[:middle])
        yield batch, query.only(query.metrics[middle:])
    elif len(batch) > 1:
        middle = len(batch) // 2
        yield batch[:middle], query
        yield batch[middle:], query


def parameters_of(query: Query, over: Range, deployments: Sequence[str]) -> dict[str, str]:
    """The query string of a request, before encoding."""
    return {
        "metricnamespace": NAMESPACE,
        "metricnames": ",".join(query.metrics),
        "aggregation": query.aggregation,
        "interval": f"PT{over.step}M",
        "starttime": iso(over.start),
        "endtime": iso(over.start + over.steps * over.step),
        "filter": filter_of(query, deployments),
        "top": str(TOP),
    }


def _collect(
    found: Iterable[Answer], batch: Sequence[Account], query: Query, into: _Collected
) -> None:
    accounts = {account.id for account in batch}
    by_metric: dict[str, list[Component]] = {}
    for component in query.components:
        by_metric.setdefault(component.metric.casefold(), []).append(component)
    answered = set()
    for answer in found:
        components = by_metric.get(answer.metric.casefold(), [])
        if answer.resource not in accounts or not components:
            continue
        answered.add((answer.resource, answer.metric.casefold()))
        if answer.error:
            failure = Failure(answer.error, _passing(answer.error))
            for component in components:
                into.failures[answer.resource, component] = failure
            continue
        if len(answer.series) >= TOP:
            into.truncated.append(f"{answer.resource}: {answer.metric} has {TOP} series or more")
        into.series += _series(answer, components[0])
    for account in batch:
        for metric, components in by_metric.items():
            if (account.id, metric) not in answered:
                failure = Failure("the answer leaves this account out", transient=True)
                into.failures |= {(account.id, component): failure for component in components}


def _series(answer: Answer, component: Component) -> Iterator[Series]:
    for dimensions, values in answer.series:
        name = dimensions.get(DEPLOYMENT.casefold())
        if not name:
            continue
        others = tuple(
            (key, value)
            for key, value in sorted(dimensions.items())
            if key != DEPLOYMENT.casefold()
        )
        deployment = Deployment(answer.resource, UNATTRIBUTED if name == EMPTY else name)
        yield Series(deployment, component.metric, component.aggregation, others, values)


def _passing(error: str) -> bool:
    return any(code in error.casefold() for code in _TRANSIENT_CODES)


def _fail(batch: Sequence[Account], query: Query, failure: Failure, into: _Collected) -> None:
    for account in batch:
        for component in query.components:
            into.failures[account.id, component] = failure
