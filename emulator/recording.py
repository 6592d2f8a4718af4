"""A recording: real data played back, one row a minute and deployment.

The columns are `time, account, deployment` and one a component, such as
`AzureOpenAITTLTInMS:average` or `AzureOpenAIRequests:total[StatusCode=200]`. An empty cell is no
point. CSV or Parquet, by the file's suffix.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from emulator import recordingfile
from emulator.faults import Fault
from emulator.recordingfile import KEYS, Component, Minutes, RecordingError
from emulator.source import Account, Array, Series
from emulator.times import iso

REQUESTS = "AzureOpenAIRequests"


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """The minutes of one deployment from `begin` on, an array a component."""

    deployment: str
    begin: int
    columns: Mapping[Component, Array]
    weights: Array
    """Requests of all statuses; 1 where the recording does not say."""


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """A Source that plays a recording. Its clock begins at the first minute."""

    tracks: Mapping[str, Sequence[Track]]
    accounts: Mapping[str, Account]
    start: int
    end: int
    ingest_delay: int = 1
    faults: Sequence[Fault] = field(default_factory=tuple)

    @classmethod
    def load(cls, path: Path, region: str = "eastus") -> Recording:
        """Read a recording; all its accounts are said to lie in one region."""
        table = recordingfile.read(path)
        components = {
            name: recordingfile.component(path, name) for name in table.column_names[len(KEYS) :]
        }
        recordingfile.refuse_mixtures(path, list(components.values()))
        times = recordingfile.minutes(path, table)
        values = {c: recordingfile.numbers(path, table, name) for name, c in components.items()}
        tracks: dict[str, list[Track]] = {}
        for (account, deployment), rows in _groups(path, table, times).items():
            track = _track(deployment, times[rows], {c: v[rows] for c, v in values.items()})
            tracks.setdefault(account.casefold(), []).append(track)
        ids = {account.casefold(): account for account in table["account"].unique().to_pylist()}
        accounts = {key: Account(ids[key], region) for key in tracks}
        return cls(tracks, accounts, int(times.min()), int(times.max()) + 1)

    def series(
        self, account: str, metric: str, aggregation: str, start: int, end: int
    ) -> Sequence[Series]:
        return [
            Series(
                {"ModelDeploymentName": track.deployment, **dict(component.where)},
                _window(values, track.begin, start, end),
                _window(track.weights, track.begin, start, end),
            )
            for track in self.tracks.get(account.casefold(), ())
            for component, values in track.columns.items()
            if (component.metric, component.aggregation) == (metric, aggregation)
        ]


def _groups(path: Path, table: Any, times: Minutes) -> dict[tuple[str, str], list[int]]:
    """The rows of each deployment; a minute may be given once."""
    groups: dict[tuple[str, str], list[int]] = {}
    seen: set[tuple[str, str, int]] = set()
    rows = zip(
        table["account"].to_pylist(), table["deployment"].to_pylist(), times.tolist(), strict=True
    )
    for index, (account, deployment, minute) in enumerate(rows):
        if not account or not deployment:
            raise RecordingError(f"{path}: line {index + 2}: account and deployment are required")
        if (account, deployment, minute) in seen:
            text = f"line {index + 2}: {iso(minute)} of {deployment} is given twice"
            raise RecordingError(f"{path}: {text}")
        seen.add((account, deployment, minute))
        groups.setdefault((account, deployment), []).append(index)
    return groups


def _track(
    deployment: str,
    times: Minutes,
    values: Mapping[Component, Array],
) -> Track:
    begin, size = int(times.min()), int(times.max() - times.min()) + 1
    columns = {component: np.full(size, np.nan) for component in values}
    for component, column in columns.items():
        column[times - begin] = values[component]
    requests = [v for c, v in columns.items() if (c.metric, c.aggregation) == (REQUESTS, "total")]
    weights = np.nansum([np.zeros(size), *requests], axis=0)
    return Track(deployment, begin, columns, np.where(weights > 0, weights, 1.0))


def _window(values: Array, begin: int, start: int, end: int) -> Array:
    """The minutes [start, end) of an array that begins elsewhere."""
    window = np.full(end - start, np.nan)
    first, last = max(start, begin), min(end, begin + len(values))
    if first < last:
        window[first - start : last - start] = values[first - begin : last - begin]
    return window
