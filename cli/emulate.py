"""`tokenwatch emulate`"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from cli.playback import accounts_setting
from cli.shown import console, fail
from emulator.app import create_app
from emulator.recording import Recording
from emulator.recordingfile import RecordingError
from emulator.server import Running, serve
from emulator.source import Source
from emulator.world import World
from emulator.worldfile import WorldError

WORLDS = Path(__file__).parent.parent / "emulator" / "worlds"


def emulate(
    world: Annotated[Path | None, typer.Option(help="A world file; default: the demo's.")] = None,
    recording: Annotated[
        Path | None, typer.Option(help="A recording (CSV or Parquet) instead of a world.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.")] = 8077,
) -> None:
    """Runs an Azure Monitor and a Teams channel on this machine, for trying things out.

    A world begins now and unfolds in real time; its history lies before. Use the settings that are
    printed for `tokenwatch run` or `func start`, and open the inbox to see the cards.

    Example: `tokenwatch emulate --world emulator/worlds/demo.yaml`
    """
    source = read_source(world, recording)
    try:
        with serve(create_app(source), port) as server:
            _explain(server, source)
            while True:
                server.clock.set(_now(source, recording))
                time.sleep(1)
    except OSError as error:
        fail(f"port {port} cannot be used: {error.strerror}; choose another with --port")
    except KeyboardInterrupt:
        console.print("stopped")


def read_source(world: Path | None, recording: Path | None) -> Source:
    """The world or the recording, or the end of the command with what is wrong with it."""
    try:
        if recording:
            return Recording.load(recording)
        return World.load(world or WORLDS / "demo.yaml", datetime.now(UTC))
    except OSError as error:
        fail(f"{error.filename} cannot be read: {error.strerror}")
    except (WorldError, RecordingError) as error:
        fail(str(error))


def _now(source: Source, recording: Path | None) -> float:
    """Real time for a world; a recording stands at its end, whole."""
    return (source.start + 14 * 24 * 60) * 60.0 if recording else time.time()


def _explain(server: Running, source: Source) -> None:
    console.print(f"inbox: {server.url}/")
    console.print("settings for a watchdog:")
    console.print(f"  export TOKENWATCH_ACCOUNTS='{accounts_setting(source)}'")
    console.print(f"  export TOKENWATCH_METRICS_ENDPOINT='{server.url}/{{region}}'")
    console.print(f"  export TEAMS_WEBHOOK_DEFAULT='{server.webhook('default')}'")
    console.print("Ctrl-C stops it.")
