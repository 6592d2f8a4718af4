"""Worlds: the same whatever is asked, and what happens in them shows."""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from emulator.source import Array, Series, Source, reduce
from emulator.world import World
from emulator.worldfile import WorldError
from tests.emulator.conftest import WORLDS

TTLT = "AzureOpenAITTLTInMS"
REQUESTS = "AzureOpenAIRequests"
CACHE = "AzureOpenAIContextTokensCacheMatchRate"
UTILIZATION = "AzureOpenAIProvisionedManagedUtilizationV2"


def of(
    world: World, deployment: str, metric: str, aggregation: str, at: int, to: int, status: str = ""
) -> Array:
    """The values of one deployment, minutes [at, to) after the world's start."""
    for account in world.accounts:
        for one in world.series(account, metric, aggregation, world.start + at, world.start + to):
            if one.dimensions["ModelDeploymentName"] == deployment and (
                not status or one.dimensions["StatusCode"] == status
            ):
                return one.values
    return np.full(to - at, np.nan)


def variant(idle: str = "absent", incidents: str = "[]", load: str = "8") -> World:
    return World.read(f"""
seed: 1
start: 2026-11-24T08:00:00Z
for: 2h
lead_in: 1d
idle: {idle}
accounts:
  - id: /subscriptions/s/resourceGroups/g/providers/Microsoft.CognitiveServices/accounts/a
    region: eastus
    deployments: [{{name: d, load: {load}, capacity: 40000}}]
incidents: {incidents}
""")


def test_a_minute_is_the_same_whatever_range_is_asked_in_whatever_order() -> None:
    """Two worlds of one file agree, asked whole or in pieces from the end."""
    one, two = (World.load(WORLDS / "small.yaml") for _ in range(2))
    for deployment, metric, aggregation, status in (
        ("chat-ptu", TTLT, "average", ""),
        ("assist-paygo", TTLT, "maximum", ""),
        ("search-ptu", REQUESTS, "total", "429"),
    ):
        pieces = [
            of(two, deployment, metric, aggregation, at, at + 60, status)
            for at in reversed(range(-600, 180, 60))
        ]
        whole = of(one, deployment, metric, aggregation, -600, 180, status)
        np.testing.assert_array_equal(whole, np.concatenate(pieces[::-1]))


def test_a_world_is_a_source(small: World) -> None:
    """World fulfils the protocol that the app works on."""
    source: Source = small
    assert source.series("nobody", TTLT, "average", source.start, source.start + 5) == []


def test_coarser_grains_are_exact_sums_over_counts(small: World) -> None:
    """A quarter of an hour is the mean of its requests, not of its minutes."""
    account = next(iter(small.accounts))
    (series, *_) = small.series(account, TTLT, "average", small.start, small.start + 15)
    known = ~np.isnan(series.values)
    exact = np.average(series.values[known], weights=series.weights[known])
    assert reduce("average", [series], 15)[0] == pytest.approx(exact, rel=1e-12)
    assert exact != pytest.approx(float(np.nanmean(series.values)), rel=1e-6)


@pytest.mark.parametrize(
    ("aggregation", "right"),
    [("total", [4.0, np.nan]), ("average", [3.4, np.nan]), ("maximum", [4.0, np.nan])],
)
def test_gaps_are_left_out_and_a_point_of_gaps_only_is_none(
    aggregation: str, right: list[float]
) -> None:
    """Nulls count in no aggregation, and make a null where there is nothing else."""
    gap = np.nan
    values = (
        np.array([1.0, gap, gap, gap]) if aggregation != "total" else np.array([4.0] + [gap] * 3)
    )
    parts = [
        Series({}, values, np.array([1.0, 5.0, 5.0, 5.0])),
        Series(
            {},
            np.array([gap, 4.0, gap, gap]) * (1 if aggregation != "total" else gap),
            np.full(4, 4.0),
        ),
    ]
    np.testing.assert_allclose(reduce(aggregation, parts, 2), right)


def test_slower_decode_doubles_latency_at_flat_tokens(small: World) -> None:
    """Time between tokens x 2 nearly doubles TTLT and leaves tokens per answer alone."""
    before, during = (
        np.nanmean(of(small, "chat-ptu", TTLT, "average", at, at + 40)) for at in (-40, 20)
    )
    assert during / before == pytest.approx(1.9, abs=0.35)
    tokens, answers = (
        np.nansum(of(small, "chat-ptu", metric, "total", 20, 60, status))
        for metric, status in (("GeneratedTokens", ""), (REQUESTS, "200"))
    )
    assert tokens / answers == pytest.approx(211, abs=45)


def test_a_saturated_deployment_turns_requests_away(small: World) -> None:
    """Utilization stays where it is held and a quarter of the requests answers 429."""
    assert set(of(small, "search-ptu", UTILIZATION, "average", 20, 35)) == {106.0}
    turned, let = (
        np.nansum(of(small, "search-ptu", REQUESTS, "total", 20, 35, s)) for s in ("429", "200")
    )
    assert turned / (turned + let) == pytest.approx(0.25, abs=0.12)


def test_failing_requests_lower_availability_and_throttled_ones_do_not(small: World) -> None:
    """Availability counts 5xx alone."""
    metric = "AzureOpenAIAvailabilityRate"
    assert np.nanmean(of(small, "assist-paygo", metric, "average", 90, 120)) < 60
    assert np.nanmean(of(small, "search-ptu", metric, "average", 20, 35)) == 100


def test_the_cache_collapses_and_warms_up_again() -> None:
    """A ramp leads from the collapse back to the old level."""
    incident = "[{deployment: d, at: +10m, for: 20m, kind: cache_collapse, to: 0, rewarm: 20m}]"
    cache = of(variant(incidents=incident), "d", CACHE, "average", 0, 60)
    assert np.nanmean(cache[10:12]) < 10 < 20 < np.nanmean(cache[18:22]) < 40
    assert np.nanmean(cache[30:]) == pytest.approx(60, abs=3)


@pytest.mark.parametrize(
    ("incident", "metric", "factor"),
    [
        ("kind: slower_first_token, factor: 5", "AzureOpenAITimeToResponse", 5),
        ("kind: longer_answers, factor: 2", "GeneratedTokens", 2),
        ("kind: more_load, factor: 3", "AzureOpenAIRequests", 3),
    ],
)
def test_factors_show_in_the_metric_they_bend(incident: str, metric: str, factor: float) -> None:
    """First token, answer length and load are each bent by their own incident."""
    world = variant(incidents=f"[{{deployment: d, at: +0m, for: 2h, {incident}}}]")
    aggregation = "average" if "Time" in metric else "total"
    before, during = (
        np.nanmean(of(world, "d", metric, aggregation, at, at + 120)) for at in (-120, 0)
    )
    assert during / before == pytest.approx(factor, rel=0.15)


def test_provisioned_metrics_are_absent_on_pay_as_you_go(small: World) -> None:
    """There is no series at all, rather than zeros."""
    _, account = small.accounts
    for metric in (UTILIZATION, CACHE, "AzureOpenAINormalizedTBTInMS"):
        assert small.series(account, metric, "average", small.start, small.end) == []


def test_idle_minutes_are_absent_or_zero_as_the_world_says() -> None:
    """Totals follow the setting; latency is absent either way."""
    quiet = "[{deployment: d, at: +10m, for: 10m, kind: no_traffic}]"
    for idle, right in (("absent", np.nan), ("zero", 0.0)):
        world = variant(idle, quiet)
        np.testing.assert_array_equal(
            of(world, "d", REQUESTS, "total", 10, 20, "200"), [right] * 10
        )
        assert np.isnan(of(world, "d", TTLT, "average", 10, 20)).all()


def test_nothing_exists_before_the_world_began() -> None:
    """Minutes before the lead-in have no points, zeros neither."""
    world = variant("zero")
    values = of(world, "d", REQUESTS, "total", -1445, -1435)
    assert np.isnan(values[:5]).all()
    assert not np.isnan(values[5:]).any()


def test_recorded_traffic_gives_the_load_its_shape() -> None:
    """The mean is as asked, and it is busier in the evening than at night."""
    world = variant(load="{recorded: request-rate-m-small.csv, mean: 8}")
    values = np.nan_to_num(of(world, "d", REQUESTS, "total", -1440, 0, "200"))
    by_hour = values.reshape(24, 60).mean(1)  # from 08:00 on
    assert values.mean() == pytest.approx(8, rel=0.3)
    assert by_hour[12] > 1.4 * by_hour[18]


@pytest.mark.parametrize("name", ["demo.yaml", "small.yaml"])
def test_shipped_worlds_leave_quiet_between_incidents(name: str) -> None:
    """Incidents of a deployment never overlap, and all but one pair have 30 quiet minutes."""
    world = World.load(WORLDS / name)
    for deployment in {one.deployment for one in world.file.incidents}:
        own = sorted(
            (one.at, one.at + one.length)
            for one in world.file.incidents
            if one.deployment == deployment
        )
        gaps = [later[0] - earlier[1] for earlier, later in pairwise(own)]
        # A gap of 0 is one incident in two acts: failures, then callers that stay away.
        assert all(gap == 0 or gap >= 30 for gap in gaps), (deployment, gaps)
        assert world.start <= own[0][0] <= own[-1][1] <= world.end


def test_the_demo_makes_two_weeks_of_history_quickly() -> None:
    """14 days of three deployments take about a second at most."""
    world = World.load(WORLDS / "demo.yaml")
    began = time.perf_counter()
    for account in world.accounts:
        world.series(account, TTLT, "average", world.begin, world.end)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    ("old", "new", "cure"),
    [
        ("for: 2h", "for: two hours", "no span of time"),
        ("start: 2026-11-24T08:00:00Z", "start: soon", "start must be a UTC time"),
        ("incidents: []", "incidents: [{deployment: x, at: 1h, for: 1h, kind: no_traffic}]", "'x'"),
        ("incidents: []", "incidents: [{deployment: d, at: 1h, for: 1h, kind: gremlins}]", "kind"),
        ("seed: 1", "sead: 1", "sead"),
        ("seed: 1", "seed: [", "line 2, column 7"),
        ("seed: 1", "seed: -1", "seed"),
        ("for: 2h", "for: 0m", "longer than nothing"),
        ("2026-11-24", "2026-11-31", "day"),
        ("load: 8", "load: -8", "load"),
        (
            "load: 8",
            "load: {recorded: none.csv, mean: 8}",
            "no recorded traffic 'none.csv'; there are",
        ),
        ("load: 8", "load: 8, tokens: none.csv", "no recorded traffic 'none.csv'; there are"),
        ("load: 8", "load: 8, capacity: 0", "capacity"),
        ("load: 8", "load: 8, error_rate: 2", "error_rate"),
        ("[{name: d, load: 8}]", "[]", "deployments"),
        ("/subscriptions/s/resourceGroups/g/providers", "/somewhere", "is no resource id: write"),
    ],
)
def test_a_broken_world_says_what_is_wrong(old: str, new: str, cure: str) -> None:
    """Errors name the place or the word that is not understood."""
    text = """
seed: 1
start: 2026-11-24T08:00:00Z
for: 2h
accounts:
  - id: /subscriptions/s/resourceGroups/g/providers/Microsoft.CognitiveServices/accounts/a
    region: eastus
    deployments: [{name: d, load: 8}]
incidents: []
"""
    World.read(text)
    with pytest.raises(WorldError, match=cure):
        World.read(text.replace(old, new))


def test_a_file_that_is_no_text_is_no_world(tmp_path: Path) -> None:
    """Bytes of something else are refused in one line."""
    path = tmp_path / "world.yaml"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(WorldError, match="is no UTF-8 text: a world is a YAML file"):
        World.load(path)
