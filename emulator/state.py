"""What the program works on. Tests and the demo hold it too, and turn its knobs."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request

from emulator.faults import Faults
from emulator.source import Source
from emulator.times import Clock
from emulator.webhook import Inbox

LOG_KEPT = 20_000


@dataclass(frozen=True, slots=True)
class Logged:
    """A request as it came in."""

    path: str
    query: Mapping[str, str]
    body: bytes


@dataclass(slots=True, eq=False)
class Emulator:
    """What the program works on; tests and the demo hold it too."""

    source: Source
    clock: Clock
    faults: Faults
    ingest_delay: int
    inbox: Inbox = field(default_factory=Inbox)
    max_series: int = 500_000
    deleted: set[str] = field(default_factory=set)
    """Names of deployments that are listed no more."""
    log: deque[Logged] = field(default_factory=lambda: deque(maxlen=LOG_KEPT))

    @classmethod
    def of(cls, source: Source, max_series: int = 500_000) -> Emulator:
        """A fresh one, its clock at the start of the source and the source's faults in force."""
        clock, faults = Clock(source.start * 60.0), Faults(source.faults)
        return cls(source, clock, faults, source.ingest_delay, max_series=max_series)


def emulator_of(request: Request) -> Emulator:
    emulator: Emulator = request.app.state.emulator
    return emulator


async def logged_body(request: Request) -> bytes:
    body = await request.body()
    log = emulator_of(request).log
    log.append(Logged(request.url.path, dict(request.query_params), body))
    return body
