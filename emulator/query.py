"""A request of `metrics:getBatch`, read and refused as Azure Monitor does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

import msgspec

from emulator.catalogue import ACCOUNT_ID, NAMESPACE, Metric, metrics
from emulator.filters import Filter, FilterError, parse
from emulator.times import minute_of

GRAINS = {
    "PT1M": 1,
    "PT5M": 5,
    "PT15M": 15,
    "PT30M": 30,
    "PT1H": 60,
    "PT6H": 360,
    "PT12H": 720,
    "P1D": 1440,
}
VERSIONS = ("2023-10-01", "2024-02-01")
MAX_IDS = 50
MAX_METRICS = 20
DEFAULT_TOP = 10


class AzureError(Exception):
    """An answer other than 200, in the shape of the batch API."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = msgspec.json.encode({"error": {"code": code, "message": message}})


def bad(message: str) -> AzureError:
    return AzureError(400, "BadRequest", message)


class Body(msgspec.Struct, frozen=True):
    resourceids: list[str]


@dataclass(frozen=True, slots=True)
class Query:
    ids: tuple[str, ...]
    metrics: tuple[Metric, ...]
    aggregations: tuple[str, ...]
    """Empty where not asked: each metric then answers with its own."""
    interval: str
    grain: int
    starttime: str
    endtime: str
    filter: Filter | None
    top: int

    @property
    def start(self) -> int:
        """The first minute; starts are rounded down to the grain."""
        return minute_of(self.starttime) // self.grain * self.grain

    @property
    def end(self) -> int:
        """The minute after the last; ends are rounded down as well, as recorded bodies show."""
        return minute_of(self.endtime) // self.grain * self.grain


def read(subscription: str, params: Mapping[str, str], body: bytes) -> Query:
    """The query, or the AzureError that it deserves."""
    asked = {name.casefold(): value for name, value in params.items()}
    if asked.get("api-version") not in VERSIONS:
        raise bad(f"The api-version query parameter must be one of: {', '.join(VERSIONS)}.")
    if asked.get("metricnamespace", "").casefold() != NAMESPACE.casefold():
        raise bad(f"The metricnamespace must be {NAMESPACE} for these resources.")
    found = _metrics(asked.get("metricnames", ""))
    interval = asked.get("interval", "PT1M").upper()
    if interval not in GRAINS:
        raise bad(f"Invalid interval: {interval}, supported ones are: {','.join(GRAINS)}.")
    query = Query(
        ids=_ids(subscription, body),
        metrics=found,
        aggregations=_aggregations(asked.get("aggregation", ""), found),
        interval=interval,
        grain=GRAINS[interval],
        starttime=_time(asked, "starttime"),
        endtime=_time(asked, "endtime"),
        filter=_filter(asked.get("filter", ""), found),
        top=_top(asked.get("top")),
    )
    if minute_of(query.endtime) < minute_of(query.starttime):
        raise bad("The endtime lies before the starttime.")
    return query


def _ids(subscription: str, body: bytes) -> tuple[str, ...]:
    try:
        ids = tuple(dict.fromkeys(msgspec.json.decode(body, type=Body).resourceids))
    except msgspec.MsgspecError as error:
        raise bad(f"The request body is not valid: {error}") from error
    if not 0 < len(ids) <= MAX_IDS:
        raise bad(f"The number of resource ids must be between 1 and {MAX_IDS}, not {len(ids)}.")
    for name in ids:
        match = ACCOUNT_ID.fullmatch(name)
        if not match:
            raise bad(f"Invalid resource id: {name}")
        if match["subscription"].casefold() != subscription.casefold():
            raise bad(f"All resources must be of subscription {subscription}: {name}")
    return ids


def _metrics(names: str) -> tuple[Metric, ...]:
    wanted = [name for name in names.split(",") if name]
    if not 0 < len(wanted) <= MAX_METRICS:
        raise bad(f"The number of metrics must be between 1 and {MAX_METRICS}.")
    for name in wanted:
        if name.casefold() not in metrics():
            valid = ",".join(metric.name for metric in metrics().values())
            raise bad(
                "Failed to find metric configuration for provider: Microsoft.CognitiveServices, "
                f"resource Type: accounts, metric: {name}, Valid metrics: {valid}"
            )
    return tuple(metrics()[name.casefold()] for name in wanted)


def _aggregations(text: str, found: tuple[Metric, ...]) -> tuple[str, ...]:
    wanted = tuple(name.strip().casefold() for name in text.split(",") if name.strip())
    for metric in found:
        for name in wanted:
            if name not in metric.aggregations:
                offered = ",".join(metric.aggregations)
                raise bad(
                    f"Metric: {metric.name} does not support requested aggregation: {name}, "
                    f"supported ones are: {offered}"
                )
    return wanted


def _filter(text: str, found: tuple[Metric, ...]) -> Filter | None:
    if not text.strip():
        return None
    try:
        wanted = parse(text)
    except FilterError as error:
        raise bad(str(error)) from error
    for metric in found:
        missing = [name.casefold() for name in wanted if metric.dimension(name) is None]
        if missing:
            raise bad(
                f"Metric: {metric.name} does not support requested dimension combination: "
                f"{','.join(missing)}, supported ones are: {','.join(metric.dimensions)}, "
                f"TraceId: {{{UUID(int=len(text))}}}"
            )
    return wanted


def _time(asked: Mapping[str, str], name: str) -> str:
    text = asked.get(name, "")
    try:
        minute_of(text)
    except ValueError as error:
        raise bad(f"The {name} is invalid: {error}") from error
    return text


def _top(text: str | None) -> int:
    if text is None:
        return DEFAULT_TOP
    if not text.isdecimal() or int(text) < 1:
        raise bad(f"The top must be a whole number above 0, not {text!r}.")
    return int(text)
