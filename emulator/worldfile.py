"""The YAML of a world, as it is written, and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import yaml

from emulator import incidents
from emulator.catalogue import ACCOUNT_ID
from emulator.faults import Fault
from emulator.times import Moment, Span, minutes
from emulator.traffic import DATA


class WorldError(ValueError):
    """A world file that cannot be read; the text says where and why."""


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of what a world is made of: frozen, and picky about names."""


Positive = Annotated[float, msgspec.Meta(ge=0)]


def known(file: str) -> None:
    """Refuses recorded traffic that is not there."""
    if not (DATA / file).is_file():
        there = ", ".join(sorted(path.name for path in DATA.glob("*.csv")))
        raise ValueError(f"no recorded traffic {file!r}; there are {there}")


class Recorded(Part, frozen=True):
    """Load in the shape of recorded traffic, scaled to a mean."""

    recorded: str
    mean: Positive

    def __post_init__(self) -> None:
        known(self.recorded)


class Deployment(Part, frozen=True):
    name: str
    load: Positive | Recorded
    """Requests a minute."""
    model: str = "gpt-4o"
    version: str = "2024-11-20"
    capacity: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """Tokens a minute of a provisioned deployment; without it, pay-as-you-go."""
    tokens: str = "AzureLLMInferenceTrace_conv.csv"
    ttft_s: Positive = 0.2
    tbt_ms: Positive = 12.0
    noise: Positive = 0.15
    """Spread of the latency of one request around its law."""
    cache_match: Positive = 60.0
    cache_noise: Positive = 8.0
    error_rate: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0

    def __post_init__(self) -> None:
        known(self.tokens)


class AccountPart(Part, frozen=True):
    id: str
    region: str
    deployments: Annotated[list[Deployment], msgspec.Meta(min_length=1)]

    def __post_init__(self) -> None:
        if not ACCOUNT_ID.fullmatch(self.id):
            raise ValueError(
                f"{self.id!r} is no resource id: write /subscriptions/SUB/resourceGroups/GROUP/"
                "providers/Microsoft.CognitiveServices/accounts/NAME"
            )


class Change(Part, frozen=True):
    """A change that someone records, such as a new prompt template."""

    kind: str
    deployment: str
    at: Moment
    reference: str


class Expectation(Part, frozen=True):
    """A rule must fire on a deployment between two minutes, and hold at least until a third."""

    rule: str
    deployment: str
    first: Moment = msgspec.field(name="from")
    last: Moment = msgspec.field(name="to")
    holds_until: Moment | None = None


class Decoy(Part, frozen=True):
    """Something that looks like trouble and must stay silent."""

    what: str
    deployment: str
    first: Moment = msgspec.field(name="from")
    last: Moment = msgspec.field(name="to")


class WorldFile(Part, frozen=True):
    start: datetime
    length: Span = msgspec.field(name="for")
    accounts: Annotated[list[AccountPart], msgspec.Meta(min_length=1)]
    seed: Annotated[int, msgspec.Meta(ge=0)] = 0
    lead_in: Span = Span(0)
    """Minutes of history before the start."""
    idle: Literal["zero", "absent"] = "absent"
    """What Azure shows of split totals and of utilization in minutes without requests."""
    ingest_delay: Span = Span(1)
    incidents: list[incidents.Any] = []
    changes: list[Change] = []
    expect: list[Expectation] = []
    silent: list[Decoy] = []
    faults: list[Fault] = []

    def __post_init__(self) -> None:
        if self.length <= 0:
            raise ValueError("`for` must be longer than nothing, such as 2h")
        known = {d.name for account in self.accounts for d in account.deployments}
        known |= {
            f"{a.id.rsplit('/', 1)[-1]}/{d.name}" for a in self.accounts for d in a.deployments
        }
        for part in (*self.incidents, *self.changes, *self.expect, *self.silent):
            if part.deployment not in known:
                raise ValueError(f"no deployment {part.deployment!r}; there are {sorted(known)}")


def read(text: str, name: str = "world", begin: datetime | None = None) -> WorldFile:
    """Read a world; spans become minutes, moments become minutes since 1970.

    `begin` moves the world to another start.
    """
    try:
        data = yaml.safe_load(text)
        start = data["start"] if isinstance(data, dict) and "start" in data else None
        start = begin or start
        if not isinstance(start, datetime) or start.tzinfo is None:
            raise WorldError(f"{name}: start must be a UTC time such as 2026-12-01T08:00:00Z")
        data["start"] = start.astimezone(UTC)
        return msgspec.convert(data, WorldFile, dec_hook=_hook(int(start.timestamp() // 60)))
    except WorldError:
        raise
    # ValueError: YAML's own word for a day such as 2026-02-30.
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise WorldError(f"{name}: {error}") from error


def load(path: Path, begin: datetime | None = None) -> WorldFile:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise WorldError(f"{path} is no UTF-8 text: a world is a YAML file") from None
    return read(text, str(path), begin)


def _hook(start: int) -> Callable[[type, Any], Any]:
    def decode(kind: type, value: Any) -> Any:
        if kind is Moment:
            return Moment(start + minutes(str(value)))
        if kind is Span:
            return Span(minutes(str(value)))
        raise NotImplementedError(kind)

    return decode
