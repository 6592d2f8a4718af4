"""What can happen to a deployment: each incident bends the conditions of its minutes."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np

from emulator.source import Array
from emulator.times import Moment, Span


@dataclass(slots=True, eq=False)
class Conditions:
    """What holds in each minute of a day, before chance has its say."""

    minute: Array
    """Minutes since 1970."""
    load: Array
    tokens: Array
    """Factor on generated tokens."""
    ttft: Array
    tbt: Array
    """Seconds, as is `added`, which comes on top whatever the tokens."""
    added: Array
    cache: Array
    """Percent of the prompt tokens that are found in the cache."""
    failing: Array
    status: Array
    """Share of requests that fail, and with which status code."""
    throttled: Array
    utilization: Array
    """NaN where the utilization follows from the tokens."""


class Incident(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True
):
    """Base: which deployment (`name` or `account/name`), from when, for how long."""

    deployment: str
    at: Moment
    length: Span = msgspec.field(name="for")

    @property
    def kind(self) -> str:
        """As a world file writes it."""
        return str(self.__struct_config__.tag)

    def apply(self, now: Conditions, rows: slice) -> None:
        """Bend some rows of a day: those that the incident touches."""
        raise NotImplementedError


class SlowerDecode(Incident, frozen=True, tag="slower_decode"):
    factor: float

    def apply(self, now: Conditions, rows: slice) -> None:
        now.tbt[rows] *= self.factor


class SlowerFirstToken(Incident, frozen=True, tag="slower_first_token"):
    factor: float

    def apply(self, now: Conditions, rows: slice) -> None:
        now.ttft[rows] *= self.factor


class LongerAnswers(Incident, frozen=True, tag="longer_answers"):
    factor: float

    def apply(self, now: Conditions, rows: slice) -> None:
        now.tokens[rows] *= self.factor


class MoreLoad(Incident, frozen=True, tag="more_load"):
    factor: float

    def apply(self, now: Conditions, rows: slice) -> None:
        now.load[rows] *= self.factor


class NoTraffic(Incident, frozen=True, tag="no_traffic"):
    def apply(self, now: Conditions, rows: slice) -> None:
        now.load[rows] = 0.0


class LatencyAdd(Incident, frozen=True, tag="latency_add"):
    seconds: float

    def apply(self, now: Conditions, rows: slice) -> None:
        now.added[rows] += self.seconds


class Saturated(Incident, frozen=True, tag="saturated"):
    utilization: float
    throttled: float = 0.0
    """Share of requests answered 429; bursts just over 100 % are let through without."""

    def apply(self, now: Conditions, rows: slice) -> None:
        now.utilization[rows] = self.utilization
        now.throttled[rows] = self.throttled


class Failing(Incident, frozen=True, tag="failing"):
    share: float
    status: int = 500

    def apply(self, now: Conditions, rows: slice) -> None:
        now.failing[rows] = self.share
        now.status[rows] = self.status


class CacheCollapse(Incident, frozen=True, tag="cache_collapse"):
    to: float
    rewarm: Span = Span(0)
    """Minutes in which the cache climbs back to where it was; 0: it stays low."""

    def apply(self, now: Conditions, rows: slice) -> None:
        elapsed = now.minute[rows] - self.at
        back = np.minimum(1.0, elapsed / self.rewarm) if self.rewarm else 0.0
        now.cache[rows] = self.to + (now.cache[rows] - self.to) * back


Any = (
    SlowerDecode
    | SlowerFirstToken
    | LongerAnswers
    | MoreLoad
    | NoTraffic
    | LatencyAdd
    | Saturated
    | Failing
    | CacheCollapse
)
"""Every kind, as the type that a file is read into."""
