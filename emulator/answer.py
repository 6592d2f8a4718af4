"""The body of a `metrics:getBatch` answer, in the shape of recorded ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from emulator.catalogue import NAMESPACE, Metric
from emulator.faults import AnyEffect, Entry, Fault, concerning
from emulator.query import AzureError, Query
from emulator.source import Account, Array, Series, Source, reduce
from emulator.times import iso
from emulator.visibility import Visibility

NO_VALUE = "__Empty"
"""What Azure shows where a series has no value for a dimension."""
Groups = dict[tuple[str, ...], dict[str, Array]]
"""By the values of the dimensions asked for: the points of each aggregation."""
CANONICAL = {
    "/resourcegroups/": "/resourceGroups/",
    "/microsoft.cognitiveservices/": "/Microsoft.CognitiveServices/",
}


@dataclass(frozen=True, slots=True)
class Teller:
    """Answers one query from a source."""

    source: Source
    query: Query
    visibility: Visibility
    faults: Sequence[Fault] = ()
    max_series: int = 500_000

    def body(self) -> dict[str, list[Entry]]:
        """The answer. Ids that nobody knows are left out; the others come last asked first."""
        known = [
            name for name in reversed(self.query.ids) if name.casefold() in self.source.accounts
        ]
        found = [[self._groups(self._account(n), m) for m in self.query.metrics] for n in known]
        if sum(len(groups) for one in found for groups in one) > self.max_series:
            message = f"Cannot request more than {self.max_series} time series per query."
            raise AzureError(400, "QueryThrottledException", message)
        return {"values": [self._resource(*pair) for pair in zip(known, found, strict=True)]}

    def _account(self, asked: str) -> Account:
        return self.source.accounts[asked.casefold()]

    def _effects(self, account: Account, metric: Metric) -> list[AnyEffect]:
        return concerning(self.faults, account.id.casefold(), account.region, metric.name)

    def _resource(self, asked: str, found: Sequence[Groups]) -> Entry:
        account = self._account(asked)
        pairs = zip(self.query.metrics, found, strict=True)
        return {
            "cost": max(self.query.end - self.query.start - 1, 0),
            "starttime": self.query.starttime,
            "endtime": self.query.endtime,
            "interval": self.query.interval,
            "value": [self._metric(account, metric, groups) for metric, groups in pairs],
            "namespace": NAMESPACE,
            "resourceregion": account.region,
            "resourceid": other_case(asked),
        }

    def _metric(self, account: Account, metric: Metric, groups: Groups) -> Entry:
        end = min(self.query.end, self.visibility.minute)
        times = stamps(self.query.start, end, self.query.grain)
        # `top` counts only where a filter splits, and cuts without a word.
        top = None if self.query.filter is None else self.query.top
        entry: Entry = {
            "id": f"{account.id}/providers/Microsoft.Insights/metrics/{metric.name}",
            "type": "Microsoft.Insights/metrics",
            "name": {"value": metric.name, "localizedValue": metric.display},
            "displayDescription": metric.display,
            "unit": metric.unit,
            "timeseries": [
                {"metadatavalues": self._metadata(values), "data": points(times, columns)}
                for values, columns in list(groups.items())[:top]
            ],
            "errorCode": "Success",
        }
        for effect in self._effects(account, metric):
            effect.spoil(entry)
        return entry

    def _groups(self, account: Account, metric: Metric) -> Groups:
        """One group a series of the answer; series without a point are none."""
        groups: Groups = {}
        if self.query.start >= self.query.end:
            return groups
        for aggregation in self.query.aggregations or (metric.default_aggregation,):
            for values, members in self._parts(account, metric, aggregation).items():
                column = reduce(aggregation, members, self.query.grain)
                if self.query.filter is None and aggregation == "total":
                    # As recorded: a total that is not split has zeros, not gaps.
                    column = np.nan_to_num(column, nan=0.0)
                if not np.isnan(column).all():
                    groups.setdefault(values, {})[aggregation] = column
        return groups

    def _parts(
        self, account: Account, metric: Metric, aggregation: str
    ) -> dict[tuple[str, ...], list[Series]]:
        """The source's series as far as they can be seen, by the dimensions asked for."""
        start, end = self.query.start, self.query.end
        late = sum(effect.lateness for effect in self._effects(account, metric))
        seen = replace(self.visibility, delay=self.visibility.delay + late)
        parts: dict[tuple[str, ...], list[Series]] = {}
        for series in self.source.series(account.id, metric.name, aggregation, start, end):
            values = self._values(series.dimensions, metric)
            if values is not None:
                parts.setdefault(values, []).append(seen.of(series, start, aggregation))
        return parts

    def _values(self, dimensions: Mapping[str, str], metric: Metric) -> tuple[str, ...] | None:
        """The values of the dimensions asked for; None where the filter lets them not through."""
        values = []
        for name, wanted in (self.query.filter or {}).items():
            value = dimensions.get(metric.dimension(name) or "", NO_VALUE)
            if wanted is not None and value.casefold() not in wanted:
                return None
            values.append(value)
        return tuple(values)

    def _metadata(self, values: Sequence[str]) -> list[Entry]:
        names = [name.casefold() for name in self.query.filter or ()]
        return [
            {"name": {"value": name, "localizedValue": name}, "value": value}
            for name, value in zip(names, values, strict=True)
        ]


@lru_cache(maxsize=64)
def stamps(start: int, end: int, grain: int) -> tuple[str, ...]:
    return tuple(iso(minute) for minute in range(start, end, grain))


def points(times: Sequence[str], columns: Mapping[str, Array]) -> list[Entry]:
    """One entry a time; where there is no value it holds the time alone."""
    data: list[Entry] = [{"timeStamp": time} for time in times]
    for name, column in columns.items():
        for point, value in zip(data, column.tolist(), strict=False):
            if value == value:  # not NaN
                point[name] = int(value) if value.is_integer() else value
    return data


def other_case(name: str) -> str:
    """A resource id in another case than it was asked in, as Azure is free to answer."""
    if name != name.casefold():
        return name.casefold()
    for lower, canonical in CANONICAL.items():
        name = name.replace(lower, canonical)
    return name
