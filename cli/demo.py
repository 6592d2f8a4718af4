"""`tokenwatch demo`: the main job on a made-up day, in compressed time."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich import box
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from cli.complaints import grouped
from cli.playback import Stage, stage, writable, write_cards
from cli.rules import SHIPPED
from cli.shown import console, errors, event_line, fail, many, moment, spans_days
from cli.sources import WORLDS, read_world
from emulator.azurite import AzuriteError, azurite
from emulator.world import World
from emulator.worldfile import Decoy, Expectation
from shared.model import Change, Event


def demo(
    state: Annotated[
        Literal["sqlite", "table"], typer.Option(help="Where state is kept; table: in Azurite.")
    ] = "sqlite",
    world: Annotated[Path, typer.Option(help="The world to live through.")] = WORLDS / "demo.yaml",
    rules: Annotated[
        Path,
        typer.Option(
            help="Folder of rule files; default: the shipped ones, for which the world was made."
        ),
    ] = SHIPPED,
    out: Annotated[Path, typer.Option(help="Where the cards go.")] = Path("demo-out"),
) -> None:
    """Lives through seven hours of three deployments in compressed time, and judges the watchdog.

    An emulated Azure Monitor answers the real SDK clients. Some things that happen must alert, each
    once; others look alike and must stay silent. Exit code 0 only if all is as it must be, else 1;
    2 if it could not begin.
    """
    began = time.monotonic()
    place = read_world(world)
    writable(out, "--out")
    with _state(state) as address, stage(place, address, rules) as play:
        for change in place.changes:
            recorded = Change(change.kind, int(change.at), change.deployment, change.reference)
            play.watch.ledger.record_change(recorded)
        events, troubles = _live(play, place)
        troubles += [str(problem) for problem in play.watch.rulebook.errors]
        posts = [post for post in play.server.inbox.posts if post.accepted]
        page = write_cards(play.server.inbox, out, "Tokenwatch demo")
    findings = [*_expected(place, events), *_silent(place, events)]
    console.print(_table(findings))
    told = len({event.id for event in events})
    if len(posts) != told:
        troubles.append(f"{many(told, 'event')}, but {many(len(posts), 'card')}")
    unforeseen = [event for event in events if _unforeseen(place, event)]
    troubles += [f"nobody expected {e.rule} on {e.deployment.name}" for e in unforeseen]
    console.print(Text(f"{many(len(posts), 'card')}: {page} and {out}/cards/*.json"))
    console.print(f"{many(place.end - place.start, 'minute')} in {time.monotonic() - began:.0f} s")
    if troubles or not all(ok for *_, ok in findings):
        for line in dict.fromkeys(["not all is as it must be", *troubles]):
            errors.print(Text(line, style="red"))
        raise typer.Exit(1)


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
                console.print(event_line(event, dated=_dated(world)))
            events += report.events
            troubles += [*map(str, grouped(report.failures)), *report.troubles]
            bar.update(
                task, completed=slot - world.start + 1, clock=moment(slot, dated=_dated(world))
            )
    return events, troubles


def _dated(world: World) -> bool:
    return spans_days(world.start, world.end - 1)


Finding = tuple[str, str, str, str, bool]
"""What happened, where, what had to come of it, what did, whether that is right."""


def _expected(world: World, events: list[Event]) -> Iterator[Finding]:
    clock = partial(moment, dated=_dated(world))
    for wanted in world.expect:
        fired = [event for event in events if event.kind == "fired" and _answers(wanted, event)]
        ended = [
            event
            for event in events
            if event.kind == "resolved" and fired and event.episode == fired[0].episode
        ]
        early = wanted.holds_until and ended and ended[0].slot < wanted.holds_until
        must = f"alert by {clock(wanted.last)}"
        if wanted.holds_until:
            must += f", hold to {clock(wanted.holds_until)}"
        did = ", ".join(clock(event.slot) for event in fired) or "silent"
        did += f" to {clock(ended[0].slot)}" if ended else ""
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
