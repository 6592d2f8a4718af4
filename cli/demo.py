"""`tokenwatch demo`: the main job on a made-up day, in compressed time."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich import box
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from cli.emulate import WORLDS
from cli.playback import Stage, stage, write_cards
from cli.run import RULES
from cli.shown import console, event_line, fail
from emulator.azurite import AzuriteError, azurite
from emulator.world import World
from emulator.worldfile import Decoy, Expectation
from shared.model import Change, Event, time_of


def demo(
    state: Annotated[
        Literal["sqlite", "table"], typer.Option(help="Where state is kept; table: in Azurite.")
    ] = "sqlite",
    world: Annotated[Path, typer.Option(help="The world to live through.")] = WORLDS / "demo.yaml",
    out: Annotated[Path, typer.Option(help="Where the cards go.")] = Path("demo-out"),
) -> None:
    """Lives through seven hours of three deployments in compressed time, and judges the watchdog.

    An emulated Azure Monitor answers the real SDK clients. Some things that happen must alert, each
    once; others look alike and must stay silent. Exit code 0 only if all is as it must be.
    """
    began = time.monotonic()
    place = World.load(world)
    with _state(state) as address, stage(place, address, RULES) as play:
        for change in place.changes:
            recorded = Change(change.kind, int(change.at), change.deployment, change.reference)
            play.watch.ledger.record_change(recorded)
        events, troubles = _live(play, place)
        posts = [post for post in play.server.inbox.posts if post.accepted]
        page = write_cards(play.server.inbox, out, "Tokenwatch demo")
    findings = [*_expected(place, events), *_silent(place, events)]
    console.print(_table(findings))
    told = len({event.id for event in events})
    if len(posts) != told:
        troubles.append(f"{told} events, but {len(posts)} cards")
    unforeseen = [event for event in events if _unforeseen(place, event)]
    troubles += [f"nobody expected {e.rule} on {e.deployment.name}" for e in unforeseen]
    console.print(f"{len(posts)} cards: {page} and {out}/cards/*.json")
    console.print(f"{place.end - place.start} minutes in {time.monotonic() - began:.0f} s")
    if troubles or not all(ok for *_, ok in findings):
        fail("not all is as it must be", *troubles)


@contextmanager
def _state(kind: str) -> Iterator[str]:
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:{folder}/demo.db"
        return
    try:
        with azurite() as running:
            yield f"table:{running.connection_string}"
    except AzuriteError as error:
        fail(str(error))


def _live(play: Stage, world: World) -> tuple[list[Event], list[str]]:
    """Ticks through the world; events are shown as they happen."""
    events: list[Event] = []
    troubles: list[str] = []
    bar = Progress(
        TextColumn("{task.fields[clock]}"), BarColumn(), TimeElapsedColumn(), console=console
    )
    with bar:
        task = bar.add_task("day", total=world.end - world.start, clock="")
        for slot, report in play.play(world.start, world.end - 1):
            for event in report.events:
                console.print(event_line(event))
            events += report.events
            troubles += [*report.failures, *report.troubles]
            bar.update(task, completed=slot - world.start + 1, clock=f"{time_of(slot):%H:%M}")
    return events, troubles


Finding = tuple[str, str, str, str, bool]
"""What happened, where, what had to come of it, what did, whether that is right."""


def _expected(world: World, events: list[Event]) -> Iterator[Finding]:
    for wanted in world.expect:
        fired = [event for event in events if event.kind == "fired" and _answers(wanted, event)]
        ended = [
            event
            for event in events
            if event.kind == "resolved" and fired and event.episode == fired[0].episode
        ]
        early = wanted.holds_until and ended and ended[0].slot < wanted.holds_until
        must = f"alert by {time_of(wanted.last):%H:%M}"
        if wanted.holds_until:
            must += f", hold to {time_of(wanted.holds_until):%H:%M}"
        did = ", ".join(f"{time_of(event.slot):%H:%M}" for event in fired) or "silent"
        did += f" to {time_of(ended[0].slot):%H:%M}" if ended else ""
        yield wanted.rule, wanted.deployment, must, did, len(fired) == 1 and not early


def _answers(wanted: Expectation, event: Event) -> bool:
    where = event.deployment.name == wanted.deployment and event.rule == wanted.rule
    return where and wanted.first <= event.slot <= wanted.last


def _silent(world: World, events: list[Event]) -> Iterator[Finding]:
    for decoy in world.silent:
        fired = [event for event in events if event.kind == "fired" and _within(decoy, event)]
        did = ", ".join(event.rule for event in fired) or "silent"
        yield decoy.what, decoy.deployment, "stay silent", did, not fired


def _within(decoy: Decoy, event: Event) -> bool:
    return event.deployment.name == decoy.deployment and decoy.first <= event.slot <= decoy.last


def _unforeseen(world: World, event: Event) -> bool:
    return event.kind == "fired" and not any(_answers(wanted, event) for wanted in world.expect)


def _table(findings: list[Finding]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for title in ("", "what, and where", "had to", "did"):
        table.add_column(title, overflow="fold")
    for what, where, must, did, ok in findings:
        table.add_row("✅" if ok else "❌", f"{what}\n  on {where}", must, did)
    return table
