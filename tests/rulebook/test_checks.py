"""A rule as a whole: names, times, parameters, overrides, pages, and what makes no sense."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.engine import trouble
from shared.rulebook.problems import Mark, TextError
from shared.rulebook.rules import Hold
from shared.rulebook.words import FUNCTIONS, KEYWORDS, OWN_NAMES, check_name
from shared.teams import down
from tests.rulebook.files import (
    RULE,
    SIGNALS,
    folder,
    only,
    the_rule,
    with_keys,
    with_signal,
    write,
)


@pytest.mark.parametrize("word", sorted(KEYWORDS | FUNCTIONS | {"AND", "Sum"}))
def test_words_of_the_language_are_no_names(tmp_path: Path, word: str) -> None:
    """A signal or parameter called like a keyword or a function is refused, with another name."""
    line = f"{word}: {{metric: GeneratedTokens, aggregation: total, unit: tokens}}"
    signal = only(folder(tmp_path / "a", signals=with_signal(line), own=RULE))
    parameter = only(folder(tmp_path / "b", own=with_keys(f"parameters: {{{word}: 5s}}")))
    for problem, column in ((signal, 3), (parameter, 18)):
        assert f"{word} is a word of the language and cannot be a name" in problem.message
        assert problem.cure == f"Choose another name, e.g. my_{word.lower()}."
        assert (problem.mark.line, problem.mark.column) == (8, column)


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("success-rate", "success_rate"),
        ("success rate", "success_rate"),
        ("95_percentile", "my_95_percentile"),
        ("größe", "gr_e"),
        ("€", "ttlt"),
        ("", "ttlt"),
    ],
)
def test_names_are_words_that_expressions_can_mention(
    tmp_path: Path, name: str, example: str
) -> None:
    """A name of other signs is refused at its place, with one that would do."""
    line = f'"{name}": {{metric: GeneratedTokens, aggregation: total, unit: tokens}}'
    problem = only(folder(tmp_path / "a", signals=with_signal(line), own=RULE))
    assert f"{name!r} is no name" in problem.message
    assert problem.cure.endswith(f"begins with no digit, e.g. {example}.")
    assert only(folder(tmp_path / "b", own=with_keys(f'parameters: {{"{name}": 5s}}')))
    assert check_name(example) == example


@given(st.text(max_size=20))
def test_every_name_that_is_proposed_is_one(name: str) -> None:
    """No proposal has to be mended again."""
    try:
        check_name(name)
    except TextError as error:
        assert check_name(error.cure.split("e.g. ")[1].rstrip("."))


def test_the_watchdogs_own_names_are_known() -> None:
    """What the watchdog calls its own alerts and notices is what rules may not be called."""
    shared = Path(__file__).parents[2] / "shared"
    sources = "".join(path.read_text(encoding="utf-8") for path in shared.rglob("*.py"))
    made = re.findall(r'(?:"notice",\s+|_notice\(\s*)"([A-Z]\w+)"', sources)
    assert {*made, trouble.NAME, down.NAME} == set(OWN_NAMES)


@pytest.mark.parametrize("name", [*OWN_NAMES, "MonitorqueryFailing"])
def test_a_rule_is_not_called_like_a_notice(tmp_path: Path, name: str) -> None:
    """A rule with a name of the watchdog's own would be taken for it."""
    problem = only(folder(tmp_path, own=RULE.replace("Slow", name)))
    assert problem.mark == Mark("rules/own.yaml", 2, 11)
    assert problem.cure == f"Choose another name, e.g. My{name}."


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        ("for: 5", "Write 5m for minutes."),
        ("for: 90s", "Write 1m or 2m."),
        ("for: 5 minutes", "Write 5m."),
        ("for: 99d", "Write 24h."),
        ("for: 25h", "Write 24h."),
        ("for: 3/5", "Write for: 3 of 5."),
        ("for: 3 out of 5m", "Write for: 3 of 5."),
        ("for: 6 of 5", "Write for: 3 of 5."),
        ("for:", "Write it like 5m or 2h."),
        ("keep_firing_for: 99d", "Write 24h."),
        ("keep_firing_for: 10", "Write 10m for minutes."),
        ("over: 10m..5m", "Write over: 5m..10m."),
        ("over: 10m..", "Write over: 5m, or over: 10m..30m for a window that grows."),
        ("over: 5m..10m..15m", "Write over: 5m, or over: 10m..30m for a window that grows."),
        ("over: 5", "Write 5m for minutes."),
        ("over: 2h", "Write over: 60m at most, and 1m at least."),
    ],
)
def test_a_time_that_makes_no_sense_is_answered_with_one_that_does(
    tmp_path: Path, line: str, cure: str
) -> None:
    """Durations without unit, with seconds, in the wrong order or too long bring their cure."""
    problem = only(folder(tmp_path, own=with_keys(line)))
    assert (problem.mark.line, problem.cure) == (8, cure)


def test_a_day_is_the_longest_wait(tmp_path: Path) -> None:
    """24 hours may pass before an alert fires, and before it ends; no more."""
    rule = the_rule(folder(tmp_path, own=with_keys("for: 24h", "keep_firing_for: 1d")))
    assert (rule.hold, rule.keep_firing) == (Hold(minutes=1440), 1440)


@pytest.mark.parametrize(
    "page",
    [
        "/etc/passwd",
        "../x.md",
        "runbooks/../../x.md",
        "./x.md",
        "https://example.org/x.md",
        "file:x.md",
        "~/x.md",
        "runbooks\\x.md",
        "runbooks//x.md",
        '"a\\0b"',
        "x" * 300,
    ],
)
def test_a_page_lies_below_the_docs(tmp_path: Path, page: str) -> None:
    """A runbook is a path below docs/: no address, no absolute path, no way out."""
    (tmp_path / "docs").mkdir()
    text = with_keys(f"runbook: {page}", without="runbook")
    problem = only(folder(tmp_path, own=text))
    assert "is no page below docs/" in problem.message
    assert (problem.mark.line, problem.warning) == (7, False)
    assert problem.cure == "Write its path below docs/, e.g. runbooks/latency-high.md."


@pytest.mark.parametrize(
    "page", ["slow.md", "runbooks/slow answers.md", "runbooks/slow.md#what-to-do", "a/b/c_d-e.html"]
)
def test_a_page_may_lie_deeper_and_have_a_part(tmp_path: Path, page: str) -> None:
    """Folders, blanks and a part of a page are fine, as long as the page exists."""
    path = tmp_path / "docs" / page.partition("#")[0]
    path.parent.mkdir(parents=True)
    path.write_text("# Slow\n", encoding="utf-8")
    assert the_rule(folder(tmp_path, own=with_keys(f'runbook: "{page}"', without="runbook")))


def test_a_page_is_named_without_its_docs(tmp_path: Path) -> None:
    """Who writes the folder docs/ as well is told to leave it out."""
    (tmp_path / "docs").mkdir()
    text = with_keys("runbook: docs/slow.md", without="runbook")
    assert only(folder(tmp_path, own=text)).cure == "Leave docs/ out: slow.md."


def test_a_parameter_that_is_not_used_is_warned_of(tmp_path: Path) -> None:
    """Who tunes a parameter that no expression mentions is told that it does nothing."""
    text = with_keys("when: ttlt > limit", "parameters: {limit: 10s, factor: 2}", without="when")
    problem = only(folder(tmp_path, own=text))
    assert (problem.message, problem.warning) == ("Slow: parameter factor is not used", True)
    assert problem.mark == Mark("rules/own.yaml", 8, 38)


@pytest.mark.parametrize(
    "line", ["needs: requests > some", "until: ttlt < 0.5 * some", 'summary: "{some}"']
)
def test_a_parameter_may_be_used_anywhere(tmp_path: Path, line: str) -> None:
    """A parameter counts as used in every expression of the rule, the summary's as well."""
    unit = "8s" if "until" in line else "8"
    text = with_keys(line, f"parameters: {{some: {unit}}}", without=line.split(":")[0])
    assert the_rule(folder(tmp_path, own=text)).parameters


def test_empty_parameters_are_fine(tmp_path: Path) -> None:
    """A rule may say that it has no parameters and no overrides."""
    assert the_rule(folder(tmp_path, own=with_keys("parameters: {}", "overrides: []")))


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("{scope: {}, parameters: {limit: 2s}}", "an override without a scope covers everything"),
        ("{scope: {deployments: []}, parameters: {limit: 2s}}", "covers everything"),
        ("{scope: {deployments: [a]}, parameters: {}}", "without parameters changes nothing"),
    ],
)
def test_an_override_that_hides_the_rule_or_does_nothing_is_warned_of(
    tmp_path: Path, override: str, message: str
) -> None:
    """An override is of some deployments and sets something."""
    keys = ["when: ttlt > limit", "parameters: {limit: 10s}", "overrides:", f"  - {override}"]
    problem = only(folder(tmp_path, own=with_keys(*keys, without="when")))
    assert message in problem.message
    assert (problem.warning, problem.mark.line) == (True, 11 - 1)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("{parameters: {limit: 2s}}", "number 1 in overrides of rule Slow has no scope"),
        ("{scope: {deployments: [a]}}", "number 1 in overrides of rule Slow has no parameters"),
        (
            "{scope: {deployment: [a]}, parameters: {limit: 2s}}",
            "unknown key 'deployment' in scope",
        ),
        (
            "{scope: {deployments: [a]}, parameter: {limit: 2s}}",
            "unknown key 'parameter' in number",
        ),
        ("chat", "number 1 in overrides of rule Slow must be a mapping"),
        ("{scope: chat, parameters: {limit: 2s}}", "scope of number 1 in overrides of rule Slow"),
    ],
)
def test_an_override_is_checked_like_the_rest(tmp_path: Path, override: str, message: str) -> None:
    """Keys that are unknown or missing in an override are named at their place."""
    keys = ["when: ttlt > limit", "parameters: {limit: 10s}", "overrides:", f"  - {override}"]
    book = folder(tmp_path, own=with_keys(*keys, without="when"))
    assert any(message in problem.message for problem in book.errors)
    assert {problem.mark.line for problem in book.errors} == {10}
    assert all(problem.cure for problem in book.errors)


def test_a_parameter_of_nought_is_no_divisor(tmp_path: Path) -> None:
    """Neither the rule nor an override may set to 0 what is divided by."""
    book = folder(
        tmp_path,
        own=with_keys(
            "when: ttlt / limit > 2",
            "parameters: {limit: 0s}",
            "overrides:",
            "  - {scope: {deployments: [a]}, parameters: {limit: 0ms}}",
            "  - {scope: {deployments: [b]}, parameters: {limit: 1ms}}",
            without="when",
        ),
    )
    assert [problem.mark.line for problem in book.errors] == [8, 10]
    assert {p.message for p in book.errors} == {"Slow: the rule divides by limit, which is 0 here"}


def test_a_condition_is_about_a_signal(tmp_path: Path) -> None:
    """A condition of numbers alone would fire everywhere or nowhere."""
    problem = only(folder(tmp_path, own=with_keys("when: 2 > 1", without="when")))
    assert "mentions no signal" in problem.message


def test_a_wrong_parameter_is_told_once(tmp_path: Path) -> None:
    """A condition with a parameter that is no number is not called unknown on top."""
    keys = ["when: ttlt > limit", "until: ttlt < limit", "parameters: {limit: 10 s}"]
    problem = only(folder(tmp_path, own=with_keys(*keys, 'mode: "observe"', without="when")))
    assert problem.mark == Mark("rules/own.yaml", 9, 25)
    assert problem.cure == "Write 10s."


@pytest.mark.parametrize("line", ["parameter: {limit: 10s}", "parameters: limit=10s"])
def test_parameters_that_are_misspelt_are_told_once(tmp_path: Path, line: str) -> None:
    """Parameters under a wrong key or in a wrong form are not called unknown on top."""
    keys = ["when: ttlt > limit", "until: ttlt < limit", line]
    assert only(folder(tmp_path, own=with_keys(*keys, without="when"))).mark.line == 9


@pytest.mark.parametrize("key", ["when", "severity", "owner", "summary", "runbook"])
def test_a_misspelt_key_is_not_called_missing_as_well(tmp_path: Path, key: str) -> None:
    """A key that is nearly right is taken for the one that is meant."""
    text = RULE.replace(f"{key}:", f"{key}s:")
    assert only(folder(tmp_path, own=text)).cure == f"Did you mean {key}?"


@pytest.mark.parametrize(
    ("summary", "column", "message"),
    [
        ("Answers take {}", 28, "nothing stands between the braces"),
        ("Answers take {ttlt", 27, "'{' stands alone"),
        ("Answers take ttlt}", 31, "'}' stands alone"),
        ("Answers take {{ttlt}}", 27, "'{' stands alone"),
        ("Answers take {ttlt {x}}", 27, "'{' stands alone"),
    ],
)
def test_braces_hold_an_expression(tmp_path: Path, summary: str, column: int, message: str) -> None:
    """Braces that hold nothing or do not match are refused where they stand."""
    text = with_keys(f'summary: "{summary}"', without="summary")
    problems = folder(tmp_path, own=text).errors
    assert problems[0].message.startswith(f"summary of Slow: {message}")
    assert problems[0].mark == Mark("rules/own.yaml", 7, column + 1)
    assert problems[0].cure == "Write {ttlt} for a value. A brace itself cannot be shown."


@pytest.mark.parametrize(
    ("line", "message", "cure"),
    [
        (
            "severity: warn",
            "'warn' is not one of critical, warning or info",
            "Did you mean warning?",
        ),
        ("severity: page", "'page' is not one of", "Write critical, warning or info."),
        ("severity: WARNING", "'WARNING' is not one of", "Did you mean warning?"),
        ("mode: notfy", "'notfy' is not notify or observe", "Did you mean notify?"),
        ("mode:", "'' is not notify or observe", "Write notify or observe."),
        ("mode: [notify]", "['notify'] is not notify or observe", "Write notify or observe."),
    ],
)
def test_a_word_that_is_not_allowed_is_answered_with_those_that_are(
    tmp_path: Path, line: str, message: str, cure: str
) -> None:
    """Severity and mode list what they may be, and the nearest."""
    problem = only(folder(tmp_path, own=with_keys(line, without=line.split(":")[0])))
    assert message in problem.message
    assert problem.cure == cure


def test_a_key_that_is_like_no_other_is_answered_with_all(tmp_path: Path) -> None:
    """Who guesses a key sees those that there are."""
    problem = only(folder(tmp_path, own=with_keys("xyz: 5")))
    assert problem.cure.startswith("Known keys: for, keep_firing_for, ")


def test_errors_in_folded_text_have_their_line(tmp_path: Path) -> None:
    """A word of a condition over several lines is named with its own line and column."""
    text = with_keys("when: >-", "  ttlt > 10s", "  and tlt > 5s", without="when")
    assert only(folder(tmp_path, own=text)).mark == Mark("rules/own.yaml", 9, 11)


def test_a_traffic_signal_that_is_missing_is_told_once(tmp_path: Path) -> None:
    """Rules that mention `requests` are not told as well that it is unknown."""
    signals = SIGNALS.replace("  requests: {", "  calls: {").replace("ok / requests", "ok / calls")
    problem = only(folder(tmp_path, signals=signals, own=with_keys("needs: requests > 5")))
    assert problem.mark == Mark("rules/signals.yaml", 1, 1)
    assert problem.message.startswith("no signal requests")
    assert "requests: {metric: AzureOpenAIRequests" in problem.cure


def test_signals_in_another_file_are_where_traffic_is_missed(tmp_path: Path) -> None:
    """The place is where signals are, whatever their file is called."""
    signals = (
        "# so\nsignals:\n  ttlt: {metric: AzureOpenAITTLTInMS, aggregation: average, unit: ms}\n"
    )
    problem = only(write(tmp_path, {"a.yaml": RULE, "words.yaml": signals}))
    assert problem.mark == Mark("rules/words.yaml", 2, 1)


def test_a_traffic_signal_that_is_wrong_is_not_called_missing(tmp_path: Path) -> None:
    """Only the mistake in `requests` is told."""
    signals = SIGNALS.replace(
        "requests: {metric: AzureOpenAIRequests", "requests: {metric: Requests"
    )
    book = folder(tmp_path, signals=signals, own=with_keys("needs: requests > 5"))
    assert "unknown metric Requests" in only(book).message
    assert not book.rules


def test_traffic_is_a_total(tmp_path: Path) -> None:
    """An average cannot tell whether there are requests."""
    signals = SIGNALS.replace(
        "requests: {metric: AzureOpenAIRequests, aggregation: total, unit: requests}",
        "requests: {metric: ActiveTokens, aggregation: average, unit: tokens}",
        1,
    ).replace("ok / requests", "ok / ok")
    assert (
        "signal requests: it must be a total"
        in only(folder(tmp_path, signals=signals, own=RULE)).message
    )
