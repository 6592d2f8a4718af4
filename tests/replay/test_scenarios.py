"""Scenarios judged by the live engine: what passes, what fails, and that it is the same engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from replay.live import judge_past
from replay.scenario import START, Scenario
from replay.scenariofile import files_of, read_scenarios
from replay.scenariorun import about, past_of, run
from shared.engine.case import Standing
from tests.replay.written import ROOT, one, outcome, rule, rulebook, shipped

SCENARIOS = read_scenarios(files_of(ROOT / "rules" / "tests"), shipped())


def name(scenario: Scenario) -> str:
    return f"{scenario.rules[0]}: {scenario.name}"


def test_the_shipped_scenarios_can_be_read() -> None:
    """No file of the shipped scenarios has an error."""
    assert [str(problem) for problem in SCENARIOS.problems] == []
    assert len(SCENARIOS.found) > 3 * len(shipped().rules)


@pytest.mark.parametrize("scenario", SCENARIOS.found, ids=name)
def test_the_shipped_rules_do_what_their_scenarios_say(scenario: Scenario) -> None:
    """Each scenario passes, and judged in one piece it tells the same events, to the byte."""
    found = run(scenario, shipped())
    assert [miss.message for miss in found.misses] == []
    book = about(scenario, shipped())
    whole = judge_past(
        book,
        scenario.account,
        past_of(scenario, book),
        START,
        START + scenario.length - 1,
        scenario.changes,
        Standing(fits={(fit.deployment.key, fit.key): fit for fit in scenario.fits}),
    )
    told = [
        (rule, minute, event.name, event.detail)
        for rule, minutes in found.minutes.items()
        for minute, seen in enumerate(minutes)
        for event in seen.events
    ]
    again = [(e.rule, e.slot - START, e.kind, e.reason) for e in whole.events]
    assert sorted(told) == sorted(again)


SLOW = """
  - name: it is slow for a while
    rule: Slow
    series: {{requests: 20, ttlt: "4s x5, 30s x5, 4s x10"}}
    expect: {{{}}}
"""
"""Breached from 5m on, fired at 7m, clear from 10m on, resolved at 13m."""


@pytest.mark.parametrize(
    "expect",
    [
        "7m: fired, 13m: resolved",
        "6m..8m: fired, 13m..end: 'resolved, recovered'",
        "7m: 'fired, firing, breach', 13m: 'resolved, recovered, inactive, clear'",
        "7m: [fired, firing], 13m: resolved, never: [unknown, between]",
        "0m..4m: clear, 5m..6m: pending, 7m..12m: firing, 7m..19m: fired, 10m..end: resolved",
        "Slow: {7m: fired, 13m: resolved}",
        "0m..10m: fired, 0m..15m: resolved",
    ],
)
def test_expectations_that_are_met(tmp_path: Path, expect: str) -> None:
    """Events within a time, states and verdicts throughout it, several words at once."""
    found = outcome(tmp_path, SLOW.format(expect), rulebook(tmp_path, rule()))
    assert [miss.message for miss in found.misses] == []


@pytest.mark.parametrize(
    ("expect", "messages"),
    [
        ("7m: fired", ["13m told resolved, recovered, which is not expected"]),
        (
            "8m..10m: fired, 13m: resolved",
            ["7m told fired, which is not expected", "8m..10m did not tell fired"],
        ),
        (
            "7m: fired, 13m: 'resolved, no traffic'",
            [
                "13m told resolved, recovered, which is not expected",
                "13m did not tell resolved, no traffic",
            ],
        ),
        (
            "7m: fired, 13m: resolved, 12m..15m: resolved",
            ["12m..15m did not tell resolved"],
        ),
        (
            "7m: fired, 13m: resolved, 3m..6m: pending",
            ["3m..4m was inactive, expected pending"],
        ),
        (
            "7m: fired, 13m: resolved, always: clear",
            ["5m..9m was breach, expected clear"],
        ),
        (
            "7m: fired, 13m: resolved, never: pending",
            ["5m..6m was pending, expected never pending"],
        ),
        (
            "7m: fired, 13m: resolved, 8m: 'unknown, idle'",
            ["8m was breach, expected unknown, idle"],
        ),
        (
            "never: fired",
            [
                "7m told fired, which is not expected",
                "13m told resolved, recovered, which is not expected",
            ],
        ),
    ],
)
def test_expectations_that_are_not_met(tmp_path: Path, expect: str, messages: list[str]) -> None:
    """Each miss says when, what it was and what was expected; no event passes unexpected."""
    found = outcome(tmp_path, SLOW.format(expect), rulebook(tmp_path, rule()))
    assert [miss.message for miss in found.misses] == messages


def test_a_minute_is_the_minute_whose_data_is_judged(tmp_path: Path) -> None:
    """Minute 0 is the first of the series, and a rule without delay fires in it."""
    text = """
      - name: slow from the start
        rule: Slow
        series: {requests: 20, ttlt: 30s x3}
        expect: {0m: "fired, breach"}
    """
    assert outcome(tmp_path, text, rulebook(tmp_path, rule(hold="0"))).passed


def test_why_a_verdict_is_unknown_can_be_expected(tmp_path: Path) -> None:
    """Learning, no data, idle, and a rule that is not about the deployment are told apart."""
    book = rulebook(
        tmp_path,
        rule("Normal", "ttlt > 2 * baseline(ttlt)"),
        rule("Slow"),
        rule("Elsewhere", more="    scope: {deployments: [other]}\n"),
    )
    text = """
      - name: a new deployment
        rule: [Normal, Slow, Elsewhere]
        history: none
        series: {requests: "20 x5, 0 x5", ttlt: "4s x3, _ x7"}
        expect:
          Normal: {0m..2m: "unknown, learning", 5m..end: "unknown, idle"}
          Slow: {0m..2m: clear, 3m..4m: "unknown, no data", 5m..end: "unknown, idle"}
          Elsewhere: {always: not judged, never: fired}
    """
    found = outcome(tmp_path, text, book)
    assert [miss.message for miss in found.misses] == []


def test_history_is_what_the_engine_fits(tmp_path: Path) -> None:
    """A level and a line come of the history that is written, whatever the scenario shows."""
    level = rule("Level", "ttlt > 1.5 * baseline(ttlt)", hold="0")
    line = rule("Line", "ttlt > 1.5 * baseline(ttlt given tokens_per_answer)", hold="0")
    book = rulebook(tmp_path, level, line)
    text = """
      - name: between the limits
        rule: [Level, Line]
        history:
          tokens_per_answer: 100 x70, 300 x70
          ttlt: 3s x70, 7s x70
        series:
          requests: 20
          tokens_per_answer: 300
          ttlt: 6s x5, 9s x5, 12s x5
        expect:
          Level: {0m..4m: clear, 5m: fired}
          Line: {0m..9m: clear, 10m: fired}
    """
    # The level is the median, some 5 s; the line 1 s and 20 ms a token, so 7 s at 300.
    found = outcome(tmp_path, text, book)
    assert [miss.message for miss in found.misses] == []


def test_without_history_of_its_own_a_series_was_as_it_begins(tmp_path: Path) -> None:
    """Fits are ready in the first minute, from 14 days of each series' first value."""
    text = """
      - name: twice as slow
        rule: Normal
        series: {requests: 20, ttlt: "4s x5, 9s x5"}
        expect: {0m..4m: clear, 5m: fired}
    """
    book = rulebook(tmp_path, rule("Normal", "ttlt > 2 * baseline(ttlt)", hold="0"))
    assert outcome(tmp_path, text, book).passed


def test_baselines_that_are_stated_hold_throughout(tmp_path: Path) -> None:
    """A stated level or line is compared with to the end, over all the times of a refit."""
    level = rule("Level", "ttlt > 1.5 * baseline(ttlt)", hold="0", keep="0")
    line = rule("Line", "ttlt > 1.5 * baseline(ttlt given tokens_per_answer)", hold="0", keep="0")
    text = """
      - name: a long day
        rule: [Level, Line]
        baseline:
          ttlt: 10s
          ttlt given tokens_per_answer: {intercept: 1s, slope: 20ms}
        series:
          requests: 20
          tokens_per_answer: 100
          ttlt: 4s x700, 5s x40, 16s
        lasts: 760m
        expect:
          Level: {0m..739m: clear, 740m: fired}
          Line: {0m..699m: clear, 700m: fired}
    """
    found = outcome(tmp_path, text, rulebook(tmp_path, level, line))
    assert [miss.message for miss in found.misses] == []


def test_changes_and_what_was_before_them(tmp_path: Path) -> None:
    """The time before a change is read from the series, or stated as a baseline."""
    dropped = rule("Dropped", "ttlt > 2 * before_change(ttlt, prompt_template)", hold="0")
    text = """
      - name: read from the series
        rule: Dropped
        changes: [{{kind: prompt_template, at: 60m, reference: pull request 1}}]
        baseline: {}
        series: {{requests: 20, ttlt: "4s x60, 9s x20"}}
        expect: {{0m..59m: "unknown, not applicable", {}}}
    """
    book = rulebook(tmp_path, dropped)
    assert outcome(tmp_path, text.format("{}", "60m: fired"), book).passed
    stated = "{ttlt before prompt_template: 5s}"
    assert outcome(tmp_path, text.format(stated, "60m..end: clear"), book).passed


def test_silences_mute_for_their_time_only(tmp_path: Path) -> None:
    """What fires while silenced is told when the silence ends, if it still fires."""
    text = """
      - name: a load test
        rule: Slow
        silences: [{rules: [Slo*], from: 3m, until: 12m, reason: load test, owner: me}]
        series: {requests: 20, ttlt: 4s x5, 30s x20}
        expect: {7m..11m: firing, 12m: fired}
    """.replace("ttlt: 4s x5, 30s x20", 'ttlt: "4s x5, 30s x20"')
    found = outcome(tmp_path, text, rulebook(tmp_path, rule()))
    assert [miss.message for miss in found.misses] == []
    assert found.minutes["Slow"][8].muted == "silenced by me: load test"


def test_overrides_are_chosen_by_the_names(tmp_path: Path) -> None:
    """Deployment, account and region decide on parameters as they do live."""
    tuned = rule(
        "Tuned",
        "ttlt > limit",
        hold="0",
        more="""    parameters: {limit: 10s}
    overrides:
      - scope: {deployments: [Report-*], accounts: [big], regions: [eastus]}
        parameters: {limit: 1m}
""",
    )
    text = """
      - name: a long report
        rule: Tuned
        deployment: {}
        account: Big
        region: eastus
        series: {{requests: 20, ttlt: 30s x5}}
        expect: {{0m: {}}}
    """
    book = rulebook(tmp_path, tuned)
    assert outcome(tmp_path, text.format("report-daily", "clear"), book).passed
    assert outcome(tmp_path, text.format("chat", "fired"), book).passed


WORSE = {"Worse": (), "Slow": ("Worse",), "Other": ()}


def test_a_rule_that_mutes_is_judged_beside_the_one_it_is_about(tmp_path: Path) -> None:
    """`unless` works in a scenario about the muted rule alone; other rules do not run."""
    book = rulebook(
        tmp_path,
        rule("Worse", "ttlt > 20s", hold="0", keep="0"),
        rule("Slow", hold="0"),
        rule("Other", "requests > 1", hold="0"),
    )
    book = replace(book, rules=tuple(replace(one, unless=WORSE[one.name]) for one in book.rules))
    text = """
      - name: first the worse rule speaks
        rule: Slow
        series: {requests: 20, ttlt: "30s x5, 15s x5"}
        expect: {0m..end: firing, 5m: fired}
    """
    scenario = one(tmp_path, text, book)
    assert [rule.name for rule in about(scenario, book).rules] == ["Worse", "Slow"]
    assert run(scenario, book).passed


def test_reminders_are_events_like_others(tmp_path: Path) -> None:
    """A rule that reminds fails a scenario that does not expect it."""
    book = rulebook(tmp_path, rule(hold="0"))
    book = replace(book, rules=tuple(replace(one, remind_every=30) for one in book.rules))
    text = """
      - name: slow for more than an hour
        rule: Slow
        series: {{requests: 20, ttlt: 30s x70}}
        expect: {{0m: fired, {}}}
    """
    found = outcome(tmp_path, text.format("30m: reminded"), book)
    assert [miss.message for miss in found.misses] == ["60m told reminded, which is not expected"]
    assert outcome(tmp_path, text.format("30m: reminded, 60m: reminded"), book).passed
