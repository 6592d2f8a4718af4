"""Judging a history: in one span or in pieces, through refits, changes and edited rules."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.engine.baseline import REFIT, Due, last_turn
from shared.engine.case import Case, Judged, Standing, lead
from shared.engine.frame import Frame
from shared.engine.judge import dismiss, judge, meet, retire
from shared.engine.walk import MOST_FITS, walk
from shared.model import (
    EPISODE_MEMORY,
    UNATTRIBUTED,
    Alert,
    Change,
    Deployment,
    Episode,
    Known,
    Slot,
)
from shared.rulebook.rules import Rulebook
from tests.engine.build import (
    ACCOUNT,
    CHAT,
    NAN,
    START,
    USED,
    Days,
    book,
    fit_of,
    frame,
    live,
    minutes,
    named,
    one_rule,
    rule_text,
    shipped,
    shipped_rule,
)

HISTORY = 4 * 1440
"""Minutes of ordinary life before the judged ones."""
LATE = named("late")
PAID = named("paid-as-you-go")


def story(judged: Judged, rule: str = "") -> list[tuple[str, str, int, str]]:
    """What was told: rule, kind, minutes after the judged ones begin, and how it ended."""
    return [
        (event.rule, event.kind, event.slot - START - HISTORY, event.reason)
        for event in judged.events
        if rule in ("", event.rule)
    ]


@cache
def busy_days() -> tuple[Days, tuple[Change, ...]]:
    """Twenty hours in which every shipped rule fires on one of three deployments."""
    steps, at = HISTORY + 1300, HISTORY
    generator = np.random.default_rng(11)
    calls = generator.poisson(6, steps).astype(float)
    each = generator.lognormal(5, 0.4, steps)
    ttlt = (300 + 20 * each) * np.exp(generator.normal(0, 0.1, steps))
    ttlt[at + 100 : at + 180] *= 2
    ttlt[at + 900 : at + 1000] *= 6
    failed, throttled = np.zeros(steps), np.zeros(steps)
    failed[at + 250 : at + 290] = 1
    failed[at + 600 : at + 640] = 30
    used = generator.uniform(30, 70, steps)
    used[at + 700 : at + 730] = 105
    throttled[at + 705 : at + 708] = 4
    cached = np.full(steps, 60.0) + generator.normal(0, 2, steps)
    cached[at + 400 : at + 620] = 10
    calls[at + 1050 : at + 1060] = NAN
    ttlt[at + 1055 : at + 1060] = NAN
    late = np.where(np.arange(steps) < at + 320, NAN, calls)
    series = (
        *minutes(
            steps, ok=calls, failed=failed, throttled=throttled, ttlt=ttlt,
            tokens=each * calls, prompt=1000 * calls, used=used, cached=cached,
        ),
        *minutes(steps, ok=late, ttlt=ttlt * (late > 0), tokens=each * late, of=LATE),
        *minutes(steps, ok=calls / 4, ttlt=ttlt, tokens=each * calls / 4, of=PAID),
    )  # fmt: skip
    changes = (
        Change("prompt_template", START + at + 400, "chat", "PR 1"),
        Change("capacity", START + at + 800, "*", "300 PTU"),
    )
    return Days(series, steps, deployments=(CHAT, PAID)), changes


@cache
def whole() -> Judged:
    days, changes = busy_days()
    first = START + HISTORY
    return live(shipped(), days, first, START + days.steps - 1, changes=changes)


def test_the_busy_days_are_busy() -> None:
    """Every shipped rule fires in the history that the next tests take apart."""
    assert {event.rule for event in whole().events if event.kind == "fired"} == {
        rule.name for rule in shipped().rules
    }
    assert {event.deployment for event in whole().events} == {CHAT, LATE, PAID}
    assert any(event.kind == "resolved" for event in whole().events)


@pytest.mark.parametrize("seed", range(3))
def test_d10_random_pieces_tell_and_remember_the_same(seed: int) -> None:
    """Twenty hours in random pieces give the same events and the same standing, to the bit."""
    days, changes = busy_days()
    first, last = START + HISTORY, START + days.steps - 1
    ends = random.Random(seed).sample(range(first, last), 15 * (seed + 1))
    found = live(shipped(), days, first, last, ends=ends, changes=changes)
    assert msgspec.msgpack.encode(found.events) == msgspec.msgpack.encode(whole().events)
    assert found.standing == whole().standing
    assert found.tally == whole().tally


def test_d10_minute_by_minute_is_the_same_as_the_whole() -> None:
    """A tick for every single minute around a change tells the same."""
    days, changes = busy_days()
    first, last = START + HISTORY + 380, START + HISTORY + 480
    one = live(shipped(), days, first, last, changes=changes)
    many = live(shipped(), days, first, last, ends=range(first, last), changes=changes)
    assert many.events == one.events
    assert many.standing == one.standing


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(0, 280), max_size=12), st.integers(0, 359))
def test_d10_an_old_change_is_the_same_in_pieces(cuts: list[int], shift: int) -> None:
    """An episode that outlives the horizon of its change ends alike however it was judged."""
    steps = 1400
    cached = np.full(steps, 60.0)
    cached[500 + shift : 720 + shift] = 20
    cached[740 + shift : 760 + shift] = 20
    days = Days(minutes(steps, ok=10, prompt=5000, cached=cached), steps)
    changes = (Change("prompt_template", START + 500 + shift, "chat", "PR 2"),)
    made = shipped_rule("CacheMatchRateDroppedAfterTemplateChange")
    first = START + 490 + shift
    one = live(made, days, first, first + 285, changes=changes)
    many = live(
        made, days, first, first + 285, changes=changes, ends=sorted(first + cut for cut in cuts)
    )
    assert many.events == one.events
    assert many.standing == one.standing
    assert [(event.kind, event.slot - first) for event in one.events] == [
        ("fired", 23),
        ("resolved", 247),
    ]


def test_events_are_told_in_the_order_in_which_they_happened() -> None:
    """Events come by slot, then as the rules stand, then by deployment, and no id twice."""
    order = {rule.name: n for n, rule in enumerate(shipped().rules)}
    keys = [(event.slot, order[event.rule], event.deployment) for event in whole().events]
    assert keys == sorted(keys)
    assert len({event.id for event in whole().events}) == len(whole().events)


def test_every_fire_becomes_an_episode_that_is_remembered() -> None:
    """A fired episode is kept with its end, for the baselines to leave it out."""
    fired = {(e.rule, e.deployment, e.since) for e in whole().events if e.kind == "fired"}
    ended = {(e.rule, e.deployment, e.since): e.slot for e in whole().events if e.kind != "fired"}
    kept = whole().standing.episodes
    assert {(e.rule, e.deployment, e.since) for e in kept} == fired
    assert {(e.rule, e.deployment, e.since): e.end for e in kept if e.end} == ended


def test_old_episodes_are_forgotten() -> None:
    """After fifteen days an ended episode is let go, one without an end is not."""
    episodes = (
        Episode("Own", CHAT, START - EPISODE_MEMORY - 50, START - EPISODE_MEMORY - 1),
        Episode("Own", CHAT, START - EPISODE_MEMORY - 9, START - EPISODE_MEMORY),
        Episode("Own", LATE, START - EPISODE_MEMORY - 99),
    )
    made = one_rule(when="ttlt > 5s")
    judged = judge(
        case(made, frame(minutes(9, ok=1), 9)), Standing(episodes=episodes), START, START
    )
    assert [episode.since - START + EPISODE_MEMORY for episode in judged.standing.episodes] == [
        -9,
        -99,
    ]


def case(
    rulebook: Rulebook, data: Frame, changes: tuple[Change, ...] = (), account: bool = True
) -> Case:
    return Case(rulebook, {ACCOUNT.id: ACCOUNT} if account else {}, data, changes)


PINNED = "ttlt > 1.5 * baseline(ttlt)"


def through_a_refit() -> tuple[Rulebook, Days, Slot]:
    """A level that rises by half over a refit, and the slot of that refit."""
    made = one_rule(when=PINNED, over="1m", hold="0", keep_firing_for="0m")
    turn = last_turn(CHAT, START + HISTORY + REFIT, REFIT)
    at = turn - START
    ttlt = np.full(at + 200, 1000.0)
    ttlt[at - 3000 :] = 1400
    ttlt[at - 50 : at + 50] = 1800
    ttlt[at + 60 : at + 70] = 1800
    ttlt[at + 80 : at + 90] = 2300
    return made, Days(minutes(at + 200, ok=9, ttlt=ttlt), at + 200), turn


def test_an_episode_keeps_its_fits_over_a_refit_and_the_next_takes_the_new() -> None:
    """A refit in the middle moves no goal posts; the next episode is compared with the new level.

    1,800 ms is a breach of the old level of 1,000 ms and none of the new one of 1,400 ms.
    """
    made, days, turn = through_a_refit()
    standing = Standing(
        known=(Known(CHAT, START),),
        fits={(CHAT.key, "ttlt"): fit_of(slot=turn - REFIT, level=1000.0)},
    )
    first, last = turn - 100, turn + 150
    judged = live(made, days, first, last, standing=standing)
    assert judged.standing.fits[CHAT.key, "ttlt"].level == 1400
    assert [(event.kind, event.slot - turn) for event in judged.events] == [
        ("fired", -50),
        ("resolved", 50),
        ("fired", 80),
        ("resolved", 90),
    ]
    for seed in range(3):
        ends = random.Random(seed).sample(range(first, last), 20)
        assert live(made, days, first, last, standing=standing, ends=ends) == judged


def test_an_alert_holds_the_fits_of_its_first_breach() -> None:
    """What an alert is compared with is kept in it, whatever is fitted later."""
    made, days, turn = through_a_refit()
    old = fit_of(slot=turn - REFIT, level=1000.0)
    standing = Standing(known=(Known(CHAT, START),), fits={(CHAT.key, "ttlt"): old})
    judged = live(made, days, turn - 100, turn + 10, standing=standing)
    (alert,) = judged.standing.alerts
    assert alert.pins == (old,)
    assert judged.standing.fits[CHAT.key, "ttlt"].level == 1400


def firing(rule: str = "Own", deployment: Deployment = CHAT) -> Alert:
    at = START - 45
    return Alert(rule, deployment, "firing", START - 50, START - 1, fired=at, told=True, told_at=at)


def pending(rule: str = "Own") -> Alert:
    return Alert(rule, CHAT, "pending", START - 5, START - 1)


OTHER = f"rules:\n{rule_text('Other', when='ttlt > 5s')}\n"


def test_a_rule_that_is_removed_ends_its_alerts() -> None:
    """The alert of a rule that is gone is told to be over; a pending one goes silently."""
    standing = Standing(
        alerts=(firing(), pending("Also"), firing("Other")),
        episodes=(Episode("Own", CHAT, START - 50), Episode("Other", CHAT, START - 50)),
    )
    judged = retire(case(book(OTHER), frame([], 1)), standing, START)
    assert [(e.rule, e.kind, e.reason, e.slot) for e in judged.events] == [
        ("Own", "resolved", "rule removed", START)
    ]
    assert judged.standing.alerts == (firing("Other"),)
    assert [episode.end for episode in judged.standing.episodes] == [START, None]


def test_nothing_counts_as_removed_while_a_file_is_broken() -> None:
    """A rule that cannot be read may still be there, so its alert waits."""
    broken = book(OTHER + "oops: 1\n")
    assert broken.errors and [rule.name for rule in broken.rules] == ["Other"]
    standing = Standing(alerts=(firing(),))
    assert retire(case(broken, frame([], 1)), standing, START) == Judged(standing)
    walked, _ = walk(case(broken, frame([], 61)), standing, START + 60, START + 60, no_history)
    assert walked.standing.alerts == (firing(),)
    assert not walked.events


def test_a_warning_breaks_no_file() -> None:
    """Rules are removed as ever while there are only warnings."""
    warned = book(f"rules:\n{rule_text('Other', when='ttlt < 5s')}\n")
    assert warned.problems and not warned.errors
    judged = retire(case(warned, frame([], 1)), Standing(alerts=(firing(),)), START)
    assert [event.reason for event in judged.events] == ["rule removed"]


def test_a_rule_that_no_longer_covers_a_deployment_ends_its_alert() -> None:
    """Narrowing a scope is removing the rule there, and only there."""
    made = one_rule(when="ttlt > 5s", scope="{deployments: ['!chat']}")
    standing = Standing(alerts=(firing(), firing(deployment=LATE)))
    judged = retire(case(made, frame([], 1)), standing, START)
    assert [event.deployment for event in judged.events] == [CHAT]
    assert judged.standing.alerts == (firing(deployment=LATE),)


def test_an_edited_rule_keeps_its_episode() -> None:
    """A new threshold is a new threshold: the alert goes on and ends by it."""
    made = one_rule(when="ttlt > 20s", over="1m", keep_firing_for="0m")
    days = Days(minutes(100, ok=9, ttlt=9000), 100)
    standing = Standing(known=(Known(CHAT, START),), alerts=(firing(),))
    judged = live(made, days, START + 70, START + 70, standing=standing)
    assert [(event.kind, event.reason, event.since) for event in judged.events] == [
        ("resolved", "recovered", START - 50)
    ]


def test_what_leaves_the_settings_is_told_without_its_account() -> None:
    """An alert of an account that is no longer watched ends even if nothing is known of it."""
    judged = dismiss(Standing(alerts=(firing(),)), [firing()], START, "no longer watched", {})
    assert [(event.reason, event.region) for event in judged.events] == [("no longer watched", "")]


def test_an_end_is_told_only_if_the_beginning_was() -> None:
    """An alert that was only observed is not told to be over when its account goes."""
    observed = msgspec.structs.replace(firing(), told=False)
    told = msgspec.structs.replace(firing(), told=True)
    for alert in (observed, told):
        (event,) = dismiss(
            Standing(alerts=(alert,)), [alert], START, "no longer watched", {}
        ).events
        assert event.notify == alert.told


@pytest.mark.parametrize(("mode", "told"), [("notify", True), ("observe", False)])
def test_observed_rules_are_kept_but_not_told(mode: str, told: bool) -> None:
    """`mode: observe` makes the same events, marked as not to be told."""
    made = one_rule(when="ttlt > 5s", over="1m", hold="0", keep_firing_for="0m", mode=mode)
    ttlt = [1000.0] * 70 + [9000.0] * 5 + [1000.0] * 5
    judged = live(made, Days(minutes(80, ok=9, ttlt=ttlt), 80), START + 60, START + 79)
    assert [(event.kind, event.notify) for event in judged.events] == [
        ("fired", told),
        ("resolved", told),
    ]


def test_windows_begin_no_earlier_than_a_change() -> None:
    """A change that alters latency cuts the windows of latency and none of the success rate."""
    slow = one_rule(when="ttlt > 5s", over="30m", hold="0")
    failing = one_rule(when="success_rate < 60%", over="30m", hold="0")
    ttlt = np.full(120, 1000.0)
    ttlt[90:] = 9000
    ok = np.full(120, 1.0)
    ok[90:] = 0
    days = Days(minutes(120, ok=ok, failed=1 - ok, ttlt=ttlt), 120)
    change = (Change("capacity", START + 90, "chat", ""),)
    for changes, after in (((), 105), (change, 90)):
        judged = live(slow, days, START + 70, START + 119, changes=changes)
        assert [event.slot - START for event in judged.events] == [after]
    plain, cut = (
        live(failing, days, START + 70, START + 119, changes=changes) for changes in ((), change)
    )
    assert [event.slot for event in plain.events] == [event.slot for event in cut.events]


def test_a_change_of_another_deployment_cuts_nothing() -> None:
    """A change counts for the deployments that its glob names."""
    made = one_rule(when="ttlt > 5s", over="30m", hold="0")
    ttlt = np.full(120, 1000.0)
    ttlt[90:] = 9000
    days = Days(minutes(120, ok=1, ttlt=ttlt), 120)
    changes = (Change("capacity", START + 90, "embed*", ""),)
    judged = live(made, days, START + 70, START + 119, changes=changes)
    assert [event.slot - START for event in judged.events] == [105]


def test_a_cache_is_judged_from_ten_minutes_after_a_change() -> None:
    """A cache has to fill first: the first ten minutes after the change are left out."""
    made = one_rule(when="cache_match_rate < 50%", over="5m", hold="0")
    cached = np.full(120, 80.0)
    cached[90:] = 0
    days = Days(minutes(120, ok=9, prompt=99, cached=cached), 120)
    for changes, after in (
        ((), 91),
        ((Change("prompt_template", START + 90, "chat", ""),), 100),
        ((Change("capacity", START + 90, "chat", ""),), 91),
    ):
        judged = live(made, days, START + 70, START + 119, changes=changes)
        assert [event.slot - START for event in judged.events] == [after]


def test_a25_a_cache_that_refills_after_a_change_is_no_alert() -> None:
    """A cold cache right after a change of the template is no drop."""
    cached = np.full(300, 60.0)
    cached[200:210] = 0
    days = Days(minutes(300, ok=9, prompt=99, cached=cached), 300)
    changes = (Change("prompt_template", START + 200, "chat", "PR 3"),)
    made = shipped_rule("CacheMatchRateDroppedAfterTemplateChange")
    judged = live(made, days, START + 100, START + 299, changes=changes)
    assert judged.events == ()
    assert judged.tally[made.rules[0].name]["clear"] > 50


@pytest.mark.parametrize("idle", [5, 20, 90])
def test_a25_a_cache_that_refills_after_idle_minutes_is_no_alert(idle: int) -> None:
    """Caches empty when nobody calls for minutes, so idle -> busy is no drop, change or not."""
    ok, cached = np.full(400, 30.0), np.full(400, 60.0)
    ok[210 : 210 + idle] = 0
    cached[210 : 210 + idle], cached[210 + idle : 220 + idle] = np.nan, 0
    days = Days(minutes(400, ok=ok, prompt=99, cached=cached), 400)
    changes = (Change("prompt_template", START + 200, "chat", "PR 3"),)
    made = shipped_rule("CacheMatchRateDroppedAfterTemplateChange")
    whole = live(made, days, START + 100, START + 399, changes=changes)
    assert whole.events == ()
    ends = range(START + 205, START + 399, 7)
    assert (
        live(made, days, START + 100, START + 399, changes=changes, ends=ends).tally == whole.tally
    )


def test_a25_a_cache_that_drops_without_a_change_is_no_alert() -> None:
    """Without a recorded change there is no alert on the template, however low the cache."""
    cached = np.full(300, 60.0)
    cached[200:] = 0
    days = Days(minutes(300, ok=9, prompt=99, cached=cached), 300)
    made = shipped_rule("CacheMatchRateDroppedAfterTemplateChange")
    assert live(made, days, START + 100, START + 299).events == ()


def test_a_deployment_is_known_from_its_first_point_on() -> None:
    """What has never been seen is not judged, and first sight is remembered with its slot."""
    made = one_rule(when="requests < 1", over="1m", hold="0")
    ok = [NAN] * 80 + [1.0] * 20
    days = Days(minutes(100, ok=ok), 100)
    judged = live(made, days, START + 60, START + 99)
    assert judged.standing.known == (Known(CHAT, START + 80),)
    assert judged.tally["Own"].total() == 20


def test_the_first_sign_of_provisioning_is_remembered() -> None:
    """A deployment that once showed utilization is a provisioned one for good."""
    used = np.full(200, NAN)
    used[80] = 50
    days = Days(minutes(200, ok=9, used=used), 200)
    made = shipped_rule("ProvisionedCapacityUsedUp")
    judged = live(made, days, START + 60, START + 199, ends=[START + 70, START + 100, START + 190])
    assert judged.standing.known == (Known(CHAT, START + 60, START + 80),)
    tally = judged.tally["ProvisionedCapacityUsedUp"]
    assert (tally["not applicable"], tally["clear"], tally["no data"]) == (20, 1, 119)
    again = meet(frame(minutes(9, used=5), 9, start=START + 500), judged.standing, START + 505)
    assert again.known == judged.standing.known
    assert USED.metric.endswith("V2")


def test_unattributed_traffic_has_no_normal_but_a_success_rate() -> None:
    """Rules that compare with history leave out what belongs to no deployment; others judge it."""
    loose = named(UNATTRIBUTED)
    days = Days(
        minutes(HISTORY, failed=9, ttlt=9000, tokens=900, of=loose), HISTORY, deployments=(loose,)
    )
    judged = live(shipped(), days, START + HISTORY - 100, START + HISTORY - 1)
    assert judged.tally["TTLTRisingWithoutTokens"].total() == 0
    assert {event.rule for event in judged.events if event.kind == "fired"} == {
        "SuccessRateLow",
        "SuccessRateCollapsed",
    }
    assert not judged.standing.fits


def test_too_little_history_is_learned_and_tried_again() -> None:
    """A new deployment is learning, tries again every hour, and is judged once it can be."""
    steps = 1000
    days = Days(minutes(steps, ok=9, ttlt=1000), steps)
    made = one_rule(when=PINNED, over="1m")
    judged = live(made, days, START + 60, START + steps - 1)
    tally = judged.tally["Own"]
    assert 100 <= tally["learning"] <= 180
    assert tally["clear"] == steps - 60 - tally["learning"]
    assert judged.standing.fits[CHAT.key, "ttlt"].ready


def test_d17_a_summary_that_asks_more_than_its_condition_is_filled_in() -> None:
    """Yesterday's value, the normal one and a long mean may stand in a summary alone."""
    made = one_rule(
        when="ttlt > 5s",
        over="1m",
        hold="0",
        summary='"{ttlt}, yesterday {ago(ttlt, 1d)}, else {baseline(ttlt)}, mean {avg(ttlt, 60m)}"',
    )
    ttlt = np.full(HISTORY, 1000.0)
    ttlt[-10:] = 7000
    days = Days(minutes(HISTORY, ok=5, ttlt=ttlt), HISTORY)
    (event,) = live(made, days, START + HISTORY - 30, START + HISTORY - 1).events
    assert event.summary == "7 s, yesterday 1 s, else 1 s, mean 1.1 s"


def test_a_frame_begins_early_enough_for_every_window() -> None:
    """At least an hour is read before the first slot, more where a rule looks further back."""
    assert lead(shipped()) == 60
    assert lead(one_rule(when="avg(ttlt, 5m) > 5s")) == 60


def no_history(dues: Sequence[Due]) -> dict[Due, Frame]:
    return {}


def test_history_that_cannot_be_read_is_asked_for_again_at_the_next_tick() -> None:
    """Without its history a deployment is learning; once it can be read it is fitted."""
    days = Days(minutes(HISTORY, ok=9, ttlt=1000), HISTORY)
    made = one_rule(when=PINNED, over="1m")
    first = START + HISTORY - 10
    asked = case(made, days.frame(first, first + 4))
    judged, reached = walk(asked, Standing(), first, first + 4, no_history)
    assert reached == first + 4
    assert (judged.tally["Own"]["learning"], judged.standing.fits) == (5, {})
    later = live(made, days, first + 5, first + 9, standing=judged.standing)
    assert later.tally["Own"]["clear"] == 5


def test_a_walk_stops_early_but_judges_one_slot() -> None:
    """When time is up a walk ends before its next fits, and says how far it came."""
    days = Days(minutes(HISTORY + 400, ok=9, ttlt=1000), HISTORY + 400)
    made = one_rule(when=PINNED, over="1m")
    first = START + HISTORY
    turn = last_turn(CHAT, first, REFIT) + REFIT
    asked = case(made, days.frame(first, first + 390))
    judged, reached = walk(asked, Standing(), first, first + 390, days.history, lambda: True)
    assert reached == turn - 1
    assert judged.tally["Own"].total() == turn - first
    rest = live(made, days, reached + 1, first + 390, standing=judged.standing)
    assert judged.then(rest) == live(made, days, first, first + 390)


def test_a_tick_makes_at_most_a_set_number_of_fits() -> None:
    """Fits beyond the number of one walk wait for the next tick, with their slots."""
    late = [Known(named(f"d{n}"), START + 70 + n % 3) for n in range(MOST_FITS // 2 + 50)]
    more = [Known(named(f"e{n}"), START + 71) for n in range(MOST_FITS)]
    empty = frame([], 1, step=15, known=[one.deployment for one in (*late, *more)])
    asked = case(one_rule(when=PINNED, over="1m"), frame([], 70))

    def tick(*known: Known) -> tuple[int, Slot]:
        judged, reached = walk(
            asked,
            Standing(known=known),
            START + 65,
            START + 69 + 6,
            lambda dues: dict.fromkeys(dues, empty),
        )
        return len(judged.standing.fits), reached

    assert tick(*late) == (len(late), START + 75)
    assert tick(*late, *more) == (len(late) // 3, START + 70)


def test_history_is_not_asked_for_what_a_deployment_cannot_have() -> None:
    """A baseline of a provisioned metric is fitted from the minute on in which it first shows."""
    made = one_rule(when="utilization > 2 * baseline(utilization)", over="1m", hold="0")
    used = np.full(2 * HISTORY, NAN)
    used[HISTORY + 100 :] = 40.0
    days = Days(minutes(2 * HISTORY, ok=9, used=used), 2 * HISTORY)
    asked: list[Slot] = []

    def history(dues: Sequence[Due]) -> dict[Due, Frame]:
        asked.extend(due.slot for due in dues)
        return days.history(dues)

    def lived(ends: Sequence[Slot]) -> Judged:
        asked.clear()
        result, first = Judged(Standing()), START + HISTORY
        for last in ends:
            while first <= last:
                case = Case(made, {ACCOUNT.id: ACCOUNT}, days.frame(first, last))
                piece, reached = walk(case, result.standing, first, last, history)
                result, first = result.then(piece), reached + 1
        return result

    end = START + HISTORY + 300
    whole = lived([end])
    slots = list(asked)
    assert slots[0] == START + HISTORY + 100
    assert whole == lived(range(START + HISTORY, end + 1))
    assert slots == asked
