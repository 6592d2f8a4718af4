"""A running emulator of the small world, and plain calls to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
from starlette.applications import Starlette

from emulator.app import create_app
from emulator.server import Running, serve
from emulator.state import Emulator
from emulator.times import iso
from emulator.world import World

WORLDS = Path(__file__).parents[2] / "emulator" / "worlds"
DATA = Path(__file__).parent / "data"
SUBSCRIPTION = "00000000-0000-0000-0000-000000000001"
BY_DEPLOYMENT = "ModelDeploymentName eq '*'"


@dataclass(frozen=True)
class Caller:
    """Asks getBatch as a client would; the session is closed with the emulator."""

    server: Running
    world: World
    session: requests.Session

    @property
    def north(self) -> str:
        return next(iter(self.world.accounts))

    @property
    def south(self) -> str:
        return list(self.world.accounts)[1]

    def ask(
        self,
        metric: str = "AzureOpenAIRequests",
        *,
        ids: Sequence[str] | None = None,
        first: int = 0,
        last: int = 60,
        region: str = "",
        headers: dict[str, str] | None = None,
        timeout: float = 10,
        subscription: str = SUBSCRIPTION,
        **params: Any,
    ) -> requests.Response:
        """A query of minutes [first, last) after the world's start."""
        query: dict[str, Any] = {
            "api-version": "2024-02-01",
            "metricnamespace": "Microsoft.CognitiveServices/accounts",
            "metricnames": metric,
            "interval": "PT1M",
            "starttime": iso(self.world.start + first),
            "endtime": iso(self.world.start + last),
            "filter": BY_DEPLOYMENT,
            "top": 1000,
            **params,
        }
        return self.session.post(
            f"{self.server.url}{region}/subscriptions/{subscription}/metrics:getBatch",
            params={name: value for name, value in query.items() if value is not None},
            json={"resourceids": [self.north] if ids is None else ids},
            headers={"Authorization": "Bearer x"} if headers is None else headers,
            timeout=timeout,
        )

    def series(self, metric: str = "AzureOpenAIRequests", **asked: Any) -> list[Any]:
        """The timeseries of the one metric of the one resource asked for."""
        answer = self.ask(metric, **asked)
        assert answer.status_code == 200, answer.text
        found: list[Any] = answer.json()["values"][0]["value"][0]["timeseries"]
        return found


@pytest.fixture(scope="session")
def small() -> World:
    return World.load(WORLDS / "small.yaml")


@pytest.fixture(scope="session")
def serving(small: World) -> Iterator[tuple[Starlette, str]]:
    """One server for all tests, each of which gives it a fresh emulator."""
    app = create_app(small)
    with serve(app) as server:
        yield app, server.url


@pytest.fixture
def caller(small: World, serving: tuple[Starlette, str]) -> Iterator[Caller]:
    """Everything of the three hours can be seen."""
    app, url = serving
    app.state.emulator = emulator = Emulator.of(small)
    emulator.clock.set((small.end + 10) * 60)
    with requests.Session() as session:
        yield Caller(Running(url, emulator), small, session)
