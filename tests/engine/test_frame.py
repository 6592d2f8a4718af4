"""Frames: zero and missing stay different, parts of a whole are seen, names have one spelling."""

from __future__ import annotations

import numpy as np

from shared.engine.frame import deployments_in, frame_of, matches
from shared.model import Account, Component, Deployment, Failure, Reading
from tests.engine.build import (
    ACCOUNT,
    CHAT,
    COMPONENTS,
    GOOD,
    NAN,
    REQUESTS,
    START,
    THROTTLED,
    TTLT,
    frame,
    minutes,
    named,
    series,
)


def values(made: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[float | None]:
    """One column as a list, None where there is no point."""
    return [None if np.isnan(value) else float(value) for value in made]


def test_a10_zero_and_missing_stay_different() -> None:
    """A minute with 0 is a minute with 0, and one without a point has none."""
    made = frame([series(TTLT.metric, [0, NAN, 5], 3, "average")], 3)
    assert values(made.values[TTLT][:, 0]) == [0.0, None, 5.0]


def test_the_whole_is_the_sum_of_its_parts() -> None:
    """Requests are the sum over their status codes, where any has a point."""
    made = frame(minutes(3, ok=[5, NAN, NAN], throttled=[1, 2, NAN]), 3)
    assert values(made.values[REQUESTS][:, 0]) == [6.0, 2.0, None]


def test_an_absent_part_is_zero_where_there_are_requests() -> None:
    """One query answers the whole and the part, so no 429 among requests means none."""
    made = frame(minutes(3, ok=[5, 0, NAN]), 3)
    assert values(made.values[THROTTLED][:, 0]) == [0.0, None, None]


def test_a_total_outage_is_seen() -> None:
    """When every request fails there are no 2xx, which is 0 successes and not no data."""
    made = frame(minutes(2, failed=[7, 9]), 2)
    assert values(made.values[GOOD][:, 0]) == [0.0, 0.0]
    assert values(made.values[REQUESTS][:, 0]) == [7.0, 9.0]


def test_a_class_of_status_codes_takes_all_of_it() -> None:
    """2xx is every code from 200 to 299 and nothing else."""
    found = [
        series(REQUESTS.metric, 1, 1, StatusCode=code)
        for code in ("200", "201", "299", "2000", "20", "302", "429", "2xx", "")
    ]
    assert values(frame(found, 1).values[GOOD][:, 0]) == [3.0]


def test_a_part_is_matched_without_case() -> None:
    """Dimension names and values are matched whatever their case; a missing one matches nothing."""
    assert matches((("StatusCode", "429"),), (("statuscode", "429"),))
    assert matches((("StreamType", "Streaming"),), (("StreamType", "STREAMING"),))
    assert not matches((("StatusCode", "429"),), (("StreamType", "429"),))
    assert matches((), (("StatusCode", "429"),))


def test_names_in_changing_case_are_one_deployment() -> None:
    """However Azure spells a deployment today, its points go to the one that is known."""
    found = [
        series(REQUESTS.metric, [1, NAN], 2, of=named("Chat"), StatusCode="200"),
        series(REQUESTS.metric.upper(), [NAN, 2], 2, of=named("CHAT"), StatusCode="200"),
    ]
    made = frame(found, 2)
    assert made.deployments == (CHAT,)
    assert values(made.values[REQUESTS][:, 0]) == [1.0, 2.0]


def test_the_first_spelling_that_is_met_is_kept() -> None:
    """A new deployment is known as it was first spelled, and only once."""
    found = [series(TTLT.metric, 1, 1, "average", of=named(name)) for name in ("New", "NEW", "new")]
    reading = Reading(START, 1, 1, tuple(found))
    assert deployments_in(reading, [named("b"), CHAT]) == (named("New"), named("b"), CHAT)


def test_known_deployments_stay_without_points() -> None:
    """A deployment that is silent has a column without points."""
    made = frame([], 2, known=(CHAT, named("other")))
    assert len(made.deployments) == 2
    assert np.isnan(made.values[REQUESTS]).all()
    assert list(made.seen()) == [2, 2]


def test_the_same_name_in_two_accounts_is_two_deployments() -> None:
    """A deployment is its account and its name."""
    other = Account(ACCOUNT.id + "2", "eastus")
    found = [*minutes(1, ok=1), *minutes(1, ok=5, of=Deployment(other.id, "chat"))]
    assert list(frame(found, 1).values[REQUESTS][0]) == [1.0, 5.0]


def test_an_average_is_taken_only_of_the_split_it_was_asked_with() -> None:
    """Averages of parts do not add up, so only the undivided series counts."""
    found = [
        series(TTLT.metric, 100, 1, "average"),
        series(TTLT.metric, 900, 1, "average", StreamType="Streaming"),
        series(TTLT.metric, 7, 1, "maximum"),
    ]
    part = Component(TTLT.metric, "average", (("StreamType", "Streaming"),))
    made = frame(found, 1, components=(TTLT, part))
    assert made.values[TTLT][0, 0] == 100
    assert made.values[part][0, 0] == 900


def test_a_failed_query_is_noted_for_its_account_only() -> None:
    """What could not be read of one account does not touch another."""
    other = Account(ACCOUNT.id + "2", "eastus")
    there = Deployment(other.id, "chat")
    reading = Reading(START, 1, 1, (), {(other.id, TTLT): Failure("Throttled", True)})
    made = frame_of(reading, (CHAT, there), COMPONENTS)
    assert list(made.failed[TTLT]) == [False, True]
    assert not made.failed[REQUESTS].any()


def test_steps_are_found_by_slot_and_first_sight() -> None:
    """A slot lies in the step that covers it, and a deployment is seen at its first point."""
    made = frame(minutes(4, ok=[NAN, NAN, 3, NAN]), 4, step=15)
    assert [made.row(START + minute) for minute in (0, 14, 15, 59)] == [0, 0, 1, 3]
    assert list(made.seen()) == [2]
