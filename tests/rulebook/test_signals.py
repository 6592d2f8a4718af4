"""Signals: units that formulas give, parts of metrics, and what a mistake takes along."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shared.rulebook.rules import Rulebook
from tests.rulebook.files import RULE, SIGNALS, folder, only, with_keys, with_signal

EACH = "  each: {formula: tokens / ok, unit: tokens/request}\n"
STATUS = "x: {metric: AzureOpenAIRequests, unit: requests"


def unit_of(book: Rulebook, name: str) -> str:
    assert not book.errors, [str(problem) for problem in book.errors]
    return str(book.signals[name].unit)


@pytest.mark.parametrize(
    "formula",
    [
        "ttlt / each",
        "each / ttlt",
        "ttlt * tokens",
        "ttlt * requests",
        "ttlt * ttlt",
        "1 / ttlt",
        "requests / 60s",
        "rate / each",
        "rate * rate",
        "ttlt * rate",
        "1 / rate",
        "tokens * ok / requests",
        "ok / requests",
        "1 / each / ttlt",
    ],
)
def test_the_unit_that_a_formula_gives_can_be_declared(tmp_path: Path, formula: str) -> None:
    """Whatever is said to declare is accepted when it is declared."""
    start = f"{SIGNALS}{EACH}  x: {{formula: {formula}, unit: "
    cure = only(folder(tmp_path / "wrong", signals=f"{start}page}}", own=RULE)).cure
    units = re.findall(r'unit: ("[^"]+"|[^ ,"]+?)(?:[,.]|$)', cure)
    assert units
    for n, unit in enumerate(units):
        book = folder(tmp_path / f"right{n}", signals=f"{start}{unit}}}", own=RULE)
        assert unit_of(book, "x") == unit.strip('"')


@pytest.mark.parametrize("unit", ["ms/token", "s/token", "ms*requests/token"])
def test_a_time_per_token_is_declared_as_people_say_it(tmp_path: Path, unit: str) -> None:
    """TTLT over tokens per answer is a time per token, and compares with times."""
    book = folder(
        tmp_path,
        signals=f"{SIGNALS}{EACH}  slowness: {{formula: ttlt / each, unit: {unit}}}\n",
        own=with_keys(
            "when: slowness > limit or slowness > 50ms", "parameters: {limit: 60ms}", without="when"
        ),
    )
    assert not book.problems
    assert unit_of(book, "slowness") == unit


def test_the_law_of_the_field_can_be_written(tmp_path: Path) -> None:
    """TTLT = TTFT + TBT x tokens: a time between tokens is one of a token."""
    signals = (
        f"{SIGNALS}{EACH}"
        "  ttft: {metric: AzureOpenAITimeToResponse, aggregation: average, unit: ms}\n"
        "  tbt: {metric: AzureOpenAINormalizedTBTInMS, aggregation: average, unit: ms/token}\n"
        "  expected: {formula: ttft + tbt * each, unit: ms}\n"
    )
    rule = with_keys("when: ttlt > 1.3 * expected and tbt > 100ms", without="when")
    assert not folder(tmp_path, signals=signals, own=rule).problems


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        ("x: {metric: GeneratedTokens, aggregation: total, unit: requests}", "Write unit: tokens."),
        ("x: {metric: GeneratedTokens, aggregation: total, unit: 1}", "Write unit: tokens."),
        ("x: {metric: GeneratedImages, aggregation: total, unit: tokens}", "Write unit: images."),
        ("x: {metric: RealtimeUsageTime, aggregation: total, unit: ms}",
         "Write unit: events, or another count."),
        ("x: {metric: AzureOpenAIAvailabilityRate, aggregation: average, unit: 1}",
         'Write unit: "%".'),
        ("x: {metric: AzureOpenAITTLTInMS, aggregation: average, unit: s/token}",
         "Write unit: ms."),
    ],
)  # fmt: skip
def test_a_metric_is_declared_in_what_it_counts(tmp_path: Path, line: str, cure: str) -> None:
    """Tokens are not declared as requests: whoever divides them would get nonsense."""
    problem = only(folder(tmp_path, signals=with_signal(line), own=RULE))
    assert "is not measured in" in problem.message
    assert problem.cure == cure


def test_a_count_without_a_word_of_its_own_may_have_any(tmp_path: Path) -> None:
    """A metric whose name does not tell what it counts takes any count, or none."""
    for unit in ("events", "calls", "1"):
        line = f"x: {{metric: RealtimeUsageTime, aggregation: total, unit: {unit}}}"
        assert unit_of(folder(tmp_path / unit, signals=with_signal(line), own=RULE), "x") == unit


@pytest.mark.parametrize("part", ["6xx", "2xy", "xx", "20x", '""', "0", "999", "2*", "200x", "²00"])
def test_a_status_that_cannot_be_is_refused(tmp_path: Path, part: str) -> None:
    """A part by status is a code or one of the five classes."""
    line = f"{STATUS}, aggregation: total, where: {{StatusCode: {part}}}}}"
    problem = only(folder(tmp_path, signals=with_signal(line), own=RULE))
    assert "is no status code and no class of them" in problem.message
    assert problem.cure == "Write a code such as 429, or a class: 1xx, 2xx, 3xx, 4xx or 5xx."
    assert problem.mark.line == 8


@pytest.mark.parametrize("part", ["200", "429", "2xx", "5XX"])
def test_codes_and_classes_are_accepted(tmp_path: Path, part: str) -> None:
    """A class stands for all of its codes."""
    line = f"{STATUS}, aggregation: total, where: {{StatusCode: {part}}}}}"
    assert not folder(tmp_path, signals=with_signal(line), own=RULE).problems


@pytest.mark.parametrize("aggregation", ["average", "minimum", "maximum"])
def test_a_class_is_of_totals_only(tmp_path: Path, aggregation: str) -> None:
    """The averages of several codes cannot be put together without knowing their weights."""
    line = f"x: {{metric: AzureOpenAITimeToResponse, aggregation: {aggregation}, unit: ms, "
    wrong = f"{line}where: {{StatusCode: 2xx}}}}"
    problem = only(folder(tmp_path / "a", signals=with_signal(wrong), own=RULE))
    assert "2xx is several series" in problem.message
    assert problem.cure == "Write one code, e.g. 200: only totals take a class."
    right = f"{line}where: {{StatusCode: 200}}}}"
    assert not folder(tmp_path / "b", signals=with_signal(right), own=RULE).problems


@pytest.mark.parametrize(
    ("part", "message", "cure"),
    [
        ("{Region: 'eu*'}", "'eu*' is no value of Region", "Write one value"),
        ("{StreamType: ''}", "'' is no value of StreamType", "Write one value"),
        ("{Statuscode: 2xx}", "has no dimension Statuscode", "Did you mean StatusCode? It has: "),
        ("{ModelDeploymentName: chat}", "a signal is of one deployment anyway",
         'Write scope: {deployments: ["chat"]} in the rule.'),
        ("{StatusCode: [429, 503]}", "of signal x: must be plain text", "Write one value."),
        ("2xx", "where of signal x: must be a mapping", "Write {key: value}."),
    ],
)  # fmt: skip
def test_a_part_of_a_metric_is_checked(tmp_path: Path, part: str, message: str, cure: str) -> None:
    """A part is one value of a dimension that the metric has."""
    line = f"{STATUS}, aggregation: total, where: {part}}}"
    problem = only(folder(tmp_path, signals=with_signal(line), own=RULE))
    assert message in problem.message
    assert problem.cure.startswith(cure)


@pytest.mark.parametrize(
    "mistake",
    [
        "ok: {metric: AzureOpenAIRequests, aggregation: mean, unit: requests}",
        "ok: {metric: AzureOpenAIRequest, aggregation: total, unit: requests}",
        "ok: {metric: AzureOpenAIRequests, aggregation: total, unit: bananas}",
        "ok: {metric: AzureOpenAIRequests, aggregation: total}",
        "ok: requests",
    ],
)
def test_what_is_made_of_a_wrong_signal_is_not_told_as_well(tmp_path: Path, mistake: str) -> None:
    """One mistake is one error: formulas, weights and rules over it go without one of their own."""
    right = next(line for line in SIGNALS.splitlines() if line.startswith("  ok:"))
    rule = with_keys("when: rate < 95% or each > 5 or ok < 3", without="when")
    book = folder(tmp_path, signals=SIGNALS.replace(right, f"  {mistake}") + EACH, own=rule)
    assert only(book).mark.line == 3
    assert set(book.signals) == {"requests", "tokens", "hits"}
    assert not book.rules


@pytest.mark.parametrize(
    ("formula", "column"), [("ok / request", 21), ("(ok", 19), ("ok / 0", 16), ("ok + 5ms", 16)]
)
def test_an_error_in_a_formula_has_its_own_column(
    tmp_path: Path, formula: str, column: int
) -> None:
    """What is wrong with a formula is named where it stands."""
    signals = with_signal(f"x: {{formula: {formula}, unit: requests}}")
    problem = only(folder(tmp_path, signals=signals, own=RULE))
    assert (problem.mark.line, problem.mark.column) == (8, column)


def test_a_formula_is_of_signals(tmp_path: Path) -> None:
    """A formula of numbers alone would have a value where there is no data."""
    problem = only(folder(tmp_path, signals=with_signal("x: {formula: 2 * 3, unit: 1}"), own=RULE))
    assert "a formula is of signals" in problem.message
