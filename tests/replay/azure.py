"""An emulated Azure Monitor, and what records from it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from typing_extensions import override

from emulator.app import create_app
from emulator.recordingwrite import write_tapes
from emulator.server import Running, serve
from emulator.source import Source
from emulator.tape import Tape
from replay.record import Onlooker, Recorder
from replay.recordplan import Asked, components_of
from replay.recordtable import About
from shared.build import credential
from shared.model import SETTLE, Account, Slot, time_of
from shared.monitor.client import Client
from shared.rulebook.load import load
from shared.rulebook.rules import Rulebook
from tests.pipeline.story import START, Deployment

ROOT = Path(__file__).parents[2]
RULES = ROOT / "rules"
BOOK: Rulebook = load(RULES)


@dataclass
class Patient(Onlooker):
    """Waits in no time, and remembers why."""

    waits: list[str] = field(default_factory=list)
    pieces: int = 0
    stop_after: int | None = None

    @override
    def done(self) -> None:
        self.pieces += 1
        if self.pieces == self.stop_after:
            raise KeyboardInterrupt

    @override
    def wait(self, seconds: float, reason: str) -> None:
        self.waits.append(reason)


@dataclass
class Azure:
    """A running emulator that is asked through the real client."""

    server: Running
    source: Source
    client: Client

    @property
    def settings(self) -> dict[str, str]:
        """What a command needs to ask this Azure."""
        return {
            "TOKENWATCH_ACCOUNTS": ",".join(f"{a.region}={a.id}" for a in self.accounts),
            "TOKENWATCH_METRICS_ENDPOINT": self.server.url + "/{region}",
        }

    @property
    def accounts(self) -> tuple[Account, ...]:
        known = self.source.accounts.values()
        return tuple(Account(account.id.casefold(), account.region) for account in known)

    def asked(self, first: Slot, end: Slot, book: Rulebook = BOOK, lead_in: int = 0) -> Asked:
        return Asked(self.accounts, components_of(book), first, end, lead_in)

    def record(
        self,
        out: Path,
        asked: Asked,
        onlooker: Onlooker | None = None,
        allow_gaps: bool = False,
        now: Slot | None = None,
    ) -> About:
        """Records when all that is asked for has settled, or at another time."""
        at = time_of(now if now is not None else (asked.end or 0) + SETTLE)
        self.server.clock.set(at)
        recorder = Recorder(out, self.client, onlooker or Patient(), allow_gaps)
        return recorder.record(asked, at)


@contextmanager
def azure(source: Source) -> Iterator[Azure]:
    with serve(create_app(source)) as server:
        client = Client(server.url + "/{region}", credential, backoff=0.01)
        try:
            yield Azure(server, source, client)
        finally:
            client.close()


def tapes(*deployments: Deployment) -> tuple[Tape, ...]:
    """The deployments of a story as a recording's file has them."""
    return tuple(
        Tape(one.account, one.name, START, dict(one.track().columns)) for one in deployments
    )


def write_file(path: Path, *deployments: Deployment) -> Path:
    """A file of which nobody says what was asked for."""
    found = tapes(*deployments)
    columns = dict.fromkeys(component for tape in found for component in tape.columns)
    write_tapes(path, list(columns), found)
    return path


def command(
    *arguments: str, cwd: Path = ROOT, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, with no settings but those that are given."""
    return subprocess.run(
        started(*arguments),
        cwd=cwd,
        env=variables(environment or {}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def started(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from cli.main import main; main()", *arguments]


def variables(more: Mapping[str, str]) -> dict[str, str]:
    needed = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "COLUMNS": "160"}
    return {**needed, "HOME": os.environ.get("HOME", "/"), **more}
