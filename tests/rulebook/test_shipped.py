"""The rules that are delivered: what the design promises, and the schema that editors use."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import jsonschema
import msgspec
import pytest

from shared.rulebook.ast import text_of
from shared.rulebook.load import OTHER_FILES, load
from shared.rulebook.rules import Rule, Rulebook
from shared.rulebook.schema import json_schema
from shared.rulebook.yamlfile import Tree, read_yaml
from tests.rulebook.files import RULE, write

ROOT = Path(__file__).parents[2]
FILES = sorted(p for p in (ROOT / "rules").glob("*.yaml") if p.name not in OTHER_FILES)
EXPECTED = "baseline(ttlt given tokens_per_answer)"
BEFORE = "before_change(cache_match_rate, prompt_template)"

TABLE = {
    "TTLTRisingWithoutTokens": (
        "warning", "requests >= 4", "10m..40m", "3 of 5",
        f"ttlt > 1.3 * {EXPECTED} and deviation(ttlt given tokens_per_answer) > 3.5",
        f"ttlt < 1.15 * {EXPECTED}",
    ),
    "ProvisionedCapacityUsedUp": (
        "warning", "", "1m..1m", "3 of 5", "utilization >= 100%", "utilization < 90%",
    ),
    "ProvisionedThrottling": (
        "critical", "", "1m..1m", "0m",
        "utilization >= 100% and throttled_requests >= 1", "utilization < 90%",
    ),
    "SuccessRateLow": (
        "warning", "requests >= 20", "10m..30m", "5m", "success_rate < 95%", "success_rate >= 97%",
    ),
    "SuccessRateCollapsed": (
        "critical", "requests >= 10", "3m..10m", "1m", "success_rate < 50%", "success_rate >= 97%",
    ),
    "LatencyHigh": (
        "warning", "requests >= 5", "10m..30m", "10m", "ttlt > limit", "ttlt < 0.8 * limit",
    ),
    "CacheMatchRateDroppedAfterTemplateChange": (
        "warning", "requests >= 20", "10m..30m", "3 of 5",
        f"{BEFORE} >= 15% and cache_match_rate < 0.7 * {BEFORE}"
        f" and {BEFORE} - cache_match_rate > 10%",
        f"cache_match_rate >= 0.85 * {BEFORE}",
    ),
}  # fmt: skip
"""Severity, needs, over, for, when, until: section 4 of the design, with what the scores decided
(docs/detection.md)."""


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return load(ROOT / "rules")


def row(rule: Rule) -> tuple[str, str, str, str, str, str]:
    hold = rule.hold
    return (
        rule.severity,
        text_of(rule.needs) if rule.needs else "",
        f"{rule.shortest}m..{rule.longest}m",
        f"{hold.breaches} of {hold.among}" if hold.among else f"{hold.minutes}m",
        text_of(rule.when),
        text_of(rule.until) if rule.until else "",
    )


def test_the_delivered_rules_have_no_problems(book: Rulebook) -> None:
    """What is delivered loads without an error, a warning or a missing runbook."""
    assert [str(problem) for problem in book.problems] == []


def test_the_delivered_rules_are_those_of_the_design(book: Rulebook) -> None:
    """Each rule stands as the design has it: how bad, when, for how long, until when."""
    assert {rule.name: row(rule) for rule in book.rules} == TABLE
    assert all(rule.mode == "notify" and rule.keep_firing == 10 for rule in book.rules)


def test_high_latency_is_ten_seconds_and_not_of_work_that_takes_long(book: Rulebook) -> None:
    """LatencyHigh has its limit as a parameter and leaves out batch and reasoning work."""
    rule = next(rule for rule in book.rules if rule.name == "LatencyHigh")
    assert rule.parameters == {"limit": 10_000}
    assert "!*batch*" in rule.scope.deployments


def test_a_rule_asks_only_for_metrics_it_needs(book: Rulebook) -> None:
    """All delivered rules together ask for eight components of seven metrics, no more."""
    assert sorted(str(component) for component in book.needed) == [
        "AzureOpenAIContextTokensCacheMatchRate:average",
        "AzureOpenAIProvisionedManagedUtilizationV2:average",
        "AzureOpenAIRequests:total",
        "AzureOpenAIRequests:total[StatusCode=2xx]",
        "AzureOpenAIRequests:total[StatusCode=429]",
        "AzureOpenAITTLTInMS:average",
        "GeneratedTokens:total",
        "ProcessedPromptTokens:total",
    ]


def tree_of(text: str) -> Tree:
    return read_yaml("f.yaml", text).tree


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_editors_accept_the_delivered_rules(path: Path) -> None:
    """The schema for editors has nothing against what is delivered."""
    jsonschema.validate(tree_of(path.read_text(encoding="utf-8")), json_schema())


@pytest.mark.parametrize(
    "text",
    [
        "rule: []",
        "rules: [{name: low}]",
        "rules: [{name: Short, when: x, severity: bad, owner: a, summary: b, runbook: c}]",
        "rules: [{name: Short, when: x, severity: info, owner: '', summary: b, runbook: c}]",
        "rules: [{name: s, when: x, severity: info, owner: a, summary: b, runbook: c}]",
        "rules: [{name: Short, when: x, severity: info, owner: a, summary: b, runbook: c, fr: 5m}]",
        "rules: [{name: Short, when: x, severity: info, owner: a, summary: b, runbook: /c}]",
        "rules: [{name: Short, when: x, severity: info, owner: a, summary: b, runbook: d/../c}]",
        "signals: {a-b: {unit: ms}}",
        "signals: {x: {metric: y}}",
        "signals: {x: {unit: ms, aggregation: mean}}",
    ],
)
def test_editors_refuse_what_the_check_refuses(text: str) -> None:
    """The schema names unknown keys, missing ones and wrong words."""
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tree_of(text), json_schema())


def test_the_schema_for_editors_is_that_of_the_code() -> None:
    """rules/schema.json is what `tokenwatch check --schema` prints."""
    jsonschema.Draft202012Validator.check_schema(json_schema())
    made = msgspec.json.format(msgspec.json.encode(json_schema(), order="deterministic"))
    assert (ROOT / "rules" / "schema.json").read_bytes() == made + b"\n"


def examples(section: str) -> list[str]:
    """The examples of docs/rules.md that begin with a section, as they would stand in a file."""
    text = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", text, re.MULTILINE)
    dedented = (textwrap.dedent(block).lstrip("\n") for block in blocks)
    return [block for block in dedented if block.startswith(f"{section}:")]


@pytest.mark.parametrize("text", examples("rules"), ids=lambda text: text.split()[3])
def test_the_documented_rules_are_right(tmp_path: Path, text: str) -> None:
    """Who copies an example of the documentation has a rule without problems."""
    signals = (ROOT / "rules" / "signals.yaml").read_text(encoding="utf-8")
    assert not write(tmp_path, {"signals.yaml": signals, "own.yaml": text}).problems


def test_the_documented_signals_and_silences_are_right(tmp_path: Path) -> None:
    """The example of signals carries a rule, and that of silences mutes it."""
    (signals,), (silences,) = examples("signals"), examples("silences")
    rule = RULE.replace("Slow", "LatencyHigh")
    files = {"signals.yaml": signals, "own.yaml": rule, "silences.yaml": silences}
    book = write(tmp_path, files)
    assert not book.problems
    assert len(book.silences) == 2
