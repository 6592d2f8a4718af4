"""The life of an alert, generated from the table of the design and walked verdict by verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.engine.evaluate import Reason, Verdict
from shared.engine.lifecycle import Ending, Sight, Told, end, skip, step
from shared.model import STALE_AFTER, Alert, Slot, episode_id
from shared.rulebook.ast import Compare, Number, Signal
from shared.rulebook.rules import Hold, Rule
from shared.rulebook.units import BARE
from tests.engine.build import CHAT, START, fit_of

NO = Reason.NONE
Seen: TypeAlias = "tuple[Verdict, Reason]"
BREACH, CLEAR, BETWEEN = (
    (verdict, NO) for verdict in (Verdict.BREACH, Verdict.CLEAR, Verdict.BETWEEN)
)
QUIET = (Reason.IDLE, Reason.TOO_LITTLE_TRAFFIC)
LOUD = tuple(reason for reason in Reason if reason not in (*QUIET, NO))
GAP = (Verdict.UNKNOWN, Reason.NO_DATA)
IDLE = (Verdict.UNKNOWN, Reason.IDLE)
LITTLE = (Verdict.UNKNOWN, Reason.TOO_LITTLE_TRAFFIC)
FAILED = (Verdict.UNKNOWN, Reason.QUERY_FAILED)


def rule(hold: Hold | None = None, keep_firing: int = 10, op: str = ">") -> Rule:
    return Rule(
        "Own", "warning", "team", (), "runbooks/own.md",
        when=Compare(op, Signal("ttlt"), Number(5, BARE)),
        hold=hold or Hold(minutes=5), keep_firing=keep_firing,
    )  # fmt: skip


@dataclass(frozen=True)
class Walk:
    """An alert that is shown one verdict a slot."""

    rule: Rule
    alert: Alert | None = None
    slot: Slot = START
    told: tuple[Told, ...] = ()
    muted: str = ""
    gone: bool = False

    def then(self, *seen: Seen) -> Walk:
        alert, slot, told = self.alert, self.slot, self.told
        for verdict, reason in seen:
            alert, one = step(
                self.rule, alert, CHAT, Sight(slot, verdict, reason, None, self.muted, self.gone)
            )
            told, slot = (*told, one) if one else told, slot + 1
        return replace(self, alert=alert, slot=slot, told=told)

    @property
    def state(self) -> str:
        return self.alert.state if self.alert else "inactive"

    @property
    def story(self) -> list[tuple[str, int, str]]:
        """What was told, after how many minutes, and why it ended."""
        return [(told.kind, told.slot - START, told.reason) for told in self.told]


def inactive() -> Walk:
    return Walk(rule())


def pending() -> Walk:
    return Walk(rule()).then(BREACH)


def firing() -> Walk:
    return Walk(rule(Hold())).then(BREACH)


STATES = {"inactive": inactive, "pending": pending, "firing": firing}
UNCHANGED = ""

TABLE: list[tuple[str, Seen, int, str, str]] = [
    # state, what is seen, how often in a row, the state after it, what was told
    ("inactive", BREACH, 1, "pending", ""),
    ("inactive", BREACH, 5, "pending", ""),
    ("inactive", BREACH, 6, "firing", "fired"),
    ("inactive", CLEAR, 1, "inactive", ""),
    ("inactive", BETWEEN, 1, "inactive", ""),
    *[("inactive", (Verdict.UNKNOWN, r), 1, "inactive", "") for r in (*QUIET, *LOUD)],
    ("pending", BREACH, 4, "pending", ""),
    ("pending", BREACH, 5, "firing", "fired"),
    ("pending", CLEAR, 1, "inactive", ""),
    ("pending", BETWEEN, 500, "pending", ""),
    *[("pending", (Verdict.UNKNOWN, r), STALE_AFTER - 1, "pending", "") for r in (*QUIET, *LOUD)],
    *[("pending", (Verdict.UNKNOWN, r), STALE_AFTER, "inactive", "") for r in (*QUIET, *LOUD)],
    ("firing", BREACH, 500, "firing", ""),
    ("firing", CLEAR, 10, "firing", ""),
    ("firing", CLEAR, 11, "inactive", "resolved: recovered"),
    ("firing", BETWEEN, 500, "firing", ""),
    *[("firing", (Verdict.UNKNOWN, r), STALE_AFTER, "firing", "") for r in QUIET],
    ("firing", IDLE, STALE_AFTER + 1, "inactive", "resolved: no traffic"),
    ("firing", LITTLE, STALE_AFTER + 1, "inactive", "resolved: too little traffic"),
    *[("firing", (Verdict.UNKNOWN, r), 3 * STALE_AFTER, "firing", "") for r in LOUD],
]


@pytest.mark.parametrize(
    ("state", "seen", "times", "after", "told"),
    TABLE,
    ids=lambda value: value[1].name or value[0].name if isinstance(value, tuple) else None,
)
def test_the_table_of_states(state: str, seen: Seen, times: int, after: str, told: str) -> None:
    """Every state goes where the table says, at that minute, and tells just that."""
    begun = STATES[state]()
    made = begun.then(*[seen] * times)
    new = made.told[len(begun.told) :]
    assert made.state == after
    assert [t.kind + (f": {t.reason}" if t.reason else "") for t in new] == ([told] if told else [])


@pytest.mark.parametrize("reason", ["new normal", "rule removed", "no longer watched"])
@pytest.mark.parametrize("state", ["pending", "firing"])
def test_what_is_no_longer_there_ends(state: str, reason: Ending) -> None:
    """A firing alert whose deployment or rule is gone is told to be over, a pending one is not."""
    alert = STATES[state]().alert
    assert alert
    told = end(alert, START + 9, reason)
    if state == "pending":
        assert told is None
    else:
        assert told == Told("resolved", alert, START + 9, reason)


def test_d02_a_deployment_that_is_gone_ends_as_vanished() -> None:
    """After two hours without traffic, an alert whose deployment is gone ends as vanished."""
    made = replace(firing(), gone=True).then(*[IDLE] * (STALE_AFTER + 1))
    assert made.story[1:] == [("resolved", STALE_AFTER + 1, "vanished")]


def test_what_is_muted_is_told_when_it_still_fires_afterwards() -> None:
    """A silence mutes the telling, not the tracking: what still fires at its end is told then."""
    made = replace(Walk(rule(Hold())), muted="silenced").then(*[BREACH] * 5)
    assert (made.state, made.story) == ("firing", [])
    made = replace(made, muted="").then(GAP)
    assert made.story == [("fired", 5, "")]
    assert made.alert
    assert (made.alert.since, made.alert.muted) == (START, "")


def test_what_is_over_before_the_mute_ends_is_never_told() -> None:
    """Neither the beginning nor the end is told of an episode that a silence covers."""
    made = replace(Walk(rule(Hold(), keep_firing=2)), muted="silenced").then(BREACH, *[CLEAR] * 3)
    assert (made.state, made.story) == ("inactive", [])


def test_what_is_on_its_way_to_clear_is_not_told_late() -> None:
    """When a silence ends, an alert whose value is clear again waits for a breach to be told."""
    made = replace(Walk(rule(Hold())), muted="silenced").then(BREACH, CLEAR)
    made = replace(made, muted="").then(CLEAR)
    assert made.story == []
    assert made.then(BREACH).story == [("fired", 3, "")]


def test_the_end_is_told_although_it_is_muted() -> None:
    """Who was told that it fires is told that it is over, silence or not."""
    made = Walk(rule(Hold(), keep_firing=0)).then(BREACH)
    made = replace(made, muted="silenced").then(CLEAR)
    assert made.story == [("fired", 0, ""), ("resolved", 1, "recovered")]


def test_reminders_come_at_their_interval() -> None:
    """While it fires people are told again every `remind_every`, each time with the next number."""
    made = Walk(replace(rule(Hold()), remind_every=60)).then(*[BREACH] * 181)
    assert made.story == [("fired", 0, ""), *[("reminded", n, "") for n in (60, 120, 180)]]
    assert [told.alert.reminders for told in made.told] == [0, 1, 2, 3]


def test_d14_a_shorter_interval_holds_for_running_alerts() -> None:
    """An interval that is lowered in the rule file applies to what fires already."""
    made = Walk(replace(rule(Hold()), remind_every=240)).then(*[BREACH] * 100)
    made = replace(made, rule=replace(made.rule, remind_every=30)).then(BREACH)
    assert made.story == [("fired", 0, ""), ("reminded", 100, "")]


def test_muted_reminders_wait() -> None:
    """A reminder that falls into a silence comes when it ends, and the next an interval later."""
    made = Walk(replace(rule(Hold()), remind_every=60)).then(BREACH)
    made = replace(made, muted="silenced").then(*[BREACH] * 79)
    made = replace(made, muted="").then(*[BREACH] * 61)
    assert made.story == [("fired", 0, ""), ("reminded", 80, ""), ("reminded", 140, "")]


def test_an_observed_rule_reminds_nobody() -> None:
    """`mode: observe` shows the beginning and the end and nothing in between."""
    watched = replace(rule(Hold(), keep_firing=0), mode="observe", remind_every=5)
    made = Walk(watched).then(*[BREACH] * 30, CLEAR)
    assert made.story == [("fired", 0, ""), ("resolved", 30, "recovered")]
    assert not any(told.alert.told for told in made.told)


def test_a_rule_that_is_no_longer_observed_is_told_while_it_fires() -> None:
    """`mode: notify` applies to what fires already."""
    made = Walk(replace(rule(Hold()), mode="observe")).then(BREACH)
    made = replace(made, rule=rule(Hold())).then(BREACH)
    assert [told.alert.told for told in made.told] == [False, True]


def test_five_minutes_are_met_at_the_sixth_breach_in_a_row() -> None:
    """`for: 5m` needs five minutes to pass since the first breach, as in Prometheus."""
    made = Walk(rule()).then(*[BREACH] * 5)
    assert made.state == "pending"
    made = made.then(BREACH)
    assert made.story == [("fired", 5, "")]
    assert made.alert and made.alert.since == START and made.alert.fired == START + 5


@pytest.mark.parametrize("gap", [IDLE, LITTLE, GAP, FAILED, (Verdict.UNKNOWN, Reason.LEARNING)])
def test_d11_minutes_of_which_nothing_is_known_do_not_count(gap: Seen) -> None:
    """A gap of any kind neither shortens the time until firing nor starts it anew."""
    made = Walk(rule()).then(*[BREACH] * 3, *[gap] * 60, *[BREACH] * 2)
    assert made.state == "pending"
    assert made.then(BREACH).story == [("fired", 65, "")]


def test_minutes_between_the_thresholds_do_not_count() -> None:
    """What is neither breach nor clear keeps an alert pending, and where it was."""
    made = Walk(rule()).then(*[BREACH] * 5, *[BETWEEN] * 30)
    assert made.state == "pending"
    assert made.then(BREACH).story == [("fired", 35, "")]


def test_a_clear_minute_starts_the_waiting_anew() -> None:
    """One clear minute among the breaches is enough to begin again."""
    made = Walk(rule()).then(*[BREACH] * 5, CLEAR, *[BREACH] * 5)
    assert made.state == "pending"
    assert made.then(BREACH).story == [("fired", 11, "")]


def test_without_waiting_the_first_breach_fires() -> None:
    """`for: 0` fires at once."""
    assert Walk(rule(Hold())).then(BREACH).story == [("fired", 0, "")]


THREE_OF_FIVE = Hold(breaches=3, among=5)


@pytest.mark.parametrize(
    ("seen", "fires"),
    [
        ("BBB", 2),
        ("BCBCB", 4),
        ("BCCBB", 4),
        ("BCCCBB", None),
        ("BCCCBBB", 6),
        ("B?B?B", 4),
        ("B-B-B", 4),
        ("B--B-B", None),
        ("B???B???B", 8),
        ("B????B????B", None),
        ("BB????????B", None),
        ("BB???????B", 9),
    ],
)
def test_n_of_m_counts_known_minutes_near_each_other(seen: str, fires: int | None) -> None:
    """3 of 5: three breaches among the last five known minutes, which lie within ten."""
    signs = {"B": BREACH, "C": CLEAR, "-": BETWEEN, "?": GAP}
    made = Walk(rule(THREE_OF_FIVE)).then(*[signs[sign] for sign in seen])
    assert made.story == ([] if fires is None else [("fired", fires, "")])


def test_n_of_m_is_pending_while_a_breach_is_among_the_last() -> None:
    """With n of m a pending alert ends silently when the last breach has moved out."""
    made = Walk(rule(THREE_OF_FIVE)).then(BREACH, *[CLEAR] * 4)
    assert made.state == "pending"
    assert made.then(CLEAR).state == "inactive"
    assert not made.then(CLEAR).told


def test_an_alert_keeps_firing_until_clear_long_enough() -> None:
    """`keep_firing_for` is counted like `for`: ten minutes after the first clear one."""
    made = firing().then(*[CLEAR] * 10)
    assert made.state == "firing"
    assert made.then(CLEAR).story == [("fired", 0, ""), ("resolved", 11, "recovered")]


def test_without_keeping_the_first_clear_minute_ends_it() -> None:
    """`keep_firing_for: 0` resolves at once."""
    made = Walk(rule(Hold(), keep_firing=0)).then(BREACH, CLEAR)
    assert made.story == [("fired", 0, ""), ("resolved", 1, "recovered")]


def test_a_breach_starts_the_clear_count_anew() -> None:
    """One breach among the clear minutes means that they have to begin again."""
    made = firing().then(*[CLEAR] * 10, BREACH, *[CLEAR] * 10)
    assert made.state == "firing"
    assert made.then(CLEAR).story[-1] == ("resolved", 22, "recovered")


@pytest.mark.parametrize("other", [BETWEEN, GAP, IDLE])
def test_what_is_not_known_keeps_the_clear_count(other: Seen) -> None:
    """Minutes between the thresholds or without a verdict leave the clear count as it is."""
    made = firing().then(*[CLEAR] * 5, *[other] * 20, *[CLEAR] * 5)
    assert made.state == "firing"
    assert made.then(CLEAR).story[-1] == ("resolved", 31, "recovered")


def test_d12_between_two_thresholds_the_state_stays() -> None:
    """Neither a pending nor a firing alert moves while the value lies between."""
    for begun in (pending(), firing()):
        made = begun.then(*[BETWEEN] * 300)
        assert made.state == begun.state
        assert made.told == begun.told


@pytest.mark.parametrize("reason", LOUD)
def test_d01_firing_without_data_stays_firing_with_its_mark(reason: Reason) -> None:
    """An alert whose metric goes silent stays, says why, and is never resolved by that."""
    made = firing().then(*[(Verdict.UNKNOWN, reason)] * 1000)
    assert made.alert and made.alert.mark == reason.words
    assert made.state == "firing"
    assert len(made.told) == 1


def test_a_known_minute_takes_the_mark_off() -> None:
    """The mark lasts as long as nothing is known."""
    for known in (BREACH, BETWEEN, CLEAR):
        made = firing().then(GAP, known)
        assert made.alert and made.alert.mark == ""


@pytest.mark.parametrize("break_", [BREACH, BETWEEN, GAP, FAILED])
def test_only_unbroken_silence_ends_an_alert(break_: Seen) -> None:
    """Two hours of no traffic have to be of only that: anything else begins them anew."""
    made = firing().then(*[IDLE] * STALE_AFTER, break_, *[IDLE] * STALE_AFTER)
    assert made.state == "firing"
    assert made.then(IDLE).story[-1][0::2] == ("resolved", "no traffic")


def test_no_traffic_and_too_little_are_one_silence() -> None:
    """Both kinds of silence add up, and the last one names the end."""
    made = firing().then(*[IDLE] * 60, *[LITTLE] * 60)
    assert made.state == "firing"
    assert made.then(LITTLE).story[-1] == ("resolved", 121, "too little traffic")


def test_slots_that_nobody_judged_drop_what_was_pending() -> None:
    """After a gap in judging a pending alert is forgotten and a firing one holds."""
    one, two = pending().alert, firing().then(CLEAR, CLEAR).alert
    assert one and skip(one) is None
    assert two
    held = skip(two)
    assert held and (held.state, held.mark, held.clear) == ("firing", "unjudged", None)
    assert (held.since, held.fired) == (two.since, two.fired)


def test_after_slots_that_nobody_judged_the_clear_count_begins_anew() -> None:
    """What was clear before the gap says nothing of the gap."""
    alert = firing().then(*[CLEAR] * 10).alert
    assert alert
    made = Walk(rule(Hold()), skip(alert), START + 500).then(*[CLEAR] * 10)
    assert made.state == "firing"
    assert made.then(CLEAR).told[-1].reason == "recovered"


@pytest.mark.parametrize(("op", "worst"), [(">", 9.0), ("<", 2.0)])
def test_the_worst_value_is_kept_in_the_direction_of_the_rule(op: str, worst: float) -> None:
    """An alert remembers the highest value of a rule that looks up, the lowest of one down."""
    alert: Alert | None = None
    for n, value in enumerate([5.0, 9.0, None, 2.0, 4.0]):
        alert, _ = step(rule(op=op), alert, CHAT, Sight(START + n, Verdict.BREACH, value=value))
    assert alert and alert.worst == worst


def test_an_episode_keeps_the_fits_it_began_with() -> None:
    """What a later minute would be compared with does not change a living episode."""
    first, later = fit_of(level=1.0), fit_of(level=2.0)
    alert, _ = step(rule(), None, CHAT, Sight(START, Verdict.BREACH), (first,))
    alert, _ = step(rule(), alert, CHAT, Sight(START + 1, Verdict.BREACH), (later,))
    assert alert and alert.pins == (first,)


VERDICTS = st.sampled_from([BREACH, BREACH, BREACH, CLEAR, CLEAR, BETWEEN, IDLE, LITTLE, GAP])
RUNS = st.lists(
    st.tuples(VERDICTS, st.integers(1, 30) | st.just(STALE_AFTER + 1)), max_size=12
).map(lambda runs: [seen for seen, times in runs for _ in range(times)])
HOLDS = st.one_of(
    st.integers(0, 8).map(lambda n: Hold(minutes=n)),
    st.tuples(st.integers(1, 5), st.integers(0, 3)).map(lambda p: Hold(0, p[0], p[0] + p[1])),
)
RULES = st.builds(rule, HOLDS, st.integers(0, 12))


def ids(told: Iterable[Told]) -> list[tuple[str, str]]:
    """What the ids of events follow from: the episode and the kind."""
    return [(episode_id(t.alert.rule, t.alert.deployment, t.alert.since), t.kind) for t in told]


@settings(deadline=None)
@given(RULES, RUNS)
def test_fires_and_resolves_take_turns(one: Rule, seen: Sequence[Seen]) -> None:
    """Never two fires without an end between, never an end without its fire, no id twice."""
    made = Walk(one).then(*seen)
    kinds: list[str] = [told.kind for told in made.told]
    assert kinds == ["fired", "resolved"] * (len(kinds) // 2) + ["fired"] * (len(kinds) % 2)
    assert (made.state == "firing") == (len(kinds) % 2 == 1)
    assert len(set(ids(made.told))) == len(kinds)
    assert all(told.alert.since <= told.slot for told in made.told)
    for fired, resolved in zip(made.told[::2], made.told[1::2], strict=False):
        assert fired.alert.since == resolved.alert.since
        assert fired.slot < resolved.slot


@settings(deadline=None)
@given(RULES, RUNS, st.data())
def test_d10_pieces_are_the_same_as_the_whole(
    one: Rule, seen: Sequence[Seen], more: st.DataObject
) -> None:
    """Stopping anywhere and going on later changes nothing that is told or remembered."""
    cut = more.draw(st.integers(0, len(seen)))
    assert Walk(one).then(*seen[:cut]).then(*seen[cut:]) == Walk(one).then(*seen)


@settings(deadline=None)
@given(RULES, RUNS)
def test_a_fire_needs_the_breaches_that_were_asked_for(one: Rule, seen: Sequence[Seen]) -> None:
    """No alert fires on fewer breaches than its rule wants."""
    made = Walk(one).then(*seen)
    wanted = one.hold.breaches if one.hold.among else one.hold.minutes + 1
    for told in made.told[::2]:
        first, last = told.alert.since - START, told.slot - START
        breaches = [n for n in range(first, last + 1) if seen[n] == BREACH]
        assert seen[first] == seen[last] == BREACH
        assert len(breaches) >= wanted


@settings(deadline=None)
@given(RULES, RUNS, st.sampled_from([GAP, FAILED]), st.data())
def test_gaps_never_tell_anything(
    one: Rule, seen: Sequence[Seen], gap: Seen, more: st.DataObject
) -> None:
    """A short gap put anywhere is itself never the moment of a fire or an end."""
    at = more.draw(st.integers(0, len(seen)))
    before = Walk(one).then(*seen[:at])
    after = before.then(*[gap] * more.draw(st.integers(1, 50)))
    assert after.told == before.told
