"""`metrics:getBatch` answers as Azure Monitor is documented and recorded to answer."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from azure.core.pipeline import PipelineRequest
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.monitor.querymetrics import MetricsClient

from emulator.app import create_app
from emulator.filters import FilterError, parse
from emulator.server import serve
from emulator.world import World
from tests.emulator.conftest import BY_DEPLOYMENT, DATA, Caller

BOTH = "ModelDeploymentName eq '*' and StatusCode eq '*'"
TTLT = "AzureOpenAITTLTInMS"


def shape(value: Any) -> Any:
    """The keys of a body, recursively; a list has the shapes of its members put together."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        merged: dict[str, Any] = {}
        for inner in value:
            if isinstance(inner, dict):
                merged |= shape(inner)
        return [merged]
    return "number" if isinstance(value, int | float) else type(value).__name__


def test_an_unsplit_answer_has_the_shape_of_the_recorded_one(caller: Caller) -> None:
    """Every key of the recorded body is there and no other, at every depth."""
    recorded = json.loads((DATA / "getbatch-recorded.json").read_text())["response"]["body"]
    for series in recorded["values"][0]["value"][0]["timeseries"]:
        for point in series["data"]:
            point["total"] = point.pop("count")  # Azure OpenAI offers no Count
    ours = caller.ask(filter=None, aggregation="total").json()
    assert shape(ours) == shape(recorded)


def test_a_split_answer_has_the_shape_of_the_documented_example(caller: Caller) -> None:
    """Metadata values and points without a value look as in the specification's example."""
    example = json.loads((DATA / "getbatch-two-dimensions-missing-points.json").read_text())
    theirs = example["values"][0]["value"][0]["timeseries"]
    ours = caller.series(
        "AzureOpenAITimeToResponse", filter=BOTH, aggregation="average,minimum,maximum", first=-1500
    )
    assert shape(ours) == shape(theirs)
    assert {"timeStamp"} in [set(point) for point in ours[0]["data"]]


def test_the_real_sdk_reads_the_answer(caller: Caller) -> None:
    """MetricsClient.query_resources decodes names, dimensions and points."""

    class Token(SansIOHTTPPolicy[Any, Any]):
        def on_request(self, request: PipelineRequest[Any]) -> None:
            request.http_request.headers["Authorization"] = "Bearer x"

    class NoCredential:
        def get_token(self, *_: str, **__: Any) -> Any:
            raise AssertionError("the policy above stands in for it")

    start = datetime.fromtimestamp(caller.world.start * 60, UTC)
    with MetricsClient(caller.server.url, NoCredential(), authentication_policy=Token()) as client:
        (result,) = client.query_resources(
            resource_ids=[caller.north],
            metric_namespace="Microsoft.CognitiveServices/accounts",
            metric_names=[TTLT],
            timespan=(start, timedelta(hours=1)),
            granularity=timedelta(minutes=5),
            aggregations=["average"],
            filter=BY_DEPLOYMENT,
            max_results=100,
        )
    names = {s.metadata_values["modeldeploymentname"] for s in result.metrics[0].timeseries}
    assert names == {"chat-ptu", "search-ptu"}
    data = result.metrics[0].timeseries[0].data
    assert len(data) == 12
    assert data[0].timestamp == start
    assert data[0].average is not None


def test_ids_come_back_in_another_order_and_case(caller: Caller) -> None:
    """Who maps by position or by spelling is wrong."""
    other = caller.north.replace("small-north", "nobody")
    twin = caller.north
    answer = caller.ask(ids=[twin, other]).json()["values"]
    assert [entry["resourceid"].casefold() for entry in answer] == [twin]
    assert answer[0]["resourceid"] != twin
    again = caller.ask(ids=[answer[0]["resourceid"]]).json()["values"]
    assert again[0]["resourceid"] == twin


def test_coarser_grains_match_the_minutes(caller: Caller) -> None:
    """A quarter of an hour of requests is the sum of its minutes."""
    fine = caller.series(aggregation="total")[0]["data"]
    coarse = caller.series(aggregation="total", interval="PT15M")[0]["data"]
    sums = [sum(point.get("total", 0) for point in fine[at : at + 15]) for at in range(0, 60, 15)]
    assert [point["total"] for point in coarse] == sums


def test_starts_and_ends_are_rounded_down_to_the_grain(caller: Caller) -> None:
    """As recorded: from 1:40:10 to 2:40:10 gives 1:40 up to 2:35."""
    data = caller.series(
        starttime="2026-11-24T08:43:10Z", endtime="2026-11-24T09:41:10Z", interval="PT5M"
    )[0]["data"]
    stamps = [point["timeStamp"] for point in data]
    assert (stamps[0], stamps[-1]) == ("2026-11-24T08:40:00Z", "2026-11-24T09:35:00Z")


def test_a_split_series_without_points_is_left_out(caller: Caller) -> None:
    """Nobody was turned away in the first minutes, so there is no series of 429."""
    statuses = {
        (s["metadatavalues"][0]["value"], s["metadatavalues"][1]["value"])
        for s in caller.series(filter=BOTH, first=0, last=15)
    }
    assert statuses == {("chat-ptu", "200"), ("search-ptu", "200")}


def test_a_total_that_is_not_split_has_zeros(small: World, caller: Caller) -> None:
    """As in the recorded body; the newest minute is 0 as well, though requests were made."""
    caller.server.clock.set((small.start + 60) * 60)
    (series,) = caller.series(filter=None)
    assert series["metadatavalues"] == []
    assert series["data"][-1]["total"] == 0 < series["data"][-3]["total"]


def test_top_cuts_without_a_word() -> None:
    """10 series by default, as many as asked otherwise."""
    names = "".join(f"      - {{name: d{n:02}, load: 3}}\n" for n in range(12))
    world = World.read(
        "start: 2026-11-24T08:00:00Z\nfor: 1h\naccounts:\n"
        "  - id: /subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/g"
        "/providers/Microsoft.CognitiveServices/accounts/many\n"
        f"    region: eastus\n    deployments:\n{names}"
    )
    import requests

    with serve(create_app(world)) as server, requests.Session() as session:
        server.clock.set((world.end + 5) * 60)
        many = Caller(server, world, session)
        assert len(many.series(top=None)) == 10
        assert len(many.series(top=12)) == 12


def test_too_many_series_are_an_error_and_no_data(small: World, caller: Caller) -> None:
    """The limit is on series of the whole query, whatever `top` says."""
    caller.server.emulator.max_series = 1
    answer = caller.ask(top=1)
    assert answer.status_code == 400
    assert "Cannot request more than 1 time series" in answer.json()["error"]["message"]


def test_minutes_arrive_late_and_in_parts(small: World, caller: Caller) -> None:
    """The newest minute is absent, the one before is partial, older ones stand for good."""
    whole = [point["total"] for point in caller.series(first=30, last=40)[0]["data"]]
    caller.server.clock.set((small.start + 40) * 60 + 20)
    now = [point.get("total") for point in caller.series(first=30, last=45)[0]["data"]]
    assert now[:8] == whole[:8]
    assert now[8] == int(whole[8] * 0.6)
    assert now[9] is None
    assert len(now) == 10


def test_the_clock_is_set_over_http(caller: Caller) -> None:
    """POST sets what GET tells; anything but a UTC time is refused."""
    url = f"{caller.server.url}/_emulator/now"
    posted = caller.session.post(url, json={"now": "2026-11-24T08:30:00Z"}, timeout=5)
    assert posted.json() == caller.session.get(url, timeout=5).json()
    assert posted.json()["now"] == "2026-11-24T08:30:00Z"
    assert caller.session.post(url, json={"now": "soon"}, timeout=5).status_code == 400


@pytest.mark.parametrize(
    ("asked", "status", "names"),
    [
        ({"headers": {}}, 401, "bearer"),
        ({"subscription": "00000000-0000-0000-0000-00000000000f"}, 401, "Monitoring Reader"),
        ({"api-version": None}, 400, "api-version"),
        ({"api-version": "2018-01-01"}, 400, "api-version"),
        ({"metricnamespace": "microsoft.storage/storageaccounts"}, 400, "metricnamespace"),
        ({"metric": f"{TTLT},NoSuchMetric,Other"}, 400, "NoSuchMetric"),
        ({"metric": "AgentRuns"}, 400, "AgentRuns"),
        ({"metric": ",".join([TTLT] * 21)}, 400, "20"),
        ({"metric": TTLT, "aggregation": "total"}, 400, TTLT),
        ({"metric": "AzureOpenAIRequests", "aggregation": "count"}, 400, "AzureOpenAIRequests"),
        ({"metric": TTLT, "filter": BOTH}, 400, "dimension combination: statuscode"),
        ({"filter": "ModelDeploymentName eq *"}, 400, "not understood"),
        ({"interval": "PT2M"}, 400, "PT2M"),
        ({"starttime": "2026-11-24T09:00:00+01:00"}, 400, "starttime"),
        ({"endtime": None}, 400, "endtime"),
        ({"endtime": "2026-11-20T09:00:00Z"}, 400, "before the starttime"),
        ({"top": "many"}, 400, "top"),
        ({"ids": []}, 400, "resource ids"),
        ({"ids": ["/subscriptions/x"]}, 400, "/subscriptions/x"),
        ({"region": "/westus"}, 400, "one region"),
    ],
)
def test_what_azure_refuses_is_refused_in_its_shape(
    caller: Caller, asked: dict[str, Any], status: int, names: str
) -> None:
    """Each refusal has Azure's error object and names the culprit."""
    answer = caller.ask(**asked)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert error["code"] == ("Unauthorized" if status == 401 else "BadRequest")
    assert names in error["message"]


def test_a_batch_is_of_one_region_and_at_most_50_accounts(caller: Caller) -> None:
    """Two regions or 51 ids are one request too many; the right region's endpoint is fine."""
    assert caller.ask(ids=[caller.north, caller.south]).status_code == 400
    many = [f"{caller.north}{n}" for n in range(51)]
    assert "50" in caller.ask(ids=many).json()["error"]["message"]
    assert caller.ask(ids=many[:50]).json() == {"values": []}
    assert caller.ask(region="/swedencentral").status_code == 200


def test_a_metric_without_data_succeeds_with_no_series(caller: Caller) -> None:
    """A provisioned metric of a pay-as-you-go deployment is absent and no error."""
    metric = "AzureOpenAIProvisionedManagedUtilizationV2"
    entry = caller.ask(metric, ids=[caller.south]).json()["values"][0]["value"][0]
    assert (entry["timeseries"], entry["errorCode"]) == ([], "Success")


def test_filters_split_and_choose(caller: Caller) -> None:
    """Values are chosen by `eq` and `or`, in any case, and named in lower case."""
    text = "modeldeploymentname eq 'CHAT-ptu' and StatusCode eq '200' or StatusCode eq '429'"
    (series,) = caller.series(filter=text)
    assert [m["name"]["value"] for m in series["metadatavalues"]] == [
        "modeldeploymentname",
        "statuscode",
    ]
    assert series["metadatavalues"][0]["value"] == "chat-ptu"


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("A eq '*'", {"A": None}),
        ("A eq 'x' or A eq 'y' and B eq '*'", {"A": frozenset("xy"), "B": None}),
        ("A eq 'it''s'", {"A": frozenset({"it's"})}),
        ("dim %28test%29 1 eq 'a%28b'", {"dim (test) 1": frozenset({"a(b"})}),
        ("dim %2528test%2529 1 eq '*'", {"dim (test) 1": None}),
        ("A EQ 'and b eq'", {"A": frozenset({"and b eq"})}),
    ],
)
def test_the_grammar_of_filters(text: str, right: dict[str, Any]) -> None:
    """Doubled quotes, encoded brackets and keywords in any case are understood."""
    assert parse(text) == right


@pytest.mark.parametrize(
    "text",
    [
        "A eq 'x' or B eq 'y'",
        "A eq 'x' and A eq 'y'",
        "A eq 'x' B eq 'y'",
        "A eq 'x' and ",
        "A (1) eq '*'",
        "A ne 'x'",
        "",
    ],
)
def test_filters_that_azure_refuses(text: str) -> None:
    """`or` between dimensions, raw brackets and broken text are errors."""
    with pytest.raises(FilterError):
        parse(text)


def test_an_answer_is_quick(small: World, caller: Caller) -> None:
    """60 minutes of five metrics are told well under the time that a demo can spare."""
    import time

    metrics = f"{TTLT},AzureOpenAIProvisionedManagedUtilizationV2"
    caller.ask(metrics)
    times = []
    for _ in range(20):
        began = time.perf_counter()
        caller.ask(metrics)
        times.append(time.perf_counter() - began)
    assert np.median(times) < 0.05
