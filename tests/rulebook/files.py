"""Folders of rule files, made by hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from shared.rulebook.load import load
from shared.rulebook.problems import Problem
from shared.rulebook.rules import Rule, Rulebook

SIGNALS = """\
signals:
  requests: {metric: AzureOpenAIRequests, aggregation: total, unit: requests}
  ok: {metric: AzureOpenAIRequests, aggregation: total, where: {StatusCode: 2xx}, unit: requests}
  ttlt: {metric: AzureOpenAITTLTInMS, aggregation: average, weight: ok, unit: ms}
  rate: {formula: ok / requests, unit: "%", good: high}
  tokens: {metric: GeneratedTokens, aggregation: total, unit: tokens}
  hits: {metric: AzureOpenAIContextTokensCacheMatchRate, aggregation: average, unit: "%"}
"""
RULE = """\
rules:
  - name: Slow
    when: ttlt > 10s
    severity: warning
    owner: team
    summary: "Answers take {ttlt}"
    runbook: runbooks/slow.md
"""


def folder(at: Path, **files: str) -> Rulebook:
    """The rulebook of the files, with the signals above unless others are given."""
    return write(at, {f"{name}.yaml": text for name, text in {"signals": SIGNALS, **files}.items()})


def write(at: Path, files: Mapping[str, str]) -> Rulebook:
    """The rulebook of files by their path below the folder."""
    for name, text in files.items():
        path = at / "rules" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return load(at / "rules")


def only(book: Rulebook) -> Problem:
    """The one problem that the rulebook has."""
    assert len(book.problems) == 1, [str(problem) for problem in book.problems]
    return book.problems[0]


def with_keys(*lines: str, without: str = "") -> str:
    """The rule above with more lines, and without the one that begins with a key."""
    kept = [
        line for line in RULE.splitlines() if not without or not line.strip().startswith(without)
    ]
    return "\n".join([*kept, *(f"    {line}" for line in lines)]) + "\n"


def with_signal(line: str) -> str:
    return f"{SIGNALS}  {line}\n"


def the_rule(book: Rulebook) -> Rule:
    assert not book.problems, [str(problem) for problem in book.problems]
    (rule,) = book.rules
    return rule
