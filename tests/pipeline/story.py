"""Stories: minute-by-minute data of deployments, an emulated Azure that tells it, and watchdogs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from emulator.app import create_app
from emulator.recording import Recording, Track
from emulator.recordingfile import Component
from emulator.server import Running, serve
from emulator.source import Account, Source
from shared.build import credential, open_watch
from shared.model import SETTLE, Event, Slot, time_of
from shared.monitor.client import Client
from shared.pipeline import Report, Watch, tick
from shared.settings import read_settings
from shared.teams.address import check_url

RULES = Path(__file__).parents[2] / "rules"
START = 29_500_020
"""The first slot of stories, at a quarter of an hour."""
ACCOUNT = (
    "/subscriptions/00000000-0000-0000-0000-000000000009/resourceGroups/rg-story/providers/"
    "Microsoft.CognitiveServices/accounts/story"
)
Array = NDArray[np.float64]


@dataclass
class Deployment:
    """A healthy provisioned deployment of ten requests a minute, to be spoiled by the test."""

    minutes: int
    name: str = "chat"
    account: str = ACCOUNT
    columns: dict[str, Array] = field(init=False)

    def __post_init__(self) -> None:
        healthy = {"ok": 10.0, "ttlt": 2000.0, "out": 1500.0, "in": 8000.0}
        healthy |= {"utilization": 40.0, "cache": 60.0, "throttled": np.nan, "failed": np.nan}
        self.columns = {name: np.full(self.minutes, value) for name, value in healthy.items()}

    def set(self, column: str, value: float, first: int = 0, last: int | None = None) -> Deployment:
        """Sets a column over the minutes [first, last)."""
        self.columns[column][first:last] = value
        return self

    def silent(self, first: int, last: int | None = None) -> Deployment:
        """No point of anything over the minutes [first, last)."""
        for column in self.columns.values():
            column[first:last] = np.nan
        return self

    def track(self) -> Track:
        weights = np.nan_to_num(self.columns["ok"])
        named = {_COMPONENTS[name]: values for name, values in self.columns.items()}
        shown = {c: values for c, values in named.items() if not np.isnan(values).all()}
        return Track(self.name, START, shown, np.where(weights > 0, weights, 1.0))


_COMPONENTS = {
    "ok": Component("AzureOpenAIRequests", "total", (("StatusCode", "200"),)),
    "throttled": Component("AzureOpenAIRequests", "total", (("StatusCode", "429"),)),
    "failed": Component("AzureOpenAIRequests", "total", (("StatusCode", "500"),)),
    "ttlt": Component("AzureOpenAITTLTInMS", "average", ()),
    "out": Component("GeneratedTokens", "total", ()),
    "in": Component("ProcessedPromptTokens", "total", ()),
    "utilization": Component("AzureOpenAIProvisionedManagedUtilizationV2", "average", ()),
    "cache": Component("AzureOpenAIContextTokensCacheMatchRate", "average", ()),
}


def recording(*deployments: Deployment) -> Recording:
    """The deployments as Azure Monitor would show them."""
    tracks: dict[str, list[Track]] = {}
    accounts = {}
    for deployment in deployments:
        key = deployment.account.casefold()
        tracks.setdefault(key, []).append(deployment.track())
        accounts[key] = Account(deployment.account, "swedencentral")
    return Recording(tracks, accounts, START, START + max(d.minutes for d in deployments))


@dataclass
class Scene:
    """An emulated Azure; watchdogs come and go."""

    server: Running
    source: Source
    state: str
    rules: Path = RULES
    variables: Mapping[str, str] = field(default_factory=dict)

    @contextmanager
    def watchdog(self, **changed: str) -> Iterator[Watch]:
        """A fresh process, so to speak: nothing in memory, the same state."""
        accounts = ",".join(f"{a.region}={a.id}" for a in self.source.accounts.values())
        settings = {
            "TOKENWATCH_ACCOUNTS": accounts,
            "TOKENWATCH_METRICS_ENDPOINT": self.server.url + "/{region}",
            "TOKENWATCH_RESOURCE_MANAGER": self.server.url,
            "TOKENWATCH_STATE": self.state,
            "TOKENWATCH_RULES": str(self.rules),
            "TEAMS_WEBHOOK_DEFAULT": self.server.webhook("default"),
            **self.variables,
            **changed,
        }
        watch = open_watch(read_settings(settings, check_url))
        # Only time is stood in for: no waiting between tries and between posts.
        client = Client(settings["TOKENWATCH_METRICS_ENDPOINT"], credential, backoff=0.01)
        watch.poster, watch.sleep = client, self.server.clock.sleep
        try:
            yield watch
        finally:
            watch.sessions.close()
            client.close()
            if watch.lister:
                watch.lister.close()
            watch.ledger.store.close()

    def tick(self, watch: Watch, slot: Slot) -> Report:
        """One tick at the moment when `slot` is the newest settled one."""
        now = time_of(slot + SETTLE + 1)
        self.server.clock.set(now)
        return tick(watch, now)

    def live(self, slots: Iterable[Slot]) -> list[Event]:
        """A watchdog that ticks once when each of these slots has settled."""
        with self.watchdog() as watch:
            return [event for slot in slots for event in self.tick(watch, slot).events]

    @property
    def cards(self) -> list[str]:
        """The toast of every card that was accepted, in order."""
        bodies = [msgspec.json.decode(p.body) for p in self.server.inbox.posts if p.accepted]
        return [body["summary"] for body in bodies]


@contextmanager
def scene(source: Source, folder: Path, state: str = "", rules: Path = RULES) -> Iterator[Scene]:
    """An emulator of the source, with state in a fresh SQLite file unless said otherwise."""
    with serve(create_app(source)) as server:
        yield Scene(server, source, state or f"sqlite:{folder}/state.db", rules)


def told(events: Iterable[Event]) -> list[tuple[str, str, int]]:
    """Kind, rule and minute of the story of each event."""
    return [(event.kind, event.rule, event.slot - START) for event in events]


def rules_folder(folder: Path, *rules: str, signals: str = "") -> Path:
    """A folder of the shipped signals, more signals, and rules of the test's own."""
    target = folder / "rules"
    target.mkdir()
    shipped = (RULES / "signals.yaml").read_text(encoding="utf-8")
    (target / "signals.yaml").write_text(shipped + signals, encoding="utf-8")
    for number, rule in enumerate(rules):
        (target / f"rules-{number}.yaml").write_text("rules:\n" + rule, encoding="utf-8")
    return target


def rule(name: str, when: str, **more: str) -> str:
    """A rule in YAML; keywords are further keys (`for_` for `for`)."""
    fields = {"severity": "warning", "owner": "tests", "summary": "It is so", "runbook": "r.md"}
    fields |= {key.rstrip("_"): value for key, value in more.items()}
    lines = "".join(f"    {key}: {value}\n" for key, value in fields.items())
    return f"  - name: {name}\n    when: {when}\n{lines}"
