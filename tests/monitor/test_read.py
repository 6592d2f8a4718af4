"""Reading accounts through the real SDK client, from an emulated Azure Monitor and from stubs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from emulator.app import create_app
from emulator.faults import Fault, Html, Status, WrongCase
from emulator.server import Running, serve
from emulator.world import World
from shared.build import credential
from shared.model import Account, Component
from shared.monitor.client import Client, QueryError
from shared.monitor.read import TOP, Range, read

WORLD = World.load(Path(__file__).parents[2] / "emulator" / "worlds" / "small.yaml")
NORTH = next(Account(key, one.region) for key, one in WORLD.accounts.items())
REQUESTS = Component("AzureOpenAIRequests", "total")
THROTTLED = Component("AzureOpenAIRequests", "total", (("StatusCode", "429"),))
TTLT = Component("AzureOpenAITTLTInMS", "average")
OVER = Range(WORLD.start, 60)


@pytest.fixture
def server() -> Iterator[Running]:
    with serve(create_app(WORLD)) as running:
        running.clock.set((WORLD.start + 120) * 60)
        yield running


@pytest.fixture
def client(server: Running) -> Iterator[Client]:
    opened = Client(server.url + "/{region}", credential, backoff=0.01)
    yield opened
    opened.close()


def test_the_series_of_an_account_are_read(client: Client) -> None:
    """Both deployments, requests by status and the latency, in two queries."""
    reading = read(client, [NORTH], [REQUESTS, THROTTLED, TTLT], OVER)
    assert {series.deployment.name for series in reading.series} == {"chat-ptu", "search-ptu"}
    assert {dict(s.dimensions)["statuscode"] for s in reading.series if s.dimensions} >= {"200"}
    assert reading.failures == {}
    assert reading.queries == 2


def test_the_request_is_what_azure_documents(client: Client, server: Running) -> None:
    """UTC times with Z, `filter` without `$`, `top` set, ids in lower case."""
    read(client, [NORTH], [REQUESTS], OVER)
    request = server.log[-1]
    assert request.query["starttime"].endswith("Z")
    assert request.query["endtime"].endswith("Z")
    assert request.query["top"] == str(TOP)
    assert request.query["filter"] == "ModelDeploymentName eq '*'"
    assert json.loads(request.body) == {"resourceids": [NORTH.id]}


def test_names_come_back_in_another_case_and_are_the_same_deployment(
    client: Client, server: Running
) -> None:
    """The key of a deployment has no case."""
    before = read(client, [NORTH], [REQUESTS], OVER)
    server.faults.set(Fault(effect=WrongCase()))
    after = read(client, [NORTH], [REQUESTS], OVER)
    names = {s.deployment.name for s in after.series}
    assert names != {s.deployment.name for s in before.series}
    assert {s.deployment.key for s in after.series} == {s.deployment.key for s in before.series}


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
def test_a20_a_passing_error_is_asked_again(client: Client, server: Running, status: int) -> None:
    """One bad answer, bare of Retry-After, then a good one: nothing is missing."""
    server.faults.set(Fault(effect=Status(status=status), calls=(1, 1)))
    reading = read(client, [NORTH], [REQUESTS], OVER)
    assert reading.failures == {}
    assert reading.series


def test_a_short_retry_after_is_honoured_and_a_long_one_is_not_waited_for(
    client: Client, server: Running
) -> None:
    """An hour of Retry-After does not hold up the tick: the query fails at once, as transient."""
    server.faults.set(Fault(effect=Status(status=429, retry_after=3600)))
    reading = read(client, [NORTH], [REQUESTS], OVER)
    (failure,) = reading.failures.values()
    assert failure.transient
    assert "429" in failure.reason
    assert server.faults.calls == 1


@pytest.mark.parametrize(("status", "cure"), [(401, "Monitoring Reader"), (403, "Insights")])
def test_a_refusal_names_the_cure_and_is_permanent(
    client: Client, server: Running, status: int, cure: str
) -> None:
    """A missing role is not waited out; the text says what to give on which subscription."""
    server.faults.set(Fault(effect=Status(status=status)))
    reading = read(client, [NORTH], [REQUESTS], OVER)
    (failure,) = reading.failures.values()
    assert not failure.transient
    assert cure in failure.reason
    assert NORTH.subscription in failure.reason


def test_an_html_page_is_a_transient_failure(client: Client, server: Running) -> None:
    """A gateway's page instead of JSON: failed, and quoted only in part."""
    server.faults.set(Fault(effect=Html(status=200)))
    reading = read(client, [NORTH], [REQUESTS], OVER)
    (failure,) = reading.failures.values()
    assert failure.transient


class Canned:
    """Stands in for the far end: one body for every question."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def post(
        self, region: str, subscription: str, parameters: Mapping[str, str], ids: list[str]
    ) -> bytes:
        assert region and subscription and ids
        if parameters["metricnames"] == "Refused":
            raise QueryError("HTTP 400: no such metric", transient=False, divisible=True)
        return self.body


def test_a11_a_series_count_at_the_limit_is_reported_as_truncated() -> None:
    """`top` cuts silently, so an answer of exactly that size is named."""
    pair = [{"name": {"value": "modeldeploymentname"}, "value": "d"}]
    series = [{"metadatavalues": pair, "data": []}] * TOP
    metric = {"name": {"value": "AzureOpenAIRequests"}, "timeseries": series}
    body = json.dumps({"values": [{"resourceid": NORTH.id, "value": [metric]}]}).encode()
    reading = read(Canned(body), [NORTH], [REQUESTS], OVER)
    assert len(reading.truncated) == 1
    assert "AzureOpenAIRequests" in reading.truncated[0]


def test_an_account_that_the_answer_leaves_out_has_failed() -> None:
    """Silence about an account is no sign of silence in it."""
    reading = read(Canned(b'{"values": []}'), [NORTH], [REQUESTS], OVER)
    assert reading.failures[NORTH.id, REQUESTS].transient
