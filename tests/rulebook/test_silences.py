"""rules/silences.yaml, `unless` and `remind_every`: what may be written, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.rulebook.load import load
from shared.rulebook.problems import Problem
from shared.rulebook.rules import Rulebook
from shared.rulebook.silences import Hours, expired
from tests.engine.build import ACCOUNT, CHAT, book, named, rule_text

GOOD = """
silences:
  - reason: moving to another region
    owner: ml-platform
    rules: [Latency*]
    scope: {deployments: [chat]}
    from: 2026-12-05T22:00Z
    until: 2026-12-06T04:00+01:00
  - reason: nightly batch
    owner: ml-platform
    days: [sat, sun]
    hours: 22:00..04:00
    timezone: Europe/Berlin
"""


def silenced(folder: Path, text: str, rules: str = "") -> Rulebook:
    shipped = Path(__file__).parents[2] / "rules" / "signals.yaml"
    (folder / "signals.yaml").write_text(shipped.read_text(encoding="utf-8"), encoding="utf-8")
    rules = rules or "rules:\n" + rule_text("LatencyHigh", when="ttlt > 10s")
    (folder / "rules.yaml").write_text(rules + "\n", encoding="utf-8")
    (folder / "silences.yaml").write_text(text, encoding="utf-8")
    return load(folder)


def one(*lines: str) -> str:
    keys = ["reason: x", "owner: y", *lines]
    return "silences:\n  - " + "\n    ".join(keys) + "\n"


def only_error(made: Rulebook) -> Problem:
    (problem,) = made.errors
    return problem


def test_silences_are_read(tmp_path: Path) -> None:
    """Times with any offset, globs of rules, a scope; or hours of some days by a clock."""
    made = silenced(tmp_path, GOOD)
    assert not made.problems
    move, batch = made.silences
    assert move.begin and move.end
    assert move.end - move.begin == 5 * 60
    assert move.covers("LatencyHigh", ACCOUNT, CHAT)
    assert not move.covers("LatencyHigh", ACCOUNT, named("other"))
    assert not move.covers("SuccessRateLow", ACCOUNT, CHAT)
    assert batch.hours == Hours(22 * 60, 6 * 60, frozenset({5, 6}), "Europe/Berlin")
    assert batch.covers("Anything", ACCOUNT, named("other"))


def test_an_empty_file_and_no_file_are_no_silences(tmp_path: Path) -> None:
    """A file may be there with nothing in it."""
    for text in ("", "silences:\n", "silences: []\n", "# none\n"):
        made = silenced(tmp_path, text)
        assert (made.silences, made.problems) == ((), ())
    assert book("rules:\n" + rule_text("LatencyHigh", when="ttlt > 10s") + "\n").silences == ()


@pytest.mark.parametrize(
    ("text", "message", "cure"),
    [
        (one(), "a silence needs an end", "until: 2026-12-06T04:00Z"),
        (one("from: 2026-12-06T04:00Z"), "needs an end", "hours"),
        (one("until: tomorrow"), "no date with a time", "2026-12-05T22:00Z"),
        (one("until: 2026-12-06T04:00"), "whose clock", "Add Z"),
        (
            one("from: 2026-12-06T04:00Z", "until: 2026-12-06T03:00Z"),
            "ends before it begins",
            "round",
        ),
        (one("hours: 22..4"), "are no hours", "22:00..04:00"),
        (one("hours: 22:00..04:00", "timezone: Europe/Berlni"), "unknown time", "Europe/Berlin"),
        (one("until: 2026-12-06T04:00Z", "timezone: Europe/Berlin"), "belongs to", "+01:00"),
        (one("hours: 22:00..04:00", "days: [saturday]"), "saturday", "sat"),
        (one("hours: 22:00..04:00", "rules: [LatencyHihg]"), "fits no rule", "LatencyHigh"),
        (one("hours: 22:00..04:00", 'scope: {deployments: [""]}'), "empty glob", '"*"'),
        (one("hours: 22:00..04:00", "untill: x"), "unknown key 'untill'", "until"),
        ("silences:\n  - owner: y\n    hours: 22:00..04:00\n", "has no reason", ""),
        ("silences: soon\n", "must be a list", "dash"),
        ("silence: []\n", "unknown key 'silence'", "silences"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    tmp_path: Path, text: str, message: str, cure: str
) -> None:
    """Each mistake is told at its place in silences.yaml, with the cure, and mutes nothing."""
    made = silenced(tmp_path, text)
    problem = only_error(made)
    assert message in problem.message
    assert cure in problem.cure
    assert problem.mark.file.endswith("silences.yaml")
    assert made.silences == ()
    assert [rule.name for rule in made.rules] == ["LatencyHigh"]


def test_a_broken_file_of_silences_costs_no_rule(tmp_path: Path) -> None:
    """A tab in it is an error of that file alone."""
    made = silenced(tmp_path, "silences:\n\t- x\n")
    assert only_error(made).mark.file.endswith("silences.yaml")
    assert len(made.rules) == 1


def test_globs_are_not_held_against_broken_rules(tmp_path: Path) -> None:
    """While a rule file is broken, nobody knows which rules there are."""
    broken = "rules:\n" + rule_text("LatencyHigh", when="ttlt >")
    made = silenced(tmp_path, one("hours: 22:00..04:00", "rules: [LatencyHigh]"), broken)
    assert len(made.errors) == 1
    assert len(made.silences) == 1


def rules(*texts: str) -> Rulebook:
    return book("rules:\n" + "\n".join(texts) + "\n")


def text(name: str, **keys: str) -> str:
    return rule_text(name, when="ttlt > 10s", **keys)


def test_unless_names_rules_that_are_judged_before() -> None:
    """`unless` takes a list of names, in any order of the file."""
    made = rules(text("Slow", unless="[Worse]"), text("Worse"))
    assert not made.errors
    assert made.rules[0].unless == ("Worse",)
    assert [rule.name for rule in made.judged] == ["Worse", "Slow"]


def test_unless_of_an_unknown_rule_is_refused() -> None:
    """The nearest name is the cure, and the rule is not judged."""
    made = rules(text("Slow", unless="[Wrose]"), text("Worse"))
    problem = only_error(made)
    assert "there is no rule Wrose" in problem.message
    assert problem.cure == "Did you mean Worse?"
    assert [rule.name for rule in made.rules] == ["Worse"]


@pytest.mark.parametrize(
    "texts",
    [
        (text("Aaa", unless="[Aaa]"),),
        (text("Aaa", unless="[Bbb]"), text("Bbb", unless="[Aaa]")),
        (
            text("Aaa", unless="[Bbb]"),
            text("Bbb", unless="[Ccc]"),
            text("Ccc", unless="[Aaa]"),
        ),
    ],
)
def test_a_circle_of_unless_is_refused_once(texts: tuple[str, ...]) -> None:
    """Rules that wait for each other are told with the way round; others are judged."""
    made = rules(*texts, text("Other"))
    problem = only_error(made)
    assert "unless leads back to itself: " in problem.message
    way = problem.message.partition("itself: ")[2].split(" unless ")
    assert (way[0], len(way)) == (way[-1], len(texts) + 1)
    assert [rule.name for rule in made.rules] == ["Other"]


def test_a_rule_that_is_wrong_otherwise_may_be_named() -> None:
    """Its own error is told, and no second one about a rule that is not there."""
    made = rules(text("Slow", unless="[Worse]"), rule_text("Worse", when="ttlt >"))
    assert "when of Worse" in only_error(made).message
    assert [rule.name for rule in made.judged] == ["Slow"]


@pytest.mark.parametrize(
    ("severity", "written", "minutes"),
    [("critical", "", 240), ("warning", "", 0), ("critical", "0", 0), ("info", "1d", 1440)],
)
def test_critical_rules_remind_every_four_hours(severity: str, written: str, minutes: int) -> None:
    """`remind_every` is 4h for critical rules and off for others, unless written."""
    keys = {"severity": severity} | ({"remind_every": written} if written else {})
    (rule,) = rules(text("Slow", **keys)).rules
    assert rule.remind_every == minutes


@pytest.mark.parametrize("written", ["1m", "8d", "often"])
def test_reminders_flood_nobody(written: str) -> None:
    """Less than ten minutes and more than a week are refused."""
    assert only_error(rules(text("Slow", remind_every=written))).cure


def test_a_silence_that_is_over_is_warned_of(tmp_path: Path) -> None:
    """It does no harm, but nobody needs it; one that repeats is never over."""
    made = silenced(tmp_path, GOOD)
    end = made.silences[0].end
    assert end is not None
    assert expired(made.silences, end - 1) == ()
    (problem,) = expired(made.silences, end)
    assert problem.warning
    assert problem.message == "this silence ended at 2026-12-06T03:00:00Z"
