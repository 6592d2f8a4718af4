"""The frozen values that the stages hand on. Imports nothing of ours.

Times are slots: whole UTC minutes since 1970. Slot n covers [60 n, 60 n + 60) seconds.
Everything here that is kept in state is encoded by msgspec (MessagePack), so fields may be
added with a default, never renamed or reordered in meaning.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

Slot = int

SETTLE = 3
"""Minutes after its end at which a slot is settled (Azure Monitor's newest minutes are partial)."""
CATCH_UP = 360
"""Slots further back than this are named as unjudged instead of judged late."""
HOLD = 10
"""Minutes for which a transient failure holds an account before its slots are judged as failed."""
STALE_AFTER = 120
"""Minutes of nothing but missing traffic after which a firing alert ends."""
LEARNED = 24 * 60
"""Minutes after which an episode is no longer kept out of the baselines: what stays so long may
become normal."""
EPISODE_MEMORY = 15 * 24 * 60
"""Minutes for which an ended episode is remembered, to leave it out of the baselines."""

UNATTRIBUTED = "(unattributed)"
"""Traffic that Azure Monitor puts down to no deployment (`__Empty`: image and audio models); no
deployment can have this name."""

Severity = Literal["critical", "warning", "info"]
Kind = Literal["fired", "reminded", "resolved", "notice"]


class Value(msgspec.Struct, frozen=True):
    """Base of the values below: frozen, compared by content, encodable."""


class Account(Value, frozen=True):
    """One Azure OpenAI or Foundry account; `id` is its resource id in lower case."""

    id: str
    region: str

    @property
    def subscription(self) -> str:
        return self.id.split("/")[2]

    @property
    def name(self) -> str:
        return self.id.rsplit("/", 1)[-1]

    @property
    def shard(self) -> str:
        """The unit of fetching, state and spreading: `SUBSCRIPTION.REGION`."""
        return f"{self.subscription}.{self.region}"


class Deployment(Value, frozen=True, order=True):
    """One model deployment: account resource id in lower case, name as Azure first showed it.

    Azure changes the case of names between answers; whoever reads Azure maps every spelling to
    the one Deployment that is already known (see `key`).
    """

    account: str
    name: str

    @property
    def key(self) -> str:
        """What identity is decided by: without case."""
        return f"{self.account}/deployments/{self.name.casefold()}"

    @property
    def account_name(self) -> str:
        return self.account.rsplit("/", 1)[-1]

    @property
    def unattributed(self) -> bool:
        """Several deployments at once, so nothing is normal for it."""
        return self.name == UNATTRIBUTED


class Component(Value, frozen=True, order=True):
    """What is asked of Azure Monitor: a metric, how it is aggregated, and which part of it.

    `where` holds (dimension, pattern): a value such as `429`, or `2xx` for all of its class.
    """

    metric: str
    aggregation: str
    where: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        part = ",".join(f"{name}={pattern}" for name, pattern in self.where)
        return f"{self.metric}:{self.aggregation}" + (f"[{part}]" if part else "")


@dataclass(frozen=True, eq=False)
class Series:
    """One time series as Azure Monitor has it, a value a step, NaN where it has no point."""

    deployment: Deployment
    metric: str
    aggregation: str
    dimensions: tuple[tuple[str, str], ...]
    """What it is split by besides the deployment, e.g. (("StatusCode", "429"),)."""
    values: NDArray[np.float64]


class Failure(Value, frozen=True):
    """Why a component could not be read. A transient failure may pass if it is asked again."""

    reason: str
    transient: bool


@dataclass(frozen=True, eq=False)
class Reading:
    """What was read of some accounts over [start, start + steps * step), in minutes."""

    start: Slot
    step: int
    steps: int
    series: tuple[Series, ...] = ()
    failures: Mapping[tuple[str, Component], Failure] = field(default_factory=dict)
    """By account id and component."""
    truncated: tuple[str, ...] = ()
    """Answers that were cut at the series limit, in words."""
    queries: int = 0


class Fit(Value, frozen=True):
    """What is normal for a signal of a deployment, computed from history; valid from `slot` on.

    `level`: median of the signal. `line`: expectation = intercept + slope * given, trusted for
    given in [low, high]. `before`: the value in the hour before a change (`given` is then the kind
    of change and `slot` its minute).
    `spread` is the relative standard deviation of one request.
    """

    kind: Literal["level", "line", "before"]
    signal: str
    given: str
    deployment: Deployment
    slot: Slot
    start: Slot
    samples: int
    level: float
    spread: float = 0.0
    intercept: float = 0.0
    slope: float = 0.0
    low: float = 0.0
    high: float = 0.0
    reference: str = ""
    ready: bool = True
    """Whether there was history enough; if not, the fit only says when it was tried."""
    hours: tuple[float, ...] = ()
    """A level by hour of the day (UTC), each as a multiple of `level`; empty where the history
    does not support it."""

    @property
    def key(self) -> str:
        """Names the question that this fit answers, e.g. `ttlt given tokens_per_answer`."""
        return fit_key(self.kind, self.signal, self.given)


def fit_key(kind: str, signal: str, given: str) -> str:
    """`ttlt`, `ttlt given tokens_per_answer`, `cache_match_rate before prompt_template`."""
    if not given:
        return signal
    return f"{signal} {'before' if kind == 'before' else 'given'} {given}"


class Alert(Value, frozen=True):
    """A rule that is pending or firing on a deployment. No Alert means inactive."""

    rule: str
    deployment: Deployment
    state: Literal["pending", "firing"]
    since: Slot
    """First breach; with rule and deployment it names the episode."""
    last_known: Slot
    """Latest slot with a verdict other than unknown."""
    elapsed: int = 0
    """Breaches since the first one; what lies between the thresholds does not count."""
    recent: tuple[tuple[Slot, bool], ...] = ()
    """Last known slots and whether they breached, for `n of m`."""
    fired: Slot | None = None
    told: bool = False
    """Whether people were told that it fires; only then are they told that it ended."""
    clear: int | None = None
    """Clear slots after the first clear one of the present run; None while not clear."""
    quiet_since: Slot | None = None
    """Start of the present run of only idle or too little traffic."""
    mark: str = ""
    """Why the latest slot was unknown, for people; empty while known."""
    worst: float | None = None
    """Furthest value of the rule's leading signal, in the direction of the condition."""
    pins: tuple[Fit, ...] = ()
    """The fits that this episode began with, and is compared with for its first LEARNED minutes,
    whatever is refitted meanwhile."""
    told_at: Slot | None = None
    """When an event last said that it fires; for an observed rule one that is only shown."""
    reminders: int = 0
    muted: str = ""
    """Why people are not told at present: a silence, or a rule that says more."""

    @property
    def announced(self) -> bool:
        """Whether an event said that it fires; only then does one say that it ended."""
        return self.told or self.told_at is not None


def episode_id(rule: str, deployment: Deployment, since: Slot) -> str:
    """16 hexadecimal digits that name an episode; the same wherever and however often computed."""
    text = f"{rule}\n{deployment.key}\n{since}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Episode(Value, frozen=True):
    """A fired episode, remembered for EPISODE_MEMORY to keep it out of the baselines."""

    rule: str
    deployment: Deployment
    since: Slot
    end: Slot | None = None


class Fact(Value, frozen=True):
    """One line of evidence, ready to show; empty text where there is nothing to say."""

    name: str
    now: str
    reference: str = ""
    """What was to be expected, e.g. `1.9 s expected`."""
    threshold: str = ""
    """What the rule compares with, e.g. `> 2.4 s`."""


class Chart(Value, frozen=True):
    """The leading signal before the event, a value a minute; None where there is no point."""

    title: str
    unit: str
    start: Slot
    values: tuple[float | None, ...]
    threshold: tuple[float | None, ...] = ()


class Evidence(Value, frozen=True):
    """The metric that a portal link opens."""

    metric: str
    aggregation: str


class Event(Value, frozen=True):
    """Something people may be told. The id follows from episode, kind and sequence number."""

    id: str
    episode: str
    kind: Kind
    sequence: int
    slot: Slot
    since: Slot
    rule: str
    severity: Severity
    owner: str
    runbook: str
    deployment: Deployment
    region: str
    summary: str
    reason: str = ""
    """How it ended, for resolved: recovered, no traffic, ..."""
    worst: str = ""
    facts: tuple[Fact, ...] = ()
    chart: Chart | None = None
    evidence: Evidence | None = None
    notify: bool = True
    """False for rules that are only observed: kept, not told."""

    @classmethod
    def of(
        cls,
        kind: Kind,
        rule: str,
        deployment: Deployment,
        since: Slot,
        slot: Slot,
        *,
        severity: Severity,
        region: str,
        summary: str,
        owner: str = "",
        runbook: str = "",
        sequence: int = 0,
        **more: Any,
    ) -> Event:
        """An event with the ids that follow from what it is about; `more` are further fields."""
        episode = episode_id(rule, deployment, since)
        return cls(
            id=f"{episode}-{kind}-{sequence}",
            episode=episode,
            kind=kind,
            sequence=sequence,
            slot=slot,
            since=since,
            rule=rule,
            severity=severity,
            owner=owner,
            runbook=runbook,
            deployment=deployment,
            region=region,
            summary=summary,
            **more,
        )


class Change(Value, frozen=True):
    """A recorded moment that alters behaviour, for the deployments that a glob matches."""

    kind: str
    slot: Slot
    deployment: str
    """Glob over deployment names, or over `ACCOUNT/NAME` where it has a slash; without case."""
    reference: str
    recorded: Slot = 0


class Muted(Value, frozen=True):
    """What somebody silenced for some time: rules and deployments by globs, none for all."""

    id: str
    reason: str
    owner: str
    begin: Slot
    end: Slot
    rules: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    deployments: tuple[str, ...] = ()
    recorded: Slot = 0


class Known(Value, frozen=True):
    """A deployment that has been seen, from which slot on, and whether it ever had a point of a
    metric that only provisioned deployments have."""

    deployment: Deployment
    since: Slot
    provisioned: Slot | None = None


class Head(Value, frozen=True):
    """The one row of a shard that is the truth. What no head names does not exist."""

    build: int = 0
    """Build number of the rulebook that wrote it; an older build may not commit."""
    attempt: str = ""
    watermarks: dict[str, Slot] = {}
    """Last judged slot by account id."""
    known: tuple[Known, ...] = ()
    alerts: tuple[Alert, ...] = ()
    episodes: tuple[Episode, ...] = ()
    fits: dict[str, str] = {}
    """Bucket of deployments -> name of the row that holds their fits."""
    events: tuple[str, ...] = ()
    """Names of the rows of events that have not been made into messages yet."""
    troubles: tuple[Alert, ...] = ()
    """The watchdog's own alerts: accounts that cannot be read."""


MessageState = Literal[
    "pending", "claimed", "accepted", "delivered", "failed", "ambiguous", "folded"
]
DigestKind = Literal["", "storm", "quiet", "daily"]


class Message(Value, frozen=True):
    """What one channel is to be told; the id follows from channel and events."""

    id: str
    channel: str
    events: tuple[Event, ...]
    state: MessageState = "pending"
    attempts: int = 0
    next_try: float = 0.0
    """Unix seconds before which it is not posted again."""
    claimed_until: float = 0.0
    error: str = ""
    """Why the last attempt failed; never holds the webhook's address."""
    digest: DigestKind = ""
    """What kind of digest it is, or, while it has no `digest_id`, is to become a part of at
    `next_try`, instead of being posted itself."""
    digest_id: str = ""
    """The digest that tells it; of a digest its own id."""
    ended: float = 0.0
    """Unix seconds at which it was told, or given up."""
    meant_for: tuple[str, ...] = ()
    """The channels that refused it before it came to this one."""

    @property
    def is_digest(self) -> bool:
        return self.digest_id == self.id


class Channel(Value, frozen=True):
    """What is remembered of a channel. Times are Unix seconds, 0 where there was none."""

    posts: tuple[float, ...] = ()
    """When it was posted to in the last hour, whatever came of it."""
    digests: tuple[float, ...] = ()
    """Those of them that were digests."""
    accepted: float = 0.0
    """When it last took a card."""
    down_since: float = 0.0
    """When it first refused a card for good, and has taken none since."""
    digested: float = 0.0
    """When it was last posted a digest of what was beyond the limit."""


def slot_of(time: datetime) -> Slot:
    """The slot that a time lies in. The time must be aware."""
    return int(time.timestamp() // 60)


def time_of(slot: Slot) -> datetime:
    """The start of a slot, in UTC."""
    return datetime.fromtimestamp(slot * 60, UTC)


def iso(slot: Slot) -> str:
    """The start of a slot as Azure wants it: `2026-12-01T00:55:00Z`."""
    return time_of(slot).strftime("%Y-%m-%dT%H:%M:%SZ")
