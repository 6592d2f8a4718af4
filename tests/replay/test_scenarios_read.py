"""Files of scenarios are read with all errors at once, each with its place and its cure."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from replay.scenariofile import read_scenarios
from tests.replay.written import read, shipped

GOOD = """
  - name: good
    rule: LatencyHigh
    series:
      requests: 20
      ttlt: 4s x60, 9s x30
    expect: {never: fired}
"""


def found(tmp_path: Path, text: str) -> list[str]:
    """Each problem as `line:column message | cure`, without the title of the scenario."""
    problems = read(tmp_path, text, shipped()).problems
    return [
        f"{p.mark.line}:{p.mark.column} {p.message.removeprefix(TITLE)} | {p.cure}"
        for p in problems
    ]


TITLE = "scenario 'good': "


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("name: good", "nam: good", "2:5 unknown key 'nam' in scenario number 1"),
        ("rule: LatencyHigh", "rule: LatencyHihg", "3:11 unknown rule LatencyHihg | Did you mean"),
        ("rule: LatencyHigh", "rule: [LatencyHigh, Latent]", "3:25 unknown rule Latent"),
        ("    rule: LatencyHigh\n", "", "2:5 it does not say which rule it is about | Add rule:"),
        ("requests: 20", "request: 20", "5:7 unknown signal request | Did you mean requests?"),
        ("requests: 20", "9s x3: ''", "5:7 '9s x3' is a value where a signal should stand | In {}"),
        ("requests: 20", "requests: [1]", "5:17 requests is no series | Write it like `5`"),
        ("requests: 20", "requests: 20 y", "5:20 this cannot be read here | Write it like"),
        ("requests: 20", "requests: 20s", "5:17 20s is not measured in requests | Write it like 5"),
        ("requests: 20", "Latency:total: 1", "5:7 Latency does not offer total | It has: average"),
        ("requests: 20", "Latenci:total: 1", "5:7 unknown metric Latenci | Did you mean Latency?"),
        ("requests: 20", '"Latency:average[X=1]": 1s', "5:8 Latency has no part 'X=1' | Write it"),
        ("requests: 20", "requests: 20 x50", "5:17 requests ends after 50 of 90 minutes | Without"),
        ("requests: 20", "requests: 20 x90, 1", "5:17 requests goes on after the end at 90m"),
        ("x60, 9s x30", "", "2:5 no series has an end | Say how long it lasts, e.g. lasts: 60m."),
        ("{never: fired}", "{never: fird}", "7:14 nothing is called 'fird' | Did you mean fired?"),
        ("{never: fired}", "{12: fired}", "7:14 '12' is no duration like 5m or 2h | A time is"),
        ("{never: fired}", "{soon: fired}", "7:14 'soon' is no duration like 5m"),
        (
            "{never: fired}",
            "{90m: fired}",
            "7:14 90m lies after the end of the scenario | Its last",
        ),
        ("{never: fired}", "{5m..1m: clear}", "7:14 5m..1m ends before it begins | Write 1m..5m."),
        ("{never: fired}", "{1m: ''}", "7:14 nothing is expected here | Write e.g. fired"),
        ("{never: fired}", "{1m: idle}", "7:14 idle is why, not what | Write unknown, idle."),
        ("{never: fired}", "{1m: recovered}", "7:14 recovered is how it ends, not what | Write"),
        ("{never: fired}", "{always: fired}", "7:14 fired happens in one minute, not always"),
        ("{never: fired}", "{1m..2m: 'fired, clear'}", "7:14 fired, clear: an event comes once"),
        ("{never: fired}", "{1m: fired, never: fired}", "7:13 fired is expected at 1m, and never"),
        ("{never: fired}", "{X: {1m: fired}}", "7:17 it is not about X | Add it to rule:"),
        ("{never: fired}", "[fired]", "7:13 expect is no mapping | Write e.g. expect: {12m"),
        ("{never: fired}", "{}", "7:13 it expects nothing | Write e.g. expect: {12m: fired}"),
        ("expect", "history: soon\n    expect", "7:14 history is no mapping | Write e.g. history"),
        ("expect", "lasts: 95m\n    expect", "6:13 ttlt ends after 90 of 95 minutes | Without"),
        ("expect", "lasts: 90s\n    expect", "7:12 '90s' is not a whole number of minutes | Write"),
        ("expect", "lasts: 15d\n    expect", "7:12 15d lies after the end at 20160m | "),
        ("expect", "baseline: {ttlt: 4s}\n    expect", "7:16 no rule of this scenario compares"),
        ("expect", "changes: [{at: 3m}]\n    expect", "7:15 unknown kind of change '' | Known"),
        (
            "expect",
            "changes: [{kind: sku}]\n    expect",
            "7:15 a time is missing here | Write e.g.",
        ),
        ("expect", "changes: {}\n    expect: {1m: x}\n    a", "9:5 unknown key 'a' in scenario"),
        ("expect", "changes: 3m\n    expect", "7:14 changes is no list | Write e.g. changes"),
        ("expect", "silences: [{form: 3m}]\n    expect", "7:17 unknown key 'form' in silences of"),
        ("expect", "silences: [{rules: [Lat]}]\n    expect", "7:25 'Lat' fits no rule | "),
        ("expect", "silences: [{from: 8m, until: 5m}]\n    expect", "7:16 the silence ends before"),
    ],
)
def test_an_error_has_its_place_and_its_cure(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    """One wrong thing gives an error at its line and column that says what to write."""
    assert GOOD.count(old) == 1
    problems = found(tmp_path, GOOD.replace(old, new))
    assert any(one.startswith(problem) for one in problems), problems


@pytest.mark.parametrize(
    ("baseline", "problem"),
    [
        ("{tttlt: 4s}", "no rule of this scenario compares with 'tttlt' | Known baselines: ttlt"),
        ("{ttlt given tokens_per_answer: 4s}", "has no slope | Write it like ttlt given"),
        ("{ttlt given tokens_per_answer: {slope: 4%}}", "4% is not measured in ms | Write it in"),
        ("{ttlt given tokens_per_answer: {slope: 4, spread: x}}", "'x' is no number like"),
        ("{ttlt given tokens_per_answer: {slope: 4, seen: 5}}", "'5' is no range | Write it like"),
        ("{ttlt given tokens_per_answer: {slop: 4}}", "unknown key 'slop' in baseline of"),
    ],
)
def test_a_baseline_that_cannot_be_is_refused(tmp_path: Path, baseline: str, problem: str) -> None:
    """Baselines are those that the rule asks for, in the signal's unit."""
    text = GOOD.replace("LatencyHigh", "TTLTRisingWithoutTokens")
    text = text.replace("    expect", f"    baseline: {baseline}\n    expect")
    assert any(problem in one for one in found(tmp_path, text))


def test_a_value_before_a_change_needs_the_change(tmp_path: Path) -> None:
    """A stated value before a change without a change of that kind is refused, and so is a line."""
    text = GOOD.replace("LatencyHigh", "CacheMatchRateDroppedAfterTemplateChange")
    stated = "    baseline: {cache_match_rate before prompt_template: %s}\n    expect"
    (missing,) = found(tmp_path, text.replace("    expect", stated % "60%"))
    assert "there is no change of that kind | Add changes: [{kind: prompt_template" in missing
    changed = "    changes: [{kind: prompt_template, at: 30m}]\n" + stated % "{slope: 3}"
    (line,) = found(tmp_path, text.replace("    expect", changed))
    assert "is a level, not a line" in line


def test_all_errors_are_named_at_once(tmp_path: Path) -> None:
    """Errors of several scenarios, keys and values come together, in the order of the file."""
    text = """
      - name: good
        rule: Nothing
        series: {requests: 20 x5x, ttlt: 4}
        expect: {1x: fired, 2m: never}
        more: 1
      - just text
      - rule: LatencyHigh
        series: {}
    """
    assert [one.split(" | ")[0] for one in found(tmp_path, text)] == [
        "3:11 unknown rule Nothing",
        "4:29 this cannot be read here",
        "4:38 4 is not measured in ms",
        "5:14 '1x' is no duration like 5m or 2h",
        "5:25 nothing is called 'never'",
        "6:5 unknown key 'more' in scenario 'good'",
        "7:5 scenario number 2 is no mapping",
        "8:5 scenario number 3: it expects nothing",
        "8:5 scenario number 3: it has no name",
        "9:13 scenario number 3: it has no series",
    ]


def test_a_broken_scenario_costs_itself_only(tmp_path: Path) -> None:
    """The others of the file are read."""
    both = GOOD + GOOD.replace("good", "other").replace("20", "twenty")
    scenarios = read(tmp_path, both, shipped())
    assert [one.name for one in scenarios.found] == ["good"]
    assert len(scenarios.problems) == 1


def test_two_scenarios_of_one_name_are_refused(tmp_path: Path) -> None:
    """Names are what -k and a test report go by."""
    (problem,) = found(tmp_path, GOOD + GOOD)
    assert problem.startswith("9:11 two scenarios are called 'good' | The first stands in line 2.")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"scenarios:\n  - name: [", "not YAML"),
        (b"scenarios:\n  - {a: 1, a: 2}\n", "the key 'a' stands here twice"),
        (b"\xff\xfe", "it is not UTF-8 text"),
        (b"- name: x\n", "the file has no list of scenarios"),
        (b"", "the file has no list of scenarios"),
        (b"scenarios: soon\n", "the file has no list of scenarios"),
        (b"scenario: []\n", "unknown key 'scenario'"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, content: bytes, message: str) -> None:
    """Whatever a file holds, it is a problem with the name of the file and no exception."""
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    scenarios = read_scenarios([path], shipped())
    assert not scenarios.found
    assert message in scenarios.problems[0].message + "".join(map(str, scenarios.problems))
    assert scenarios.problems[0].mark.file == str(path)


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    """A missing file is a problem, too."""
    (problem,) = read_scenarios([tmp_path / "none.yaml"], shipped()).problems
    assert problem.message == "the file cannot be read: No such file or directory"


def test_a_quoted_series_has_its_errors_at_its_column(tmp_path: Path) -> None:
    """The quote is counted, so that an editor jumps to the wrong character."""
    text = textwrap.dedent(GOOD).replace("4s x60, 9s x30", '"4s x60, nine"')
    (problem,) = found(tmp_path, text)
    assert problem.startswith("6:22 this is no value")
