"""Signals as an author writes them become the series that Azure Monitor would have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from replay.scenario import HISTORY, START
from tests.replay.written import one, read, rulebook, shipped

NAN = float("nan")
Series = dict[str, list[float]]

SCENARIO = """
  - name: some series
    rule: SuccessRateLow
    lasts: 3m
    history: {}
    series: {{{}}}
    expect: {{0m: clear}}
"""


def behind(tmp_path: Path, series: str, history: str = "none") -> Series:
    """By metric and what it is split by: the values of three minutes, and those of the last hour
    before if there is a history."""
    scenario = one(tmp_path, SCENARIO.format(history, series), shipped())
    return {
        f"{s.metric}:{s.aggregation}"
        + "".join(f"[{name}={value}]" for name, value in s.dimensions): s.values.tolist()
        for s in scenario.series
    }


REQUESTS = "AzureOpenAIRequests:total"
OK, TURNED, FAILED = (f"{REQUESTS}[StatusCode={code}]" for code in (200, 429, 500))
TTLT, TOKENS, USED = (
    "AzureOpenAITTLTInMS:average",
    "GeneratedTokens:total",
    "AzureOpenAIProvisionedManagedUtilizationV2:average",
)


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        ("requests: 20", {OK: [20] * 3}),
        ("successful_requests: 20", {OK: [20] * 3}),
        ("requests: 20, successful_requests: 18", {OK: [18] * 3, FAILED: [2] * 3}),
        ("requests: 20, successful_requests: 20", {OK: [20] * 3}),
        ("requests: 20, throttled_requests: 5", {OK: [15] * 3, TURNED: [5] * 3}),
        (
            "requests: 20, successful_requests: 12, throttled_requests: 5",
            {OK: [12] * 3, TURNED: [5] * 3, FAILED: [3] * 3},
        ),
        ("requests: 20, success_rate: 90%", {OK: [18] * 3, FAILED: [2] * 3}),
        ('requests: 20, success_rate: "100%, 0%"', {OK: [20, 0, 0], FAILED: [0, 20, 20]}),
        ("successful_requests: 18, success_rate: 90%", {OK: [18] * 3, FAILED: [2] * 3}),
        ("requests: 20, tokens_per_answer: 180", {OK: [20] * 3, TOKENS: [3600] * 3}),
        (
            "tokens_per_answer: 180, success_rate: 50%, requests: 20",
            {OK: [10] * 3, FAILED: [10] * 3, TOKENS: [1800] * 3},
        ),
        ("output_tokens: 3600, tokens_per_answer: 180", {OK: [20] * 3, TOKENS: [3600] * 3}),
        (
            "requests: 20, throttled_requests: 5, tokens_per_answer: 100",
            {OK: [15] * 3, TURNED: [5] * 3, TOKENS: [1500] * 3},
        ),
        ('requests: "20, _, 0"', {OK: [20, NAN, 0]}),
        (
            'requests: "20, _, 0", success_rate: 90%, tokens_per_answer: 10',
            {OK: [18, NAN, 0], FAILED: [2, NAN, 0], TOKENS: [180, NAN, 0]},
        ),
        (
            'requests: 20, successful_requests: "20, _"',
            {OK: [20, NAN, NAN], FAILED: [0, 20, 20]},
        ),
        ("ttlt: 4s, utilization: 95%", {TTLT: [4000] * 3, USED: [95] * 3}),
        (f'"{TTLT}": 4s, "{OK}": 7', {TTLT: [4000] * 3, OK: [7] * 3}),
        (f'"{FAILED}": 3, requests: 20', {OK: [17] * 3, FAILED: [3] * 3}),
        (f'"{FAILED}": 3, successful_requests: 20', {OK: [20] * 3, FAILED: [3] * 3}),
        ('"AzureOpenAITTLTInMS:maximum": 9s', {"AzureOpenAITTLTInMS:maximum": [9000] * 3}),
        (
            '"GeneratedTokens:total[ModelVersion=1]": 5, output_tokens: 8',
            {
                "GeneratedTokens:total[ModelVersion=1]": [5] * 3,
                "GeneratedTokens:total[ModelVersion=other]": [3] * 3,
            },
        ),
    ],
)
def test_series_are_those_of_azure_monitor(tmp_path: Path, series: str, expected: Series) -> None:
    """Wholes are split by status, formulas are solved for the part that is not given."""
    found = behind(tmp_path, series)
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        np.testing.assert_allclose(found[key], values, err_msg=key)


@pytest.mark.parametrize(
    ("series", "message"),
    [
        ("success_rate: 90%", "success_rate says nothing without its parts"),
        ("requests: 20, success_rate: 90%, successful_requests: 3", "follows from other series"),
        ("requests: 5, successful_requests: 9", "requests is less than its parts in minute 0"),
        ("requests: 20, success_rate: 120%", "requests is less than its parts in minute 0"),
        (f'requests: 5, "{REQUESTS}": 5', "counts what requests counts"),
        (f'successful_requests: 5, "{OK}": 5', "counts what successful_requests counts"),
        (f'successful_requests: 5, "{REQUESTS}[StatusCode=201]": 5', "counts what"),
        (f'ttlt: 5s, "{TTLT}": 5s', "counts what ttlt counts"),
    ],
)
def test_series_that_contradict_each_other_are_refused(
    tmp_path: Path, series: str, message: str
) -> None:
    """What cannot be true at once, or says nothing, is an error with its place and a cure."""
    (problem,) = read(tmp_path, SCENARIO.format("none", series), shipped()).problems
    assert message in problem.message
    assert problem.cure
    assert problem.mark.line == 6


def test_a_formula_of_no_two_metrics_is_refused(tmp_path: Path) -> None:
    """Other formulas than quotients cannot be solved, and the cure is to give the parts."""
    text = SCENARIO.format("none", "doubled: 8s").replace("SuccessRateLow", "Slow")
    book = rulebook(tmp_path, "\n  - {name: Slow, when: ttlt > 1s, severity: info, owner: o,"
                    " summary: s, runbook: r}\n")  # fmt: skip
    (problem,) = read(tmp_path, text, book).problems
    assert problem.message.endswith("the formula of doubled is no quotient of two metrics")
    assert problem.cure == "Give the signals that it is made of."


def test_history_comes_before_and_ends_with_the_scenario(tmp_path: Path) -> None:
    """14 days of what is said, and of the first value of what is not; each series in one piece."""
    found = behind(
        tmp_path,
        'requests: 20, success_rate: "50%, 100%", ttlt: 4s',
        '{ttlt: "1s x3, 2s x4", output_tokens: 7}',
    )
    scenario = one(tmp_path, SCENARIO.format("{}", "requests: 20"), shipped())
    assert scenario.begin == START - HISTORY
    assert found.keys() == {OK, FAILED, TTLT, TOKENS}
    assert all(len(values) == HISTORY + 3 for values in found.values())
    assert found[TTLT][-12:] == [2000, 2000, 1000, 1000, 1000, *[2000] * 4, *[4000] * 3]
    assert found[OK][-4:] == [10, 10, 20, 20]
    assert found[TOKENS][-4] == 7
    assert np.isnan(found[TOKENS][-1])


def test_a_history_of_parts_does_not_fail_without_a_word(tmp_path: Path) -> None:
    """Requests of the past of which nobody says how they ended succeeded, whatever comes later."""
    found = behind(tmp_path, "requests: 20, throttled_requests: 20", "{throttled_requests: 0}")
    assert found.keys() == {OK, TURNED}
    np.testing.assert_array_equal(found[OK][-4:], [20, NAN, NAN, NAN])
    assert found[TURNED][-4:] == [0, 20, 20, 20]
