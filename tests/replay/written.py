"""Scenarios as an author writes them, over the shipped rules or over rules of the test's own."""

from __future__ import annotations

import textwrap
from functools import cache
from pathlib import Path

from replay.scenario import Scenario
from replay.scenariofile import Scenarios, read_scenarios
from replay.scenariorun import Outcome, run
from shared.rulebook.load import load
from shared.rulebook.rules import Rulebook

ROOT = Path(__file__).parents[2]
RULES = """
signals:
  requests:            {metric: AzureOpenAIRequests, aggregation: total, unit: requests}
  successful_requests:
    {metric: AzureOpenAIRequests, aggregation: total, where: {StatusCode: 2xx}, unit: requests}
  throttled_requests:
    {metric: AzureOpenAIRequests, aggregation: total, where: {StatusCode: "429"}, unit: requests}
  success_rate:        {formula: successful_requests / requests, unit: "%"}
  ttlt:
    {metric: AzureOpenAITTLTInMS, aggregation: average, weight: successful_requests, unit: ms}
  output_tokens:       {metric: GeneratedTokens, aggregation: total, unit: tokens}
  tokens_per_answer:   {formula: output_tokens / successful_requests, unit: tokens/request}
  doubled:             {formula: ttlt * 2, unit: ms}
rules:
"""
RULE = """
  - name: {name}
    when: {when}
    over: 1m
    for: {hold}
    keep_firing_for: {keep}
    severity: warning
    owner: team
    summary: Something is wrong
    runbook: none.md
"""


@cache
def shipped() -> Rulebook:
    return load(ROOT / "rules")


def rulebook(folder: Path, *rules: str) -> Rulebook:
    """The rules of a folder that they are written to first."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own.yaml").write_text(RULES + "".join(rules), encoding="utf-8")
    book = load(folder)
    assert not book.errors, book.errors
    return book


def rule(
    name: str = "Slow", when: str = "ttlt > 10s", hold: str = "2m", keep: str = "3m", more: str = ""
) -> str:
    return RULE.format(name=name, when=when, hold=hold, keep=keep) + more


def read(tmp_path: Path, text: str, book: Rulebook) -> Scenarios:
    """What a file of scenarios says; `text` is what stands below `scenarios:`."""
    path = tmp_path / "tests" / "own.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    listed = textwrap.indent(textwrap.dedent(text).strip("\n"), "  ")
    path.write_text(f"scenarios:\n{listed}\n", encoding="utf-8")
    return read_scenarios([path], book)


def one(tmp_path: Path, text: str, book: Rulebook) -> Scenario:
    """The one scenario of a text, which must be right."""
    found = read(tmp_path, text, book)
    assert not found.problems, [str(problem) for problem in found.problems]
    (scenario,) = found.found
    return scenario


def outcome(tmp_path: Path, text: str, book: Rulebook) -> Outcome:
    return run(one(tmp_path, text, book), book)
