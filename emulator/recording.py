"""A recording as a Source: real data played back; emulator/recordingfile.py reads its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from emulator import recordingfile
from emulator.faults import Fault
from emulator.recordingfile import Component, Tape
from emulator.source import Account, Array, Series

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
        return cls.of(recordingfile.read(path), region)

    @classmethod
    def of(cls, tapes: Sequence[Tape], region: str = "eastus") -> Recording:
        """The tapes as Azure Monitor would show them; there is at least one."""
        tracks: dict[str, list[Track]] = {}
        accounts: dict[str, Account] = {}
        for tape in tapes:
            key = tape.account.casefold()
            accounts.setdefault(key, Account(tape.account, region))
            tracks.setdefault(key, []).append(_track(tape))
        ends = [track.begin + len(track.weights) for each in tracks.values() for track in each]
        return cls(tracks, accounts, min(tape.begin for tape in tapes), max(ends))

    def moved(self, minutes: int) -> Recording:
        """The same so many minutes later."""
        tracks = {
            account: [replace(track, begin=track.begin + minutes) for track in each]
            for account, each in self.tracks.items()
        }
        return replace(self, tracks=tracks, start=self.start + minutes, end=self.end + minutes)

    def deployments(self, account: str) -> Sequence[str]:
        return [track.deployment for track in self.tracks.get(account.casefold(), ())]

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


def _track(tape: Tape) -> Track:
    weights = np.zeros(max(len(values) for values in tape.columns.values()))
    for component, values in tape.columns.items():
        if (component.metric, component.aggregation) == (REQUESTS, "total"):
            weights += np.nan_to_num(values)
    weights[weights <= 0] = 1.0
    return Track(tape.deployment, tape.begin, tape.columns, weights)


def _window(values: Array, begin: int, start: int, end: int) -> Array:
    """The minutes [start, end) of an array that begins elsewhere."""
    window = np.full(end - start, np.nan)
    first, last = max(start, begin), min(end, begin + len(values))
    if first < last:
        window[first - start : last - start] = values[first - begin : last - begin]
    return window
