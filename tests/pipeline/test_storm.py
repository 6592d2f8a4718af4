"""A day under every read fault at once, against the same day without any."""

from __future__ import annotations

import random
from pathlib import Path

from emulator.faults import (
    AnyEffect,
    CutBody,
    Duplicate,
    ErrorCode,
    Fault,
    Hang,
    Html,
    InvalidJson,
    Late,
    Nulls,
    Status,
    WrongCase,
)
from emulator.times import Moment, Span
from emulator.world import World
from shared.model import Event
from tests.pipeline.story import ACCOUNT, Scene, scene

LATEST = 12
"""Minutes that an event may come later under faults."""
WORLD = f"""
seed: 21
start: 2026-11-24T00:00:00Z
for: 24h
lead_in: 2d
accounts:
  - id: {ACCOUNT}
    region: swedencentral
    deployments:
      - {{name: chat-ptu, capacity: 40000, load: 8}}
      - {{name: search-ptu, capacity: 40000, load: 10}}
      - {{name: "it's (new) [4o] a/b ünï", load: 3}}
      - {{name: __Empty, load: 2}}
  - id: {ACCOUNT}-too
    region: swedencentral
    deployments:
      - {{name: calm-paygo, load: 4}}
incidents:
  - {{deployment: chat-ptu, at: +3h, for: 60m, kind: slower_decode, factor: 2.2}}
  - {{deployment: search-ptu, at: +9h, for: 40m, kind: saturated, utilization: 110, throttled: 0.3}}
  - {{deployment: chat-ptu, at: +16h, for: 50m, kind: failing, share: 0.7}}
"""


def storm(start: int) -> list[Fault]:
    """Faults of every kind, scattered over the day by chance, some in the middle of incidents."""
    chosen = random.Random(3)
    scattered = [
        Fault(effect=Status(status=status), probability=0.03, seed=status)
        for status in (429, 500, 502, 503, 504, 529)
    ]
    scattered += [
        Fault(effect=Status(status=429, retry_after=9999), probability=0.02, seed=1),
        Fault(effect=CutBody(), probability=0.02, seed=2),
        Fault(effect=Html(), probability=0.02, seed=3),
        Fault(effect=Html(status=200), probability=0.02, seed=4),
        Fault(effect=InvalidJson(), probability=0.02, seed=5),
        Fault(effect=WrongCase(), probability=0.3, seed=6),
        Fault(effect=Duplicate(), probability=0.3, seed=7),
        Fault(effect=Nulls(), probability=0.3, seed=8),
        Fault(effect=Late(minutes=1), probability=0.3, seed=9),
        Fault(effect=ErrorCode(code="Throttled"), probability=0.05, seed=10, metric="*TTLT*"),
    ]
    many = "Cannot request more than 500000 time series per query."
    scattered += [
        Fault(effect=Status(status=400, message=many), probability=0.02, seed=11),
        Fault(
            effect=Status(status=401, code="ExpiredAuthenticationToken"), probability=0.02, seed=12
        ),
        Fault(
            effect=Status(status=400, code="BadRequest", message="unknown metric"),
            at=Moment(start + 12 * 60),
            length=Span(60),
            metric="*CacheMatchRate*",
        ),
    ]
    spells: list[tuple[int, int, AnyEffect]] = [
        (3 * 60 + 8, 7, Status(status=401)),
        (9 * 60 + 1, 9, ErrorCode(code="Throttled")),
        (16 * 60 + 5, 3, Hang(seconds=0.6)),
        *((chosen.randrange(0, 1400), 6, Status(status=503)) for _ in range(10)),
        *((chosen.randrange(0, 1400), 4, Hang(seconds=0.6)) for _ in range(3)),
    ]
    return scattered + [
        Fault(effect=effect, at=Moment(start + at), length=Span(minutes))
        for at, minutes, effect in spells
    ]


def lived(one: Scene, world: World, every: int) -> list[Event]:
    """The events of the rules over the whole day, ticking every so many minutes."""
    events: list[Event] = []
    with one.watchdog() as watch:
        watch.poster.timeout = 0.25  # type: ignore[attr-defined]
        for slot in (*range(world.start, world.end - 1, every), world.end - 1):
            report = one.tick(watch, slot)
            assert not report.troubles
            events += report.events
    return events


def of_rules(events: list[Event]) -> list[tuple[str, str, str, int]]:
    """Kind, rule, deployment and slot of what is not about the watchdog itself."""
    return sorted(
        (event.rule, event.kind, event.deployment.name, event.slot)
        for event in events
        if event.rule != "MonitorQueryFailing"
    )


def test_a_day_of_faults_tells_the_same_a_little_later(tmp_path: Path) -> None:
    """Three incidents under every read fault: the same fired and resolved events, each at most
    twelve minutes later, and none besides; the watchdog's own alerts end again."""
    world = World.read(WORLD)
    (tmp_path / "calm").mkdir()
    with scene(world, tmp_path / "calm") as one:
        calm = of_rules(lived(one, world, every=30))
    with scene(world, tmp_path) as one:
        one.server.faults.set(*storm(world.start))
        events = lived(one, world, every=1)
        cards = one.cards
    stormy = of_rules(events)
    assert len({event[:3] for event in calm}) >= 6
    assert [event[:3] for event in stormy] == [event[:3] for event in calm]
    late = [after[3] - before[3] for before, after in zip(calm, stormy, strict=True)]
    assert 0 <= min(late) <= max(late) <= LATEST
    own = [event.kind for event in events if event.rule == "MonitorQueryFailing"]
    assert own.count("fired") == own.count("resolved") > 0
    assert len(cards) == len(events)
