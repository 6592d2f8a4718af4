"""Bodies of getBatch into arrays: the recorded ones, and broken ones."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from shared.model import slot_of
from shared.monitor.body import BodyError, answers

DATA = Path(__file__).parents[1] / "emulator" / "data"
RECORDED = json.loads((DATA / "getbatch-recorded.json").read_text(encoding="utf-8"))
START = slot_of(datetime.fromisoformat("2024-01-23T01:40:00+00:00"))


def body(*points: dict[str, object], **metric: object) -> bytes:
    series = [{"metadatavalues": [], "data": list(points)}]
    one = {"name": {"value": "M"}, "timeseries": series, "errorCode": "Success", **metric}
    return json.dumps({"values": [{"resourceid": "/SUB/A", "value": [one]}]}).encode()


def test_a23_the_recorded_body_is_read() -> None:
    """What Azure really sent, zeros included: id in lower case, every point in its place."""
    text = json.dumps(RECORDED["response"]["body"]).encode()
    (answer,) = answers(text, "count", START, 5, 12)
    assert answer.resource.endswith("/resourcegroups/fake-resource")
    assert answer.metric == "requests/count"
    assert answer.error == ""
    ((dimensions, values),) = answer.series
    assert dimensions == {}
    assert values.tolist() == [0.0] * 12


def test_two_dimensions_and_missing_points() -> None:
    """The documented example: dimension names in lower case, a step without point is missing."""
    text = (DATA / "getbatch-two-dimensions-missing-points.json").read_bytes()
    start = slot_of(datetime.fromisoformat("2023-02-01T20:00:00+00:00"))
    found = list(answers(text, "average", start, 15, 12))
    assert {tuple(d) for answer in found for d, _ in answer.series} == {
        ("apiname", "authentication")
    }
    assert any(not np.isnan(values).all() for answer in found for _, values in answer.series)


def test_a09_the_points_own_time_counts() -> None:
    """Points out of order, in another offset or outside the range go where their time says."""
    text = body(
        {"timeStamp": "2024-01-23T01:42:00Z", "total": 3},
        {"timeStamp": "2024-01-23T02:40:00+01:00", "total": 1},
        {"timeStamp": "2024-01-23T01:41:30.5Z", "total": 2},
        {"timeStamp": "2024-01-23T09:00:00Z", "total": 9},
    )
    (answer,) = answers(text, "total", START, 1, 4)
    assert answer.series[0][1].tolist()[:3] == [1.0, 2.0, 3.0]
    assert np.isnan(answer.series[0][1][3])


def test_a10_null_and_absent_values_stay_missing() -> None:
    """A null is no zero; neither is a point that carries only its time."""
    text = body(
        {"timeStamp": "2024-01-23T01:40:00Z", "total": None},
        {"timeStamp": "2024-01-23T01:41:00Z"},
        {"timeStamp": "2024-01-23T01:42:00Z", "total": 0},
    )
    (answer,) = answers(text, "total", START, 1, 3)
    assert np.isnan(answer.series[0][1][:2]).all()
    assert answer.series[0][1][2] == 0


def test_a06_an_error_code_inside_a_200_is_an_error() -> None:
    """The code and its message are kept with the metric."""
    (answer,) = answers(
        body(errorCode="Throttled", errorMessage="too many", timeseries=[]), "total", START, 1, 1
    )
    assert answer.error == "Throttled: too many"


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"<html>502</html>",
        b'{"values": [',
        b'{"values": 3}',
        b'{"error": {}}',
        body({"timeStamp": "yesterday", "total": 1}),
        body({"timeStamp": "2024-01-23T01:40:00", "total": 1}),
        body({"timeStamp": "2024-01-23T01:40:00Z", "total": "1"}),
        b"\xff\xfe",
    ],
)
def test_a_body_that_is_nothing_of_the_kind_is_refused(text: bytes) -> None:
    """Cut, HTML, other JSON, bad times: one error, with what was wrong."""
    with pytest.raises(BodyError):
        list(answers(text, "total", START, 1, 3))
