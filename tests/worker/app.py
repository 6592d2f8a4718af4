"""The app in the real language worker, beside an emulated Azure that shows the present."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import requests

from emulator.recording import Recording
from shared.model import SETTLE, slot_of
from tests.pipeline.story import Deployment, Scene, recording

ROOT = Path(__file__).parents[2]
NORMAL = 20
"""Minutes of health at the start of `present`."""
TROUBLE = 40
"""Minutes of trouble after it, the last of which lie ahead of the clock."""


@dataclass(frozen=True)
class App:
    """A running `tests.worker.serve`."""

    url: str
    log: Path
    """All that the process logged."""

    def get(self, path: str) -> requests.Response:
        return requests.get(self.url + path, timeout=30)

    def post(self, path: str, body: bytes | str, **headers: str) -> requests.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return requests.post(self.url + path, data=body, headers=named, timeout=60)


def settings_of(scene: Scene, state: str) -> dict[str, str]:
    """The app settings with which it watches the scene."""
    (account,) = scene.source.accounts.values()
    return {
        "TOKENWATCH_STATE": state,
        "TOKENWATCH_ACCOUNTS": f"{account.region}={account.id}",
        "TOKENWATCH_METRICS_ENDPOINT": scene.server.url + "/{region}",
        "TOKENWATCH_RESOURCE_MANAGER": scene.server.url,
        "TEAMS_WEBHOOK_DEFAULT": scene.server.webhook("default"),
    }


@contextmanager
def running(log: Path, settings: Mapping[str, str] | None = None) -> Iterator[App]:
    """The app, with these settings and nothing else in its environment."""
    with (
        log.open("w", encoding="utf-8") as out,
        subprocess.Popen(
            [sys.executable, "-m", "tests.worker.serve"],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], **(settings or {})},
            stdout=subprocess.PIPE,
            stderr=out,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout
            url = process.stdout.readline().strip()
            assert url, log.read_text(encoding="utf-8")
            yield App(url, log)
        finally:
            process.kill()


def present(now: datetime) -> Recording:
    """A deployment that has been throttled for some minutes, whenever that is: the worker asks the
    real clock."""
    full = Deployment(NORMAL + TROUBLE).set("utilization", 104, NORMAL).set("throttled", 3, NORMAL)
    told = recording(full)
    settled = slot_of(now) - SETTLE - 1
    begin = settled - NORMAL - TROUBLE // 2
    tracks = {a: [replace(track, begin=begin) for track in ts] for a, ts in told.tracks.items()}
    return replace(told, tracks=tracks, start=begin, end=begin + NORMAL + TROUBLE)
