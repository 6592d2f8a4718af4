"""Baselines: what is fitted, from what history, and when."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.engine.baseline import (
    DAYS,
    GRAIN,
    LEAST_BINS,
    LEAST_REQUESTS,
    REFIT,
    RELEARN,
    Due,
    Question,
    applies,
    due_at,
    fit,
    last_change,
    last_turn,
    next_due,
    phase,
    questions,
)
from shared.engine.evaluate import HORIZON
from shared.engine.fitting import robust_line
from shared.engine.frame import Floats
from shared.engine.judge import left_out
from shared.model import UNATTRIBUTED, Change, Episode, Fit, Known, fit_key
from tests.engine.build import (
    ACCOUNT,
    CHAT,
    NAN,
    START,
    Values,
    fit_of,
    frame,
    minutes,
    named,
    one_rule,
    shipped,
    shipped_rule,
)

SIGNALS = shipped().signals
LINE: Question = ("line", "ttlt", "tokens_per_answer")
BINS = DAYS * 1440 // GRAIN


def made(
    bins: int,
    *,
    ok: Values = 20,
    ttlt: Values = 1000,
    tokens: Values = None,
    given: str = "",
    left: tuple[tuple[int, int], ...] = (),
) -> Fit:
    """The fit of `ttlt` from so many bins of 15 minutes."""
    kind: Literal["line", "level"] = "line" if given else "level"
    due = Due(CHAT, kind, "ttlt", given, START + bins * 15, START, START + bins * 15, 15)
    data = frame(minutes(bins, ok=ok, ttlt=ttlt, tokens=tokens), bins, step=15)
    return fit(due, data, SIGNALS, left)


def noisy(seed: int, bins: int = 1344, outliers: float = 0.1) -> tuple[Floats, Floats, Floats]:
    """Tokens, latency and requests after TTLT = 126 ms + 41.3 ms a token, with bad bins."""
    generator = np.random.default_rng(seed)
    x = generator.lognormal(5, 0.35, bins)
    n = generator.integers(1, 60, bins).astype(float)
    y = (126 + 41.3 * x) * np.exp(generator.normal(0, 0.2, bins) / np.sqrt(n))
    bad = generator.random(bins) < outliers
    y[bad] *= generator.uniform(1.5, 4, int(bad.sum()))
    return x, y, n


@pytest.mark.parametrize("seed", range(8))
def test_a_line_is_recovered_among_outliers(seed: int) -> None:
    """TTFT and TBT are found under log-normal noise with a tenth of the bins far off."""
    x, y, n = noisy(seed)
    intercept, slope = robust_line(x, y, n)
    assert slope == pytest.approx(41.3, rel=0.03)
    middle = float(np.median(x))
    assert intercept + slope * middle == pytest.approx(126 + 41.3 * middle, rel=0.02)


def test_an_exact_line_is_found_exactly() -> None:
    """Without noise the intercept and the slope are those that were put in."""
    x = np.linspace(50, 500, 200)
    assert robust_line(x, 800 + 30 * x, np.full(200, 5.0)) == pytest.approx((800, 30))


def test_too_little_spread_of_tokens_is_taken_as_proportional() -> None:
    """Where answers are all as long, a line cannot be told from noise."""
    x, y, n = np.full(100, 200.0), np.full(100, 5000.0), np.full(100, 9.0)
    x[::2] += 5
    assert robust_line(x, y, n) == pytest.approx((0.0, 25.0), rel=0.03)


def test_a_line_never_falls_and_never_begins_below_zero() -> None:
    """Neither TTFT nor TBT can be negative, so neither is believed to be."""
    x = np.linspace(100, 300, 100)
    ones = np.ones(100)
    intercept, slope = robust_line(x, 50 * x - 3000, ones)
    assert intercept == 0.0
    assert slope > 0
    assert robust_line(x, 9000 - 20 * x, ones) == pytest.approx((5000, 0))


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0.01, 1e5), st.floats(0.01, 1e7), st.integers(1, 1000)),
        min_size=LEAST_BINS,
        max_size=40,
    )
)
def test_any_history_gives_a_line_that_can_be_used(rows: list[tuple[float, float, int]]) -> None:
    """Whatever the points, the line is finite and says more than 0 for what was seen."""
    x, y, n = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    intercept, slope = robust_line(x, y, n)
    assert np.isfinite([intercept, slope]).all()
    assert intercept >= 0 and slope >= 0
    assert (intercept + slope * x > 0).all()


def test_a_fit_has_what_a_person_would_say_of_the_history() -> None:
    """Level, line, range and spread of one request come from the bins that have everything."""
    x, y, n = noisy(3, outliers=0)
    found = made(BINS, ok=n, ttlt=y, tokens=x * n, given="tokens_per_answer")
    assert found.ready
    assert found.samples == BINS
    assert found.slope == pytest.approx(41.3, rel=0.02)
    assert found.level == pytest.approx(float(np.median(y)))
    assert found.spread == pytest.approx(0.2, rel=0.1)
    assert [found.low, found.high] == pytest.approx(list(np.percentile(x, [1, 99])))


def test_a_level_is_the_median_and_not_the_mean() -> None:
    """Three terrible days of fourteen do not move what is normal, nor its spread."""
    ttlt = np.full(BINS, 1000.0)
    for day in (2, 3, 9):
        ttlt[day * 96 : day * 96 + 60] = 90_000
    assert made(BINS, ttlt=ttlt).level == 1000
    assert made(BINS, ttlt=ttlt).spread == 0


def scattered(seed: int, days: int = DAYS) -> Floats:
    """Latency that scatters by 10 % from bin to bin."""
    return np.asarray(1000 * np.exp(np.random.default_rng(seed).normal(0, 0.1, days * 96)))


@pytest.mark.parametrize("seed", range(4))
def test_normal_noise_has_no_heavy_tail(seed: int) -> None:
    """The spread of noise that is normal is its standard deviation."""
    assert made(BINS, ok=1, ttlt=scattered(seed)).spread == pytest.approx(0.1, rel=0.12)


@pytest.mark.parametrize(("days", "wide"), [(2, False), (DAYS, True)])
def test_what_is_slow_on_most_days_is_no_incident(days: int, wide: bool) -> None:
    """Spikes at some hour of every day widen the spread; those of two days of fourteen do not."""
    ttlt = scattered(1)
    for day in range(days):
        at = day * 96 + 17 * day % 90
        ttlt[at : at + 4] = 3000
    assert (made(BINS, ok=1, ttlt=ttlt).spread > 0.5) is wide


def test_few_bins_foretell_worse() -> None:
    """On the first day the spread is wider, since the fit itself is uncertain."""
    ttlt = [900.0, 1100.0] * (LEAST_BINS // 2)
    few, many = made(LEAST_BINS, ttlt=ttlt), made(BINS, ttlt=[900.0, 1100.0] * (BINS // 2))
    assert few.spread == pytest.approx(many.spread * np.sqrt(13 / 11), rel=0.01)


def daily(amplitude: float, noise: float, days: int = DAYS) -> Floats:
    """Latency that follows the hour of the day; START is not at midnight."""
    hour = (START + 15 * np.arange(days * 96)) // 60 % 24
    swing = 1 + amplitude * np.sin(hour / 24 * 2 * np.pi)
    luck = np.exp(np.random.default_rng(5).normal(0, noise, days * 96))
    return np.asarray(1000 * swing * luck)


def test_a_level_follows_the_time_of_day_where_that_explains_it() -> None:
    """A daily rhythm is learned by the hour, and what is left is the spread."""
    found = made(BINS, ok=1, ttlt=daily(0.6, 0.05))
    assert len(found.hours) == 24
    assert found.hours[6] * found.level == pytest.approx(1600, rel=0.05)
    assert found.hours[18] * found.level == pytest.approx(400, rel=0.05)
    assert found.spread < 0.1


@pytest.mark.parametrize(
    "ttlt",
    [daily(0.6, 0.05, days=5), daily(0.05, 0.2), scattered(2)],
    ids=["five days", "mostly noise", "no rhythm"],
)
def test_without_support_a_level_has_no_time_of_day(ttlt: Floats) -> None:
    """Few days, or a rhythm that hardly helps, leave one level for all hours."""
    assert made(len(ttlt), ok=1, ttlt=ttlt).hours == ()


def test_an_hour_that_is_idle_on_most_days_leaves_one_level() -> None:
    """Nobody knows what is normal at night where nobody calls at night."""
    calls = np.where((START + 15 * np.arange(BINS)) // 60 % 24 == 3, 0.0, 1.0)
    assert made(BINS, ok=calls, ttlt=daily(0.6, 0.05)).hours == ()


@pytest.mark.parametrize(
    ("bins", "calls", "ready"),
    [
        (LEAST_BINS - 1, 1000, False),
        (LEAST_BINS, LEAST_REQUESTS / LEAST_BINS, True),
        (LEAST_BINS, LEAST_REQUESTS / LEAST_BINS - 0.5, False),
        (LEAST_REQUESTS, 1, True),
    ],
)
def test_too_little_history_is_not_ready(bins: int, calls: float, ready: bool) -> None:
    """A fit needs three hours of bins and sixty requests; until then it only says it was tried."""
    assert made(bins, ok=calls).ready is ready
    assert made(bins, ok=calls).samples == bins


def test_nothing_at_all_is_not_ready() -> None:
    """A deployment without any history has a fit that is not ready, and no error."""
    found = made(BINS, ok=None, ttlt=None)
    assert (found.ready, found.samples, found.level) == (False, 0, 0.0)


def test_bins_without_traffic_do_not_count() -> None:
    """Idle bins and zeros are no part of what is normal."""
    ok = [20.0] * 50 + [0.0, NAN] * 50
    ttlt = [1000.0] * 50 + [0.0, 9000.0] * 50
    found = made(150, ok=ok, ttlt=ttlt)
    assert (found.samples, found.level) == (50, 1000)


def test_d06_incidents_are_left_out() -> None:
    """Bins that touch an episode are no part of what is normal, so that its return is seen."""
    ttlt = np.full(100, 1000.0)
    ttlt[20:80] = 5000
    incident = ((START + 20 * 15 + 1, START + 80 * 15 - 1),)
    assert made(100, ttlt=ttlt).level == 5000
    found = made(100, ttlt=ttlt, left=incident)
    assert (found.level, found.samples) == (1000, 40)


@pytest.mark.parametrize(
    ("days", "bins", "learned"),
    [(DAYS, 36, True), (7, 36, False), (8, 36, True), (DAYS, 18, False)],
    ids=["daily", "the days of a week", "most days", "too short"],
)
def test_what_takes_up_most_days_is_learned(days: int, bins: int, learned: bool) -> None:
    """A rhythm that alerts each day is no incident; a week of incidents is."""
    ttlt = np.full(BINS, 1000.0)
    left = []
    for day in range(days):
        at = day * 96 + 30
        ttlt[at : at + bins] = 3000
        left.append((START + at * 15, START + (at + bins) * 15))
    found = made(BINS, ttlt=ttlt, left=tuple(left))
    assert (found.samples == BINS) is learned


def test_one_long_incident_of_a_new_deployment_is_left_out() -> None:
    """Half of a first day is an incident all the same."""
    ttlt = [1000.0] * 48 + [9000.0] * 48
    found = made(96, ttlt=ttlt, left=((START + 48 * 15, START + 96 * 15),))
    assert (found.level, found.samples) == (1000, 48)


def test_the_first_day_of_an_episode_is_left_out() -> None:
    """From a window before its first breach to its end, at most a day: what lasts is learned."""
    book = shipped()
    name, other = "TTLTRisingWithoutTokens", "SuccessRateLow"
    episodes = (
        Episode(name, CHAT, START, START + 50),
        Episode(name, CHAT, START + 5000, START + 9000),
        Episode(name, CHAT, START + 20000),
        Episode(name, named("chat2"), START),
        Episode(other, CHAT, START),
    )
    assert left_out(book, episodes, CHAT, "ttlt") == [
        (START - 40, START + 50),
        (START + 5000 - 40, START + 5000 + 1440),
        (START + 20000 - 40, START + 20000 + 1440),
    ]
    assert left_out(book, episodes, CHAT, "success_rate") == [(START - 30, START + 1440)]


def test_an_episode_of_a_rule_that_is_gone_is_left_out_of_everything() -> None:
    """If nobody knows what an incident was about, it is left out of every signal."""
    episodes = (Episode("Gone", CHAT, START, START + 50),)
    assert left_out(shipped(), episodes, CHAT, "ttlt") == [(START, START + 50)]


def test_before_a_change_is_the_hour_before_it() -> None:
    """`before_change` is the weighted value of the sixty minutes that end with the change."""
    change = Change("prompt_template", START, "chat", "PR 7")
    (due,) = due_at(START + 5, CHAT, [("before", "ttlt", "prompt_template")], {}, [change])
    assert (due.start, due.end, due.step, due.slot) == (START - 60, START, 1, START)
    ok = [1.0] * 30 + [3.0] * 30
    ttlt = [1000.0] * 30 + [2000.0] * 30
    data = frame(minutes(60, ok=ok, ttlt=ttlt), 60, start=START - 60)
    found = fit(due, data, SIGNALS)
    assert (found.level, found.ready, found.reference) == (1750, True, "PR 7")
    silent = fit(due, frame([], 60, start=START - 60), SIGNALS)
    assert not silent.ready


def test_a_cache_that_was_empty_before_is_known_to_have_been() -> None:
    """A value of 0 before a change is a value."""
    change = Change("prompt_template", START, "chat", "PR 7")
    question: Question = ("before", "cache_match_rate", "prompt_template")
    (due,) = due_at(START, CHAT, [question], {}, [change])
    data = frame(minutes(60, ok=9, prompt=99, cached=0), 60, start=START - 60)
    found = fit(due, data, SIGNALS)
    assert (found.level, found.ready) == (0.0, True)


def test_turns_follow_from_the_name_alone() -> None:
    """A deployment is refitted every six hours at a minute of its own, whatever its case."""
    assert phase(named("CHAT")) == phase(CHAT)
    assert 0 <= phase(CHAT) < REFIT
    assert len({phase(named(f"d{n}")) for n in range(200)}) > 100
    turns = {last_turn(CHAT, START + n, REFIT) for n in range(3 * REFIT)}
    assert {later - turn for turn, later in pairwise(sorted(turns))} == {REFIT}
    assert all(turn % REFIT == phase(CHAT) for turn in turns)


def test_first_sight_is_fitted_at_once_from_two_weeks() -> None:
    """A deployment that is first seen is fitted then, from whole bins of the 14 days before."""
    (due,) = due_at(START + 7, CHAT, [LINE], {}, ())
    assert (due.slot, due.start, due.end) == (START + 7, START - DAYS * 1440, START)
    assert due.step == GRAIN


@pytest.mark.parametrize(("ready", "every"), [(True, REFIT), (False, RELEARN)])
def test_refits_are_due_at_the_turn_and_for_the_turn(ready: bool, every: int) -> None:
    """What is fitted is fitted again at the next turn; while learning the turns are hourly.

    However late the turn is noticed, the fit is the one of the turn.
    """
    have = msgspec.structs.replace(fit_of(*LINE, slot=START), ready=ready)
    fits = {(CHAT.key, have.key): have}
    turn = last_turn(CHAT, START, every) + every
    assert due_at(turn - 1, CHAT, [LINE], fits, ()) == []
    for late in (0, 1, 17):
        (due,) = due_at(turn + late, CHAT, [LINE], fits, ())
        assert due.slot == turn
        assert due.end == turn - turn % GRAIN
    assert next_due(START, [Known(CHAT, START)], fits, ()) == turn


def test_a_fit_that_was_made_at_its_turn_is_not_due_again() -> None:
    """One turn, one fit."""
    turn = last_turn(CHAT, START, REFIT)
    have = fit_of(*LINE, slot=turn)
    assert due_at(turn, CHAT, [LINE], {(CHAT.key, have.key): have}, ()) == []


def test_a_new_change_is_due_and_an_old_one_is_not() -> None:
    """The latest change within the horizon is asked of, once."""
    asked: list[Question] = [("before", "ttlt", "capacity")]
    old, new = Change("capacity", START, "*", "1"), Change("capacity", START + 50, "ch*", "2")
    other = Change("capacity", START + 60, "embed", "3")
    kind = Change("sku", START + 60, "chat", "4")
    changes = (old, new, other, kind)

    def slots(at: int, have: int | None = None) -> list[int]:
        one = fit_of("before", "ttlt", "capacity", slot=have or 0)
        fits = {(CHAT.key, fit_key("before", "ttlt", "capacity")): one} if have else {}
        return [due.slot for due in due_at(at, CHAT, asked, fits, changes)]

    assert slots(START - 1) == []
    assert slots(START) == slots(START + 49) == [START]
    assert slots(START + 50) == [START + 50]
    assert slots(START + 70, have=START) == [START + 50]
    assert slots(START + 70, have=START + 50) == []
    assert slots(START + 50 + HORIZON) == [START + 50]
    assert slots(START + 51 + HORIZON) == []


def test_of_changes_in_one_minute_the_last_recorded_counts() -> None:
    """A change that is corrected is the corrected one."""
    first = Change("sku", START, "chat", "b", recorded=START + 1)
    second = Change("sku", START, "chat", "a", recorded=START + 2)
    assert last_change((second, first), "sku", CHAT, START) == second
    assert last_change((first, second), "sku", CHAT, START) == second


@pytest.mark.parametrize(
    ("glob", "applied"),
    [
        ("chat", True),
        ("CHAT", True),
        ("ch*", True),
        ("*", True),
        ("acc/chat", True),
        ("ACC/*", True),
        ("other/chat", False),
        ("chat2", False),
        ("acc", False),
    ],
)
def test_a_change_applies_by_name_or_by_account_and_name(glob: str, applied: bool) -> None:
    """A glob without a slash is over names, one with a slash over accounts and names."""
    assert applies(Change("sku", START, glob, ""), CHAT) is applied


def test_the_next_due_slot_is_the_first_of_all_reasons() -> None:
    """A span ends before a refit, a first sight, a change, and before a change is too old."""
    have = {(CHAT.key, "ttlt"): fit_of(slot=START)}
    turn = last_turn(CHAT, START, REFIT) + REFIT
    known = [Known(CHAT, START - 500)]
    assert next_due(START, known, have, ()) == turn
    new = named("new")
    soon = Known(new, START + 1)
    assert next_due(START, [*known, soon], have, ()) == START + 1
    change = Change("sku", START + 2, "chat", "")
    assert next_due(START, known, have, (change,)) == min(turn, START + 2)
    old = Change("sku", START - HORIZON + 2, "chat", "")
    assert next_due(START, known, have, (old,)) == min(turn, START + 3)
    assert next_due(START, [], {}, ()) == START + REFIT


def test_each_question_is_asked_once_and_only_of_what_a_rule_covers() -> None:
    """Rules that compare with the same baseline share it; no scope, no question."""
    assert questions(shipped().rules, ACCOUNT, CHAT) == [
        ("before", "cache_match_rate", "prompt_template"),
        LINE,
    ]
    scoped = one_rule(when="ttlt > 2 * baseline(ttlt)", scope="{deployments: [other]}")
    assert questions(scoped.rules, ACCOUNT, CHAT) == []
    assert questions(shipped().rules, ACCOUNT, named(UNATTRIBUTED)) == []
    assert questions(shipped_rule("LatencyHigh").rules, ACCOUNT, CHAT) == []


def test_what_the_summary_compares_with_is_asked_for() -> None:
    """A baseline that only the sentence of the card shows is fitted as well."""
    made_of = one_rule(when="ttlt > 5s", summary='"{ttlt / baseline(ttlt)} times the normal"')
    assert questions(made_of.rules, ACCOUNT, CHAT) == [("level", "ttlt", "")]
