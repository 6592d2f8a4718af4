"""What people are told of alerts that fire: `unless`, silences, a new normal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.engine.baseline import GRAIN
from shared.engine.case import Case, Judged, Standing
from shared.engine.walk import walk
from shared.model import LEARNED, Change, Slot
from shared.rulebook.ast import Compare, Parameter, Signal
from shared.rulebook.rules import Rule, Rulebook
from shared.rulebook.scope import Scope
from shared.rulebook.silences import Hours, Silence
from shared.rulebook.units import BARE
from tests.engine.build import ACCOUNT, CHAT, START, Days, book, minutes, rule_text

LEAD = 60
SLOW, WORSE, FINE = 6000.0, 60_000.0, 1000.0
TWO = "\n".join(
    [
        "rules:",
        rule_text("Slow", when="ttlt > 5s", over="1m", hold="0", keep_firing_for="2m"),
        rule_text("Worse", when="ttlt > 50s", over="1m", hold="0", keep_firing_for="2m"),
    ]
)


def rulebook(text: str = TWO, **changed: tuple[str, ...]) -> Rulebook:
    """The rules of a text; keywords give a rule's `unless`."""
    made = book(text + "\n")
    assert not made.errors
    rules = tuple(replace(r, unless=changed.get(r.name, ())) for r in made.rules)
    return replace(made, rules=rules)


def judged(
    made: Rulebook,
    ttlt: Iterable[float],
    silences: tuple[Silence, ...] = (),
    ends: Iterable[Slot] = (),
) -> Judged:
    """Judges minutes of TTLT, in the pieces that end at `ends`."""
    values = [FINE] * LEAD + list(ttlt)
    days = Days(minutes(len(values), ok=9, ttlt=values), len(values))
    first, last = START + LEAD, START + len(values) - 1
    result = Judged(Standing())
    for end in [*sorted(e for e in ends if e < last), last]:
        while first <= end:
            frame = days.frame(first, end)
            case = Case(made, {ACCOUNT.id: ACCOUNT}, frame, silences=silences)
            piece, reached = walk(case, result.standing, first, end, days.history)
            result, first = result.then(piece), reached + 1
    return result


def story(result: Judged) -> list[tuple[str, str, int]]:
    return [(e.kind, e.rule, e.slot - START - LEAD) for e in result.events]


def silence(begin: int, end: int, *rules: str) -> Silence:
    return Silence("moving", "team", rules, begin=START + LEAD + begin, end=START + LEAD + end)


def test_a_rule_is_not_told_while_one_that_says_more_fires() -> None:
    """`unless: [Worse]`: of both that begin together, only Worse is told."""
    result = judged(rulebook(Slow=("Worse",)), [WORSE] * 5 + [FINE] * 5)
    assert story(result) == [("fired", "Worse", 0), ("resolved", "Worse", 7)]
    assert [e.rule for e in result.standing.episodes] == ["Slow", "Worse"]


def test_what_still_fires_when_the_other_ends_is_told_then() -> None:
    """When Worse ends and Slow still fires, Slow is told, with the minute at which it began."""
    result = judged(rulebook(Slow=("Worse",)), [WORSE] * 5 + [SLOW] * 10)
    assert story(result) == [
        ("fired", "Worse", 0),
        ("fired", "Slow", 7),
        ("resolved", "Worse", 7),
    ]
    assert result.events[1].since == START + LEAD


def test_rules_are_judged_in_the_order_of_unless() -> None:
    """It does not matter which rule stands first in the file, nor how long the chain is."""
    text = TWO + "\n" + rule_text("Any", when="ttlt > 4s", over="1m", hold="0")
    made = rulebook(text, Any=("Slow",), Slow=("Worse",))
    assert [rule.name for rule in made.judged] == ["Worse", "Slow", "Any"]
    assert story(judged(made, [WORSE] * 3)) == [("fired", "Worse", 0)]


def test_a_silence_mutes_its_rules_for_its_time_only() -> None:
    """D16: what fires within a silence is told at its end if it still fires, and not else."""
    made = rulebook()
    within = judged(made, [FINE] * 5 + [SLOW] * 3 + [FINE] * 20, (silence(0, 20, "Slow"),))
    assert story(within) == []
    beyond = judged(made, [FINE] * 5 + [SLOW] * 20, (silence(0, 20, "Slow"),))
    assert story(beyond) == [("fired", "Slow", 20)]
    other = judged(made, [FINE] * 5 + [SLOW] * 3, (silence(0, 20, "Worse"),))
    assert story(other) == [("fired", "Slow", 5)]


def test_d16_a_silence_over_sparse_minutes_ends_on_time() -> None:
    """A maintenance window ends by the clock, with minutes without data in it and after it."""
    gaps = [FINE] * 5 + [SLOW] + [float("nan")] * 9
    assert story(judged(rulebook(), gaps, (silence(0, 10),))) == [("fired", "Slow", 10)]


def test_a_silence_is_about_its_scope() -> None:
    """A silence for other deployments mutes nothing here."""
    others = replace(silence(0, 20), scope=Scope(deployments=("batch-*",)))
    assert story(judged(rulebook(), [SLOW], (others,))) == [("fired", "Slow", 0)]


def test_the_end_within_a_silence_is_told_to_those_who_know() -> None:
    """What was told before the silence is told to be over, although the silence lasts."""
    result = judged(rulebook(), [SLOW] * 3 + [FINE] * 9, (silence(1, 20),))
    assert story(result) == [("fired", "Slow", 0), ("resolved", "Slow", 5)]


@pytest.mark.parametrize(
    ("hours", "minute", "inside"),
    [
        (Hours(22 * 60, 360), "2026-12-01T21:59Z", False),
        (Hours(22 * 60, 360), "2026-12-01T22:00Z", True),
        (Hours(22 * 60, 360), "2026-12-02T03:59Z", True),
        (Hours(22 * 60, 360), "2026-12-02T04:00Z", False),
        (Hours(22 * 60, 360, frozenset({4})), "2026-12-05T03:00Z", True),
        (Hours(22 * 60, 360, frozenset({4})), "2026-12-04T03:00Z", False),
        (Hours(0, 1440, frozenset({5, 6})), "2026-12-05T00:00Z", True),
        (Hours(0, 1440, frozenset({5, 6})), "2026-12-07T00:00Z", False),
        (Hours(8 * 60, 60, zone="Europe/Berlin"), "2026-12-01T07:00Z", True),
        (Hours(8 * 60, 60, zone="Europe/Berlin"), "2026-07-01T07:00Z", False),
        (Hours(8 * 60, 60, zone="Europe/Berlin"), "2026-07-01T06:00Z", True),
    ],
)
def test_hours_go_by_the_clocks_of_their_zone(hours: Hours, minute: str, inside: bool) -> None:
    """Hours may reach into the next day, begin on some days only, and follow summer time."""
    slot = int(np.datetime64(minute.removesuffix("Z"), "m").astype(int))
    assert hours.include(slot) is inside


RULES = st.sampled_from([rulebook(), rulebook(Slow=("Worse",)), rulebook(Worse=("Slow",))])
LEVELS = st.lists(
    st.sampled_from([FINE, FINE, 4500.0, SLOW, WORSE, float("nan")]), min_size=1, max_size=40
)
TIMES = st.tuples(st.integers(0, 40), st.integers(1, 20))


def reminded(made: Rulebook, every: int) -> Rulebook:
    rules: tuple[Rule, ...] = tuple(replace(r, remind_every=every) for r in made.rules)
    return replace(made, rules=rules)


@settings(deadline=None, max_examples=60)
@given(RULES, LEVELS, st.lists(TIMES, max_size=2), st.sets(st.integers(0, 39)))
def test_d10_what_is_told_is_the_same_in_pieces(
    made: Rulebook, ttlt: list[float], times: list[tuple[int, int]], cuts: set[int]
) -> None:
    """With silences, `unless` and reminders, pieces equal the whole; fires and ends take turns,
    no end without its fire, no reminder without either, no id twice."""
    silences = tuple(silence(begin, begin + length) for begin, length in times)
    whole = judged(reminded(made, 5), ttlt, silences)
    ends = [START + LEAD + cut for cut in cuts]
    assert judged(reminded(made, 5), ttlt, silences, ends).events == whole.events
    assert len({e.id for e in whole.events}) == len(whole.events)
    open_episodes: dict[str, str] = {}
    for event in whole.events:
        if event.kind == "fired":
            assert event.rule not in open_episodes
            open_episodes[event.rule] = event.episode
        else:
            assert open_episodes[event.rule] == event.episode
            if event.kind == "resolved":
                del open_episodes[event.rule]


BASED = "rules:\n" + rule_text(
    "Slower", when="ttlt > 1.5 * baseline(ttlt)", over="15m", hold="0", keep_firing_for="0m"
)


def days_of(*levels: tuple[float, float]) -> Days:
    """TTLT by (days, level) over time, from the beginning of the history on."""
    ttlt = np.concatenate([np.full(int(days * 1440), level) for days, level in levels])
    start = START - START % GRAIN
    return Days(minutes(len(ttlt), ok=9, ttlt=ttlt), len(ttlt), start)


def lived(made: Rulebook, days: Days, first: Slot, changes: tuple[Change, ...] = ()) -> Judged:
    result, last = Judged(Standing()), days.start + days.steps - 1
    case = Case(made, {ACCOUNT.id: ACCOUNT}, days.frame(first, last), changes)
    while first <= last:
        piece, reached = walk(case, result.standing, first, last, days.history)
        result, first = result.then(piece), reached + 1
    return result


def test_a_level_that_stays_becomes_normal() -> None:
    """What stays longer than a day is learned: the alert ends as `new normal` when the fits say so,
    although by what was normal before it would still fire."""
    days = days_of((3, 1000.0), (12, 2000.0))
    result = lived(rulebook(BASED), days, days.start + 2 * 1440)
    assert [(e.kind, e.reason) for e in result.events] == [
        ("fired", ""),
        ("resolved", "new normal"),
    ]
    assert result.events[1].slot - result.events[0].slot > LEARNED


def test_what_returns_after_days_has_recovered() -> None:
    """An end that is one by the old normal as well is a recovery, however long it took."""
    days = days_of((6, 1000.0), (2, 2000.0), (0.1, 1000.0))
    result = lived(rulebook(BASED), days, days.start + 5 * 1440)
    assert [(e.kind, e.reason) for e in result.events] == [("fired", ""), ("resolved", "recovered")]


def test_a_drop_after_a_change_is_normal_a_day_later() -> None:
    """A rule that compares with the time before a change ends a day after it began."""
    text = "rules:\n" + rule_text(
        "Dropped", when="ttlt > 1.5 * before_change(ttlt, prompt_template)", over="5m", hold="0"
    )
    days = days_of((1, 1000.0), (2, 2000.0))
    at = days.start + 1440
    change = Change("prompt_template", at, CHAT.name, "v2")
    result = lived(rulebook(text), days, at - 60, (change,))
    assert [(e.kind, e.reason) for e in result.events] == [
        ("fired", ""),
        ("resolved", "new normal"),
    ]
    assert result.events[1].slot - result.events[1].since == LEARNED


def test_d17_a_rule_that_raises_is_named_and_costs_no_other() -> None:
    """A rule with a defect keeps its alerts as they are, is named, and the others are judged."""
    made = rulebook()
    broken = replace(made.rules[0], when=Compare(">", Signal("ttlt"), Parameter("limit", BARE)))
    made = replace(made, rules=(broken, made.rules[1]))
    result = judged(made, [WORSE] * 3)
    assert story(result) == [("fired", "Worse", 0)]
    assert list(result.broken) == ["Slow"]
    assert "limit" in result.broken["Slow"]


def test_d13_reminders_go_by_their_own_alert() -> None:
    """One that appears and clears meanwhile makes no other be told earlier."""
    made = reminded(rulebook(), 10)
    result = judged(made, [SLOW] * 4 + [WORSE] + [SLOW] * 20)
    assert [e for e in story(result) if e[1] == "Slow"] == [
        ("fired", "Slow", 0),
        ("reminded", "Slow", 10),
        ("reminded", "Slow", 20),
    ]
