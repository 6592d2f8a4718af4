"""A made-up world: deployments, their traffic and what happens to them, minute by minute.

A day of a deployment is drawn at once from (seed, deployment, day), so every minute is the same
whatever range is asked in whatever order.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zlib import crc32

import numpy as np

from emulator import incidents, traffic, worldfile
from emulator.generate import Day, Law, day
from emulator.incidents import Conditions
from emulator.source import Account, Array, Series
from emulator.times import DAY
from emulator.worldfile import Recorded, WorldFile

DAYS_KEPT = 1000
"""Days of deployments kept in memory, at about 0.3 MB each."""


@dataclass(frozen=True, slots=True)
class Deployment:
    spec: worldfile.Deployment
    incidents: tuple[incidents.Any, ...]
    law: Law
    seed: int
    dimensions: dict[str, str]


class World:
    """A Source that makes its numbers up. `file` holds changes, expectations and decoys."""

    def __init__(self, file: WorldFile) -> None:
        self.file = file
        self.start = int(file.start.timestamp() // 60)
        self.begin = self.start - file.lead_in
        self.end = self.start + file.length
        self.ingest_delay = int(file.ingest_delay)
        self.changes = tuple(file.changes)
        self.expect = tuple(file.expect)
        self.silent = tuple(file.silent)
        self.faults = tuple(file.faults)
        self.accounts = {a.id.casefold(): Account(a.id, a.region) for a in file.accounts}
        self._deployments = {
            account.id.casefold(): [
                _deployment(file, account, spec) for spec in account.deployments
            ]
            for account in file.accounts
        }
        self._days: OrderedDict[tuple[int, int], Day] = OrderedDict()

    @classmethod
    def load(cls, path: Path, begin: datetime | None = None) -> World:
        """Read a world file; `begin` moves it to another start."""
        return cls(worldfile.load(path, begin))

    @classmethod
    def read(cls, text: str) -> World:
        return cls(worldfile.read(text))

    def deployments(self, account: str) -> Sequence[str]:
        return [one.spec.name for one in self._deployments.get(account.casefold(), ())]

    def series(
        self, account: str, metric: str, aggregation: str, start: int, end: int
    ) -> Sequence[Series]:
        return [
            series
            for deployment in self._deployments.get(account.casefold(), ())
            for series in self._series(deployment, metric, aggregation, start, end)
        ]

    def _series(
        self, deployment: Deployment, metric: str, aggregation: str, start: int, end: int
    ) -> Iterator[Series]:
        numbers = range(start // DAY, (end - 1) // DAY + 1)
        days = [self._day(deployment, number) for number in numbers]
        keys = dict.fromkeys(key for one in days for key in one if key[0] == metric)
        rows = slice(start - numbers.start * DAY, end - numbers.start * DAY)
        for key in keys:
            blocks = [one.get(key) for one in days]
            values = [b.values(aggregation) if b else _NOTHING for b in blocks]
            weights = [b.count if b else _NOTHING for b in blocks]
            dimensions = deployment.dimensions | ({"StatusCode": key[1]} if key[1] else {})
            shown = self._shown(metric, np.concatenate(values)[rows], start)
            yield Series(dimensions, shown, np.concatenate(weights)[rows])

    def _shown(self, metric: str, values: Array, start: int) -> Array:
        """Idle minutes as the world shows them, and nothing from before it began."""
        if self.file.idle == "zero" and metric in _ZERO_WHEN_IDLE:
            values = np.nan_to_num(values, nan=0.0)
        if start < self.begin:
            values = values.copy()
            values[: self.begin - start] = np.nan
        return values

    def _day(self, deployment: Deployment, number: int) -> Day:
        key = (deployment.seed, number)
        found = self._days.get(key)
        if found is None:
            random = np.random.default_rng([self.file.seed, deployment.seed, number])
            found = day(deployment.law, conditions(deployment, number), random)
            self._days[key] = found
            if len(self._days) > DAYS_KEPT:
                self._days.popitem(last=False)
        return found


_NOTHING = np.full(DAY, np.nan)
_ZERO_WHEN_IDLE = frozenset(
    {
        "AzureOpenAIRequests",
        "ProcessedPromptTokens",
        "GeneratedTokens",
        "TokenTransaction",
        "AzureOpenAIProvisionedManagedUtilizationV2",
    }
)


def conditions(deployment: Deployment, number: int) -> Conditions:
    """What holds in each minute of a day, the deployment's incidents included."""
    spec = deployment.spec
    begin = number * DAY
    minutes = np.arange(begin, begin + DAY, dtype=np.float64)
    now = Conditions(
        minute=minutes,
        load=_load(spec.load, minutes),
        tokens=np.ones(DAY),
        ttft=np.full(DAY, spec.ttft_s),
        tbt=np.full(DAY, spec.tbt_ms / 1000),
        added=np.zeros(DAY),
        cache=np.full(DAY, spec.cache_match),
        failing=np.full(DAY, spec.error_rate),
        status=np.full(DAY, 500.0),
        throttled=np.zeros(DAY),
        utilization=np.full(DAY, np.nan),
    )
    for incident in deployment.incidents:
        first = max(incident.at - begin, 0)
        last = min(incident.at + incident.length - begin, DAY)
        if first < last:
            incident.apply(now, slice(first, last))
    return now


def _load(load: float | Recorded, minutes: Array) -> Array:
    if isinstance(load, Recorded):
        return traffic.load_at(load.recorded, load.mean, minutes)
    return np.full(DAY, float(load))


def _deployment(
    file: WorldFile, account: worldfile.AccountPart, spec: worldfile.Deployment
) -> Deployment:
    names = {spec.name, f"{account.id.rsplit('/', 1)[-1]}/{spec.name}"}
    return Deployment(
        spec=spec,
        incidents=tuple(one for one in file.incidents if one.deployment in names),
        law=Law(spec.capacity, spec.noise, spec.cache_noise, traffic.tokens(spec.tokens)),
        seed=crc32(f"{account.id}/{spec.name}".casefold().encode()),
        dimensions={
            "ModelDeploymentName": spec.name,
            "ModelName": spec.model,
            "ModelVersion": spec.version,
            "Region": account.region,
            "ApiName": "Azure OpenAI API",
            "OperationName": "ChatCompletions_Create",
            "StreamType": "Streaming",
            "IsSpillover": "False",
        },
    )
