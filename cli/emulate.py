"""`tokenwatch emulate`"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cli.main import STOPPED
from cli.playback import accounts_setting
from cli.shown import console, fail
from cli.sources import WORLDS, read_recording, read_world
from emulator.app import create_app
from emulator.recording import Recording
from emulator.server import Running, serve
from emulator.source import Source
from emulator.world import World

SHOWN = 5
"""Incidents to come that are listed; the others are counted."""


def emulate(
    world: Annotated[Path | None, typer.Option(help="A world file; default: the demo's.")] = None,
    recording: Annotated[
        Path | None, typer.Option(help="A recording (CSV or Parquet) instead of a world.")
    ] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")
    ] = 8077,
) -> None:
    """Runs an Azure Monitor and a Teams channel on this machine, for trying things out.

    A world begins now and unfolds in real time; its history lies before, and what will happen in it
    is listed. A recording is moved in time: its first half is history, the second half unfolds from
    now on. Use the settings that are printed for `tokenwatch run` or `func start`, and open the
    inbox to see the cards.

    Example: `tokenwatch emulate --world emulator/worlds/demo.yaml`
    """
    if world and recording:
        fail("choose one of --world and --recording")
    now = datetime.now(UTC)
    source: Source
    if recording:
        source, coming = _moved(read_recording(recording), recording, now)
    else:
        place = read_world(world or WORLDS / "demo.yaml", now)
        source, coming = place, list(_to_come(place))
    try:
        with serve(create_app(source), port) as server:
            server.clock.set(time.time())
            _explain(server, source, coming)
            while True:
                server.clock.set(time.time())
                time.sleep(1)
    except OSError as error:
        fail(f"port {port} cannot be used: {error.strerror}; choose another with --port")
    except KeyboardInterrupt:
        console.print("stopped")
        raise typer.Exit(STOPPED) from None


def _moved(source: Recording, path: Path, now: datetime) -> tuple[Recording, list[str]]:
    """The recording, its middle moved to now, and what to say of it."""
    ahead = (source.end - source.start + 1) // 2
    moved = source.moved(int(now.timestamp() // 60) - (source.end - ahead))
    return moved, [
        f"the second half of the recording unfolds from now to {_local(moved.end)}, the first half "
        "is its history",
        f"to judge all of it at once instead: tokenwatch run --recording {shlex.quote(str(path))}",
    ]


def _to_come(world: World) -> Iterator[str]:
    """What will happen in a world, at times of this machine's clock, and what is to be done."""
    incidents = sorted(world.file.incidents, key=lambda one: int(one.at))
    yield "incidents to come (local time):" if incidents else "no incidents will come"
    for one in incidents[:SHOWN]:
        kind = one.kind.replace("_", " ")
        yield f"  {_local(one.at)}  {kind} on {one.deployment} for {one.length} min"
    if len(incidents) > SHOWN:
        yield f"  and {len(incidents) - SHOWN} more until {_local(world.end)}"
    if world.changes:
        yield "changes, to be recorded when they happen:"
    for change in sorted(world.changes, key=lambda one: int(one.at)):
        yield (
            f"  {_local(change.at)}  tokenwatch change record --kind {change.kind} "
            f"--deployment {change.deployment} --reference {shlex.quote(change.reference)}"
        )


def _local(minute: int) -> str:
    there = datetime.fromtimestamp(minute * 60).astimezone()
    today = datetime.now().astimezone().date()
    return f"{there:%H:%M}" if there.date() == today else f"{there:%m-%d %H:%M}"


def _explain(server: Running, source: Source, coming: list[str]) -> None:
    settings = {
        "TOKENWATCH_ACCOUNTS": accounts_setting(source),
        "TOKENWATCH_METRICS_ENDPOINT": f"{server.url}/{{region}}",
        "TOKENWATCH_RESOURCE_MANAGER": server.url,
        "TEAMS_WEBHOOK_DEFAULT": server.webhook("default"),
    }
    lines = [f"inbox: {server.url}/", "settings for a watchdog:"]
    lines += [f"  export {name}='{value}'" for name, value in settings.items()]
    for line in (*lines, *coming, "Ctrl-C stops it."):
        console.print(Text(line))
