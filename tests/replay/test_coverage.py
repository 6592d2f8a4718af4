"""Rules without a scenario are named; what is deployed holds neither scenarios nor this."""

from __future__ import annotations

from pathlib import Path

from replay.coverage import uncovered
from shared.rulebook.load import load
from tests.replay.written import ROOT, rule, rulebook, shipped

SCENARIO = """
  - name: {name}
    rule: {rule}
    lasts: 9m
    series: {{requests: 20, ttlt: 30s}}
    expect: {{{expect}}}
"""


def missing(tmp_path: Path, *scenarios: tuple[str, str, str]) -> list[str]:
    """The warnings for the rules Slow and Other, with scenarios as (name, rule, expect)."""
    book = rulebook(tmp_path, rule(), rule("Other"))
    (tmp_path / "tests").mkdir()
    written = (SCENARIO.format(name=n, rule=r, expect=e) for n, r, e in scenarios)
    (tmp_path / "tests" / "own.yaml").write_text("scenarios:" + "".join(written), "utf-8")
    found = uncovered(book, tmp_path)
    assert all(problem.warning and problem.cure for problem in found)
    return [problem.message for problem in found]


NOTHING = "Other: no scenario in which it fires, stays quiet or is unknown"


def test_every_shipped_rule_is_proved() -> None:
    """Each shipped rule has a scenario in which it fires, one in which not, one of unknown."""
    assert uncovered(shipped(), ROOT / "rules") == ()


def test_a_rule_without_scenarios_is_named(tmp_path: Path) -> None:
    """Without a folder of scenarios every rule is named, at its place in its file."""
    first, second = uncovered(rulebook(tmp_path / "rules", rule(), rule("Other")), tmp_path)
    assert [first.message.split(":")[0], second.message] == ["Slow", NOTHING]
    assert first.mark.file == "rules/own.yaml"
    assert first.mark.line < second.mark.line


def test_what_is_missing_of_a_rule_is_named(tmp_path: Path) -> None:
    """A firing, a quiet and an unknown scenario are counted apart."""
    assert missing(tmp_path, ("a", "Slow", "2m: fired"), ("b", "Slow", "never: fired")) == [
        "Slow: no scenario in which it is unknown",
        NOTHING,
    ]


def test_one_scenario_may_show_two_things_but_quiet_is_its_own(tmp_path: Path) -> None:
    """Fired and unknown count together; a scenario that expects neither is quiet."""
    both = ("a", "Slow", "2m: fired, 5m: unknown")
    assert missing(tmp_path, both, ("b", "Other", "'never': 'fired, unknown'")) == [
        "Slow: no scenario in which it stays quiet",
        "Other: no scenario in which it fires or is unknown",
    ]


def test_a_scenario_counts_for_each_of_its_rules(tmp_path: Path) -> None:
    """A scenario about two rules shows each of them in its own way."""
    expect = "Slow: {2m: fired}, Other: {0m: unknown}"
    assert missing(tmp_path, ("a", "[Slow, Other]", expect)) == [
        "Slow: no scenario in which it stays quiet or is unknown",
        "Other: no scenario in which it fires or stays quiet",
    ]


def test_nothing_is_missing_while_something_cannot_be_read(tmp_path: Path) -> None:
    """A broken file of scenarios is named once instead; broken rules are the check's own matter."""
    assert missing(tmp_path, ("a", "Slo", "2m: fired"), ("b", "Slow", "")) == [
        "scenarios cannot be read"
    ]
    (tmp_path / "bad.yaml").write_text("rules: [{}]\n", encoding="utf-8")
    assert uncovered(load(tmp_path), tmp_path) == ()


def test_scenarios_are_not_deployed() -> None:
    """The package of the Functions app leaves out the scenarios and what runs them."""
    ignored = (ROOT / ".funcignore").read_text(encoding="utf-8").splitlines()
    assert {"replay/", "rules/tests/", "cli/", "tests/"} <= set(ignored)
