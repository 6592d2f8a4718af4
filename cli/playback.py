"""A watchdog that watches an emulated Azure Monitor, in compressed time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

import msgspec

from cli.local import watch_of
from cli.shown import fail
from emulator.app import create_app
from emulator.inbox import page
from emulator.server import Running, serve
from emulator.source import Source
from emulator.webhook import Inbox
from shared.model import SETTLE, Slot, time_of
from shared.pipeline import Report, Watch, tick


@dataclass(frozen=True)
class Stage:
    """The emulated cloud and the watchdog that watches it through the real clients."""

    server: Running
    watch: Watch

    def play(self, first: Slot, last: Slot, every: int = 1) -> Iterator[tuple[Slot, Report]]:
        """Ticks every so many minutes until the slots [first, last] are judged."""
        slot = first
        while True:
            now = time_of(slot + SETTLE + 1)
            self.server.clock.set(now)
            yield slot, tick(self.watch, now)
            if slot >= last:
                return
            slot = min(slot + every, last)


@contextmanager
def stage(source: Source, state: str, rules: Path) -> Iterator[Stage]:
    """An emulator on a free port, and a watchdog on it. Cards go to the emulator's inbox."""
    with serve(create_app(source)) as server:
        variables = {
            "TOKENWATCH_ACCOUNTS": accounts_setting(source),
            "TOKENWATCH_METRICS_ENDPOINT": server.url + "/{region}",
            "TOKENWATCH_RESOURCE_MANAGER": server.url,
            "TOKENWATCH_STATE": state,
            "TOKENWATCH_RULES": str(rules),
            "TOKENWATCH_TENANT": "contoso.example",
            "TOKENWATCH_DOCS_URL": "https://tokenwatch.example/docs",
            "TEAMS_WEBHOOK_DEFAULT": server.webhook("default"),
        }
        with watch_of(variables) as watch:
            watch.sleep = server.clock.sleep
            yield Stage(server, watch)


def accounts_setting(source: Source) -> str:
    """The accounts of a source as TOKENWATCH_ACCOUNTS wants them."""
    return ",".join(f"{account.region}={account.id}" for account in source.accounts.values())


def writable(folder: Path, option: str) -> None:
    """Ends the command where cards could not be written, before any time is spent on them."""
    try:
        _cards(folder)
        with TemporaryFile(dir=folder), TemporaryFile(dir=folder / "cards"):
            return
    except OSError as error:
        fail(f"{option}: {folder} cannot be written to: {error.strerror}; name another folder")


def _cards(folder: Path) -> Path:
    cards = folder / "cards"
    cards.mkdir(parents=True, exist_ok=True)
    return cards


def write_cards(inbox: Inbox, folder: Path, title: str) -> Path:
    """Each accepted card as JSON, and a page of them all; returns the page."""
    cards = _cards(folder)
    for old in cards.glob("[0-9]*.json"):
        old.unlink()
    posts = [post for post in inbox.posts if post.accepted]
    for number, post in enumerate(posts, 1):
        (cards / f"{number:02d}.json").write_bytes(msgspec.json.format(bytes(post.body)))
    path = folder / "cards.html"
    path.write_text(page(inbox.shown(), title), encoding="utf-8")
    return path
