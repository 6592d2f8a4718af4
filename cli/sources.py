"""What an emulator plays: a world or a recording, or the end of the command with what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from cli.shown import fail
from emulator.recording import Recording
from emulator.recordingfile import RecordingError
from emulator.world import World
from emulator.worldfile import WorldError

WORLDS = Path(__file__).parent.parent / "emulator" / "worlds"


def read_world(path: Path, begin: datetime | None = None) -> World:
    """A world; `begin` moves it to another start."""
    with _explained(path):
        return World.load(path, begin)


def read_recording(path: Path) -> Recording:
    with _explained(path):
        return Recording.load(path)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror or error}")
    except (WorldError, RecordingError) as error:
        fail(str(error))
