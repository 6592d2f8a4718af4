"""History in one piece, in pieces, doubled or skipped: the same events, byte for byte."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from emulator.world import World
from shared.model import Change, Event
from tests.pipeline.story import Scene, scene

WORLD = Path(__file__).parents[2] / "emulator" / "worlds" / "small.yaml"


@pytest.fixture(scope="module")
def world() -> World:
    return World.load(WORLD)


@pytest.fixture
def small(world: World, tmp_path: Path) -> Iterator[Scene]:
    with scene(world, tmp_path) as one:
        record_changes(one, world)
        yield one


def record_changes(one: Scene, world: World) -> None:
    with one.watchdog() as watch:
        for change in world.changes:
            recorded = Change(change.kind, int(change.at), change.deployment, change.reference)
            watch.ledger.record_change(recorded)


def as_bytes(events: Iterable[Event]) -> list[bytes]:
    ordered = sorted(events, key=lambda event: (event.slot, event.id))
    return [msgspec.json.encode(event) for event in ordered]


@pytest.fixture(scope="module")
def whole(world: World, tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """The events of three hours judged at once, after a first tick that sets the watermark."""
    with scene(world, tmp_path_factory.mktemp("whole")) as one:
        record_changes(one, world)
        return as_bytes(one.live([world.start, world.end - 1]))


def test_the_world_has_events_enough_to_compare(whole: list[bytes]) -> None:
    """Three hours of the small world bring at least eight events, resolved ones among them."""
    assert len(whole) >= 8
    assert any(b'"kind":"resolved"' in event for event in whole)


def test_d10_ten_pieces_with_restarts_between_give_the_same_events(
    small: Scene, world: World, whole: list[bytes]
) -> None:
    """A watchdog that is restarted ten times tells what an uninterrupted one tells."""
    ends = sorted(random.Random(4).sample(range(world.start + 1, world.end - 1), 9))
    events = [e for end in [world.start, *ends, world.end - 1] for e in small.live([end])]
    assert as_bytes(events) == whole


def test_d03_ticks_that_come_twice_change_nothing(
    small: Scene, world: World, whole: list[bytes]
) -> None:
    """Every tick doubled: each minute is judged once and each event told once."""
    slots = [slot for slot in range(world.start, world.end) for _ in range(2)]
    assert as_bytes(small.live(slots)) == whole
    assert len(small.cards) == len(whole)


def test_d03_ticks_that_are_skipped_are_caught_up(
    small: Scene, world: World, whole: list[bytes]
) -> None:
    """A timer that skips two minutes of three loses nothing."""
    chosen = random.Random(7)
    slots = [s for s in range(world.start + 1, world.end - 1) if chosen.random() < 0.3]
    assert as_bytes(small.live([world.start, *slots, world.end - 1])) == whole
    assert len(small.cards) == len(whole)


def test_d04_two_workers_at_once_tell_each_event_once(
    world: World, tmp_path: Path, table_url: str, whole: list[bytes]
) -> None:
    """Two hosts that run every minute together, over Table Storage, send one card an event."""
    with (
        scene(world, tmp_path, state=table_url) as one,
        one.watchdog() as left,
        one.watchdog() as right,
        ThreadPoolExecutor(2) as pool,
    ):
        record_changes(one, world)
        events: list[Event] = []
        for slot in range(world.start, world.end):
            for report in pool.map(lambda watch, at=slot: one.tick(watch, at), (left, right)):
                events += report.events
                assert not report.troubles
        assert as_bytes(events) == whole
        assert len(one.cards) == len(whole)
