"""Ways in which Azure Monitor fails, as data: when a fault matches, and what it then does.

Effects on the whole answer have `respond`; effects on one metric of one resource have `spoil`,
which changes the entry that is about to be sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from emulator.times import Moment, Span

Entry = dict[str, Any]


class Reply(msgspec.Struct):
    """An answer on its way out; `cut` closes the connection before all of it is sent."""

    status: int
    body: bytes
    headers: dict[str, str]
    delay: float = 0.0
    cut: bool = False


class Effect(msgspec.Struct, frozen=True, tag_field="kind", forbid_unknown_fields=True):
    @property
    def lateness(self) -> int:
        """Minutes by which points come late on top of the ordinary delay."""
        return 0

    def respond(self, reply: Reply) -> None:
        """Change the whole answer."""

    def spoil(self, entry: Entry) -> None:
        """Change one metric of one resource."""


class Status(Effect, frozen=True, tag="status"):
    status: int = 429
    retry_after: float | None = None
    code: str = ""
    message: str = "The request could not be served."

    def respond(self, reply: Reply) -> None:
        reply.status = self.status
        error = {"code": self.code or str(self.status), "message": self.message}
        reply.body = msgspec.json.encode({"error": error})
        if self.retry_after is not None:
            reply.headers["Retry-After"] = f"{self.retry_after:g}"


class Hang(Effect, frozen=True, tag="hang"):
    seconds: float = 30.0

    def respond(self, reply: Reply) -> None:
        reply.delay += self.seconds


class CutBody(Effect, frozen=True, tag="cut_body"):
    def respond(self, reply: Reply) -> None:
        reply.cut = True


class Html(Effect, frozen=True, tag="html"):
    status: int = 502

    def respond(self, reply: Reply) -> None:
        reply.status, reply.body = self.status, b"<html><h1>502 Bad Gateway</h1></html>"
        reply.headers["Content-Type"] = "text/html"


class InvalidJson(Effect, frozen=True, tag="invalid_json"):
    def respond(self, reply: Reply) -> None:
        reply.body = reply.body[: len(reply.body) // 2]


class ErrorCode(Effect, frozen=True, tag="error_code"):
    code: str = "Throttled"

    def spoil(self, entry: Entry) -> None:
        entry["timeseries"] = []
        entry["errorCode"] = self.code
        entry["errorMessage"] = f"The query of {entry['name']['value']} failed: {self.code}"


class DropPoints(Effect, frozen=True, tag="drop_points"):
    share: float = 0.5

    def spoil(self, entry: Entry) -> None:
        for series in entry["timeseries"]:
            kept = [p for p in series["data"] if chance(p["timeStamp"]) >= self.share]
            series["data"] = kept


class Late(Effect, frozen=True, tag="late"):
    minutes: int = 5

    @property
    def lateness(self) -> int:
        return self.minutes


class Duplicate(Effect, frozen=True, tag="duplicate"):
    def spoil(self, entry: Entry) -> None:
        for series in entry["timeseries"]:
            series["data"] = [point for point in series["data"] for _ in range(2)]


class WrongCase(Effect, frozen=True, tag="wrong_case"):
    def spoil(self, entry: Entry) -> None:
        for series in entry["timeseries"]:
            for dimension in series["metadatavalues"]:
                dimension["value"] = dimension["value"].swapcase()


class Nulls(Effect, frozen=True, tag="nulls"):
    def spoil(self, entry: Entry) -> None:
        for series in entry["timeseries"]:
            names = {name for point in series["data"] for name in point}
            series["data"] = [dict.fromkeys(names) | point for point in series["data"]]


AnyEffect = (
    Status
    | Hang
    | CutBody
    | Html
    | InvalidJson
    | ErrorCode
    | DropPoints
    | Late
    | Duplicate
    | WrongCase
    | Nulls
)


class Fault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An effect and when it strikes: everything that is given must match."""

    effect: AnyEffect
    at: Moment | None = None
    length: Span | None = msgspec.field(name="for", default=None)
    account: str = "*"
    """Glob over the account's name or its whole id in lower case."""
    region: str = "*"
    metric: str = "*"
    calls: tuple[int, int] | None = None
    """First and last number of the calls of getBatch, the first call being 1."""
    probability: float = 1.0
    seed: int = 0

    def strikes(self, call: int, minute: int) -> bool:
        """Whether the time, the number of the call and chance allow it."""
        if self.at is not None and minute < self.at:
            return False
        if self.at is not None and self.length is not None and minute >= self.at + self.length:
            return False
        if self.calls is not None and not self.calls[0] <= call <= self.calls[1]:
            return False
        return self.probability >= 1 or chance(f"{self.seed} {call}") < self.probability

    def concerns(self, account: str, region: str, metric: str) -> bool:
        name = account.rsplit("/", 1)[-1]
        return (
            (fnmatchcase(account, self.account) or fnmatchcase(name, self.account))
            and fnmatchcase(region, self.region)
            and fnmatchcase(metric, self.metric)
        )


class Faults:
    """The faults in force; change them at any time while the emulator runs."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._faults = tuple(faults)
        self.calls = 0
        """Calls of getBatch so far."""

    def set(self, *faults: Fault) -> None:
        """Let exactly these be in force, and count calls anew."""
        self._faults = faults
        self.calls = 0

    def striking(self, minute: int) -> tuple[Fault, ...]:
        """Count a call; the faults that its time and number allow."""
        self.calls += 1
        return tuple(fault for fault in self._faults if fault.strikes(self.calls, minute))


def concerning(
    faults: Collection[Fault], account: str, region: str, metric: str
) -> list[AnyEffect]:
    return [fault.effect for fault in faults if fault.concerns(account, region, metric)]


def chance(seed: str) -> float:
    """A number in [0, 1) that is the same for the same seed in every process."""
    digest = hashlib.blake2b(seed.encode(), digest_size=7).digest()
    return int.from_bytes(digest) / 2**56
