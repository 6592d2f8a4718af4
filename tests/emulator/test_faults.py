"""Every fault does what it says, where and when it says."""

from __future__ import annotations

import time
from typing import Any

import pytest
import requests

from emulator.faults import (
    AnyEffect,
    CutBody,
    DropPoints,
    Duplicate,
    ErrorCode,
    Fault,
    Hang,
    Html,
    InvalidJson,
    Late,
    Nulls,
    Status,
    WrongCase,
)
from emulator.times import Moment, Span
from emulator.world import World
from tests.emulator.conftest import WORLDS, Caller

TTLT = "AzureOpenAITTLTInMS"


def struck(caller: Caller, effect: AnyEffect, **match: Any) -> None:
    caller.server.faults.set(Fault(effect=effect, **match))


@pytest.mark.parametrize("status", [429, 529, 500, 503])
def test_a_status_comes_with_or_without_retry_after(caller: Caller, status: int) -> None:
    """Throttling and server errors carry an error object and the header that was asked for."""
    struck(caller, Status(status=status))
    answer = caller.ask()
    assert (answer.status_code, answer.headers.get("Retry-After")) == (status, None)
    assert answer.json()["error"]["code"] == str(status)
    struck(caller, Status(status=status, retry_after=7))
    assert caller.ask().headers["Retry-After"] == "7"


def test_a_hang_lasts(caller: Caller) -> None:
    """A client with less patience gives up, and the server still stops at once."""
    struck(caller, Hang(seconds=60))
    with pytest.raises(requests.ReadTimeout):
        caller.ask(timeout=0.2)


def test_a_short_hang_is_an_answer_all_the_same(caller: Caller) -> None:
    """A slow answer is whole."""
    struck(caller, Hang(seconds=0.3))
    began = time.perf_counter()
    assert caller.ask().json()["values"]
    assert time.perf_counter() - began >= 0.3


def test_a_cut_body_is_seen_by_the_client(caller: Caller) -> None:
    """The connection ends before the promised length."""
    struck(caller, CutBody())
    with pytest.raises(requests.exceptions.ChunkedEncodingError):
        caller.ask()


def test_html_and_broken_json_are_no_json(caller: Caller) -> None:
    """A gateway's page has status 502; half a body has status 200."""
    struck(caller, Html())
    page = caller.ask()
    assert (page.status_code, page.headers["Content-Type"]) == (502, "text/html")
    struck(caller, InvalidJson())
    broken = caller.ask()
    assert broken.status_code == 200
    with pytest.raises(requests.exceptions.JSONDecodeError):
        broken.json()


@pytest.mark.parametrize("code", ["Throttled", "Sampling type is not found"])
def test_an_error_code_hides_in_a_200(caller: Caller, code: str) -> None:
    """One metric fails with no series; its neighbour succeeds."""
    struck(caller, ErrorCode(code=code), metric=TTLT)
    metrics = f"{TTLT},AzureOpenAIProvisionedManagedUtilizationV2"
    bad, good = caller.ask(metrics).json()["values"][0]["value"]
    assert (bad["errorCode"], bad["timeseries"]) == (code, [])
    assert good["errorCode"] == "Success"
    assert good["timeseries"]


def test_points_are_dropped_the_same_each_time(caller: Caller) -> None:
    """About half of the times are missing from the answer, always the same ones."""
    struck(caller, DropPoints(share=0.5))
    one, two = (caller.series()[0]["data"] for _ in range(2))
    assert one == two
    assert 15 < len(one) < 45


def test_late_points_come_later_than_usual(caller: Caller) -> None:
    """Twenty minutes late means that a minute shows when it is 21 minutes old."""
    caller.server.clock.set((caller.world.start + 60) * 60)
    struck(caller, Late(minutes=20))
    data = caller.series()[0]["data"]
    assert not any("total" in point for point in data[39:])
    assert any("total" in point for point in data[35:39])


def test_points_are_told_twice(caller: Caller) -> None:
    """Every time stands there two times with one value."""
    struck(caller, Duplicate())
    data = caller.series()[0]["data"]
    assert data[0::2] == data[1::2]
    assert len(data) == 120


def test_names_change_their_case(caller: Caller) -> None:
    """The deployment is spelled otherwise than it was created."""
    struck(caller, WrongCase())
    names = {series["metadatavalues"][0]["value"] for series in caller.series()}
    assert names == {"CHAT-PTU", "SEARCH-PTU"}


def test_a_missing_value_is_shown_as_null(caller: Caller) -> None:
    """The key is there and its value is null."""
    struck(caller, Nulls())
    data = caller.series(TTLT, first=-1450, last=-1430)[0]["data"]
    assert data[0] == {"timeStamp": data[0]["timeStamp"], "average": None}
    assert data[-1]["average"] > 0


@pytest.mark.parametrize(
    ("match", "statuses"),
    [
        ({"calls": (2, 3)}, [200, 500, 500, 200]),
        ({"account": "small-south"}, [200] * 4),
        ({"account": "*small-north"}, [500] * 4),
        ({"region": "eastus*"}, [200] * 4),
        ({"metric": "GeneratedTokens"}, [200] * 4),
        ({"probability": 0.0}, [200] * 4),
    ],
)
def test_a_fault_strikes_what_it_matches(
    caller: Caller, match: dict[str, Any], statuses: list[int]
) -> None:
    """Number of the call, account, region, metric and chance are all respected."""
    struck(caller, Status(status=500), **match)
    assert [caller.ask().status_code for _ in range(4)] == statuses


def test_chance_is_the_same_for_a_seed(caller: Caller) -> None:
    """A storm can be replayed; about half of the calls are struck, not all alike."""
    storms = []
    for seed in (1, 1, 2):
        struck(caller, Status(status=500), probability=0.5, seed=seed)
        storms.append([caller.ask(last=1).status_code for _ in range(20)])
    assert storms[0] == storms[1] != storms[2]
    assert 3 < storms[0].count(500) < 17


def test_a_fault_lasts_as_long_as_it_says(caller: Caller) -> None:
    """It begins and ends by the emulator's clock."""
    start = caller.world.start
    struck(caller, Status(status=500), at=Moment(start + 10), length=Span(5))
    seen = []
    for minute in (9, 10, 14, 15):
        caller.server.clock.set((start + minute) * 60)
        seen.append(caller.ask().status_code)
    assert seen == [200, 500, 500, 200]


def test_a_world_brings_its_faults() -> None:
    """`faults:` of a world file are read with moments relative to its start."""
    text = (WORLDS / "small.yaml").read_text()
    more = (
        "faults:\n  - {at: +1h, for: 10m, region: eastus2, effect: {kind: status, status: 529}}\n"
    )
    world = World.read(text + more)
    (fault,) = world.faults
    assert fault.at == world.start + 60
    assert fault.effect == Status(status=529)
    assert fault.strikes(1, world.start + 65)
    assert not fault.strikes(1, world.start + 70)
