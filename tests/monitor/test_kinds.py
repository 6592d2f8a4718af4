"""Cases of the field about reading: what Azure Monitor does that broke other tools."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from emulator.app import create_app
from emulator.server import serve
from emulator.world import World
from shared.build import credential
from shared.model import UNATTRIBUTED, Account, Component
from shared.monitor.client import Client
from shared.monitor.plan import plan
from shared.monitor.read import Range, read
from shared.rulebook.load import load
from tests.pipeline.story import START, Deployment, recording, scene

ROOT = Path(__file__).parents[2]
REQUESTS = Component("AzureOpenAIRequests", "total")
UTILIZATION = Component("AzureOpenAIProvisionedManagedUtilizationV2", "average")


def test_a01_traffic_of_no_deployment_is_shown_as_unattributed(tmp_path: Path) -> None:
    """`__Empty` is judged by plain thresholds, has no baseline, and never shows its raw name."""
    empty = Deployment(90, name="__Empty").set("failed", 40, 30).set("ok", 10)
    with scene(recording(empty), tmp_path) as one, one.watchdog() as watch:
        events = [e for s in range(START + 20, START + 45) for e in one.tick(watch, s).events]
        tally = one.tick(watch, START + 45).tally
        (head,) = watch.ledger.heads()[0].values()
    assert {event.rule for event in events} == {"SuccessRateCollapsed", "SuccessRateLow"}
    assert {event.deployment.name for event in events} == {UNATTRIBUTED}
    assert sum(tally["TTLTRisingWithoutTokens"].values()) == 0
    assert head.value.fits == {}
    assert not any("__Empty" in card for card in one.cards)


def test_a03_too_many_series_halves_the_batch() -> None:
    """Two accounts together pass the limit, each alone does not: both are read."""
    text = (ROOT / "emulator" / "worlds" / "small.yaml").read_text(encoding="utf-8")
    world = World.read(text.replace("region: eastus2", "region: swedencentral"))
    accounts = [Account(key, one.region) for key, one in world.accounts.items()]
    with serve(create_app(world, max_series=2)) as server:
        server.clock.set((world.start + 120) * 60)
        client = Client(server.url + "/{region}", credential, backoff=0.01)
        reading = read(client, accounts, [REQUESTS], Range(world.start, 60))
        client.close()
    assert reading.failures == {}
    assert len({series.deployment.account for series in reading.series}) == 2
    assert reading.queries == 3


def test_a03_too_many_series_of_one_account_have_failed_and_are_no_silence() -> None:
    """What cannot be halved any further is `query failed`, never `no traffic`."""
    world = World.load(ROOT / "emulator" / "worlds" / "small.yaml")
    (north,) = [Account(k, a.region) for k, a in world.accounts.items() if a.region != "eastus2"]
    with serve(create_app(world, max_series=1)) as server:
        server.clock.set((world.start + 120) * 60)
        client = Client(server.url + "/{region}", credential, backoff=0.01)
        reading = read(client, [north], [REQUESTS], Range(world.start, 60))
        client.close()
    assert "series" in reading.failures[north.id, REQUESTS].reason


def test_a04_utilization_is_split_by_nothing_but_the_deployment() -> None:
    """The shipped rules ask for the fewest dimensions: one utilization series a deployment."""
    queries = plan(load(ROOT / "rules").needed)
    (query,) = [query for query in queries if UTILIZATION.metric in query.metrics]
    assert query.dimensions == ()


def test_a21_no_definitions_are_asked_while_watching(tmp_path: Path) -> None:
    """Definitions come with the product, so a throttled definitions endpoint costs nothing."""
    with scene(recording(Deployment(40)), tmp_path) as one:
        one.live(range(START + 20, START + 25))
        paths = {entry.path.rsplit("/", 1)[-1] for entry in one.server.log}
    assert paths == {"metrics:getBatch"}


class Partial(http.server.BaseHTTPRequestHandler):
    """A refusal whose reason stands only in the inner error."""

    def do_POST(self) -> None:
        inner = {"code": "SemanticError", "message": "dimension Foo is not there"}
        error = {"code": "BadRequest", "message": "Bad request.", "innererror": inner}
        body = json.dumps({"error": error}).encode()
        self.send_response(400)
        self.send_header("x-ms-correlation-request-id", "correlated-1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base's name
        """Keeps the test's output clean."""


@pytest.fixture
def partial() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Partial) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_a23_the_inner_error_is_kept_and_the_correlation_id_logged(
    partial: str, caplog: pytest.LogCaptureFixture
) -> None:
    """`Bad request.` alone helps nobody: the details reach the reason and the log."""
    account = Account("/subscriptions/s/resourcegroups/g/providers/p/accounts/a", "eastus")
    client = Client(partial, credential, backoff=0.01)
    reading = read(client, [account], [REQUESTS], Range(START, 10))
    client.close()
    assert "dimension Foo is not there" in reading.failures[account.id, REQUESTS].reason
    assert "correlated-1" in caplog.text
