"""Verdicts: what a rule says of a minute, and why it sometimes cannot say anything."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
import pytest

from shared.engine.evaluate import FLOOR, HORIZON, Reason, Verdict, offsets, reach
from shared.engine.frame import Frame
from shared.model import Account, Fit
from shared.rulebook.ast import Baseline, BeforeChange, Deviation, Node, Signal, Window
from shared.rulebook.expressions import parse_condition
from shared.rulebook.rules import Rulebook
from shared.rulebook.typecheck import Names
from tests.engine.build import (
    ACCOUNT,
    CHAT,
    GOOD,
    NAN,
    REQUESTS,
    START,
    TTLT,
    Values,
    book,
    context,
    fit_of,
    frame,
    last_verdict,
    minutes,
    named,
    one_rule,
    rule_text,
    shipped_rule,
)

UNKNOWN, CLEAR, BETWEEN, BREACH = (
    Verdict.UNKNOWN,
    Verdict.CLEAR,
    Verdict.BETWEEN,
    Verdict.BREACH,
)
NO = Reason.NONE
LINE = "ttlt given tokens_per_answer"


def value(rulebook: Rulebook, data: Frame, node: Node, fits: Iterable[Fit] = ()) -> float:
    """The value of an expression in the last slot of `chat`."""
    made = context(rulebook, data, fits=fits)
    return float(made.value(node)[-1, made.windows.frame.deployments.index(CHAT)])


TRUE, FALSE, MAYBE = "requests > 1", "requests < 1", "ttlt > 1s"
"""Of a minute with five requests and no latency."""
KLEENE = {TRUE: 1, FALSE: -1, MAYBE: 0}


@pytest.mark.parametrize(("left", "right"), list(itertools.product(KLEENE, KLEENE)))
def test_what_is_unknown_decides_only_if_it_must(left: str, right: str) -> None:
    """and, or and not of true, false and unknown follow Kleene's tables."""
    made = one_rule(when="ttlt > 1s")
    names = Names({name: signal.unit for name, signal in made.signals.items()})
    found = context(made, frame(minutes(5, ok=5), 5))

    def truth(text: str) -> int:
        return int(found.truth(parse_condition(text, names))[-1, 0])

    assert truth(f"{left} and {right}") == min(KLEENE[left], KLEENE[right])
    assert truth(f"{left} or {right}") == max(KLEENE[left], KLEENE[right])
    assert truth(f"not ({left})") == -KLEENE[left]


@pytest.mark.parametrize(
    ("op", "below", "equal", "above"),
    [
        ("<", BREACH, CLEAR, CLEAR),
        ("<=", BREACH, BREACH, CLEAR),
        (">", CLEAR, CLEAR, BREACH),
        (">=", CLEAR, BREACH, BREACH),
        ("==", CLEAR, BREACH, CLEAR),
        ("!=", BREACH, CLEAR, BREACH),
    ],
)
def test_comparisons_mean_what_they_say(
    op: str, below: Verdict, equal: Verdict, above: Verdict
) -> None:
    """Each comparison holds on its side of the threshold, and at it as written."""
    made = one_rule(when=f"requests {op} 5", over="1m")
    for calls, expected in ((4, below), (5, equal), (6, above)):
        assert last_verdict(context(made, frame(minutes(1, ok=calls), 1))) == (expected, NO)


@pytest.mark.parametrize(
    ("ttlt", "verdict"), [(9_000, CLEAR), (11_000, BETWEEN), (13_000, BREACH), (NAN, UNKNOWN)]
)
def test_between_two_thresholds_it_is_neither(ttlt: float, verdict: Verdict) -> None:
    """With `until` there is a middle in which the rule says neither breach nor clear."""
    made = one_rule(when="ttlt > 12s", until="ttlt < 10s", over="1m")
    assert last_verdict(context(made, frame(minutes(1, ok=9, ttlt=ttlt), 1)))[0] == verdict


def test_without_until_what_is_no_breach_is_clear() -> None:
    """A rule without `until` knows breach, clear and unknown only."""
    made = one_rule(when="ttlt > 12s", over="1m")
    for ttlt, expected in ((12_000, CLEAR), (12_001, BREACH)):
        assert last_verdict(context(made, frame(minutes(1, ok=9, ttlt=ttlt), 1)))[0] == expected


def test_one_side_that_is_known_may_be_enough() -> None:
    """A breach or a clear that is certain counts although another part is missing."""
    made = one_rule(when="ttlt > 12s or requests > 100", until="requests < 50", over="1m")
    for calls, expected in ((200, BREACH), (20, CLEAR), (70, UNKNOWN)):
        assert last_verdict(context(made, frame(minutes(1, ok=calls), 1)))[0] == expected


def test_d07_one_request_and_one_failure_stays_unknown() -> None:
    """Below the minimum traffic a failure rate of 100 % says nothing."""
    made = shipped_rule("SuccessRateLow")
    data = frame(minutes(40, failed=[NAN] * 39 + [1]), 40)
    assert last_verdict(context(made, data)) == (UNKNOWN, Reason.TOO_LITTLE_TRAFFIC)


def test_a_total_outage_is_a_breach() -> None:
    """When every one of many requests fails the success rate is 0 and known."""
    made = shipped_rule("SuccessRateCollapsed")
    data = frame(minutes(40, failed=20), 40)
    assert last_verdict(context(made, data)) == (BREACH, NO)


@pytest.mark.parametrize("calls", [None, 0, NAN])
def test_a10_no_requests_are_idle_and_no_success_rate_of_zero(calls: Values) -> None:
    """Without requests there is no success rate, whether Azure says 0 or nothing."""
    made = shipped_rule("SuccessRateLow")
    assert last_verdict(context(made, frame(minutes(40, ok=calls), 40))) == (UNKNOWN, Reason.IDLE)


def test_a10_a_missing_point_is_not_zero() -> None:
    """A metric without a point while requests flow is no data, on either side of a threshold."""
    for when in ("ttlt < 1s", "ttlt > 1s"):
        made = one_rule(when=when)
        data = frame(minutes(9, ok=9), 9)
        assert last_verdict(context(made, data)) == (UNKNOWN, Reason.NO_DATA)


def test_a13_a_provisioned_metric_on_pay_as_you_go_is_not_applicable() -> None:
    """A deployment that never showed utilization has none, which is not a utilization of 0 %."""
    made = shipped_rule("ProvisionedCapacityUsedUp")
    data = frame(minutes(9, ok=9), 9)
    found = context(made, data, provisioned=False)
    assert last_verdict(found) == (UNKNOWN, Reason.NOT_APPLICABLE)
    low = one_rule(when="utilization < 5%")
    assert last_verdict(context(low, data, provisioned=False))[0] == UNKNOWN
    assert last_verdict(context(low, data)) == (UNKNOWN, Reason.NO_DATA)


def test_a27_an_empty_last_minute_is_no_anomaly() -> None:
    """A last bucket without points changes neither a mean nor a ratio of the window."""
    slow = one_rule(when="ttlt < 1s or tokens_per_answer < 100")
    full = minutes(9, ok=9, ttlt=4000, tokens=1800)
    last = [9.0] * 8 + [NAN]
    empty = minutes(9, ok=last, ttlt=[4000.0] * 8 + [NAN], tokens=[1800.0] * 8 + [NAN])
    for found in (full, empty):
        assert last_verdict(context(slow, frame(found, 9))) == (CLEAR, NO)
    lowest = one_rule(when="min(ttlt, 5m) < 1s", over="1m")
    assert last_verdict(context(lowest, frame(empty, 9))) == (CLEAR, NO)


def reason(
    calls: float = 9,
    failed: bool = False,
    provisioned: bool = True,
    fitted: bool = True,
    change: bool = True,
) -> Reason:
    """Why a rule that could fail for every reason is unknown."""
    made = one_rule(
        needs="requests >= 20",
        over="2m",
        when="utilization > 5% and ttlt > baseline(ttlt) and ttlt > before_change(ttlt, capacity)",
    )
    fits = [fit_of()] if fitted else []
    if change:
        fits.append(fit_of("before", given="capacity"))
    data = frame(minutes(9, ok=calls), 9, failed=[TTLT] if failed else [])
    return last_verdict(context(made, data, fits=fits, provisioned=provisioned))[1]


def test_reasons_are_told_most_telling_first() -> None:
    """Of all reasons that apply the first of the list is named, down to no data."""
    assert reason(0, failed=True, provisioned=False, fitted=False) == Reason.QUERY_FAILED
    assert reason(0, provisioned=False, fitted=False, change=False) == Reason.IDLE
    assert reason(5, provisioned=False, fitted=False) == Reason.NOT_APPLICABLE
    assert reason(5, change=False, fitted=False) == Reason.NOT_APPLICABLE
    assert reason(5, fitted=False) == Reason.TOO_LITTLE_TRAFFIC
    assert reason(15, fitted=False) == Reason.LEARNING
    assert reason(15) == Reason.NO_DATA


def test_reasons_have_words() -> None:
    """A reason is named in words that can be shown."""
    assert [r.words for r in Reason][1:] == [
        "query failed",
        "idle",
        "not applicable",
        "too little traffic",
        "learning",
        "no data",
    ]


def test_a_known_verdict_has_no_reason() -> None:
    """Only what is unknown needs a reason, even if a query for another part failed."""
    made = one_rule(when="requests > 5", over="1m")
    data = frame(minutes(3, ok=9), 3, failed=[GOOD])
    assert last_verdict(context(made, data)) == (BREACH, NO)


def test_a_failed_query_of_traffic_is_not_idle() -> None:
    """Requests that could not be asked for are not 0."""
    made = one_rule(when="success_rate < 5%")
    data = frame([], 9, failed=[REQUESTS, GOOD])
    assert last_verdict(context(made, data)) == (UNKNOWN, Reason.QUERY_FAILED)


def test_parameters_are_set_by_scope() -> None:
    """Each deployment is judged with the parameter of the override that covers it."""
    text = rule_text(
        when="ttlt > limit", over="1m", parameters="{limit: 10s}",
        overrides="[{scope: {deployments: [slow*]}, parameters: {limit: 30s}},"
        " {scope: {regions: [westus]}, parameters: {limit: 1s}}]",
    )  # fmt: skip
    made = book(f"rules:\n{text}\n")
    assert not made.errors
    found = [
        series
        for name in ("chat", "slow-one")
        for series in minutes(1, ok=9, ttlt=20_000, of=named(name))
    ]
    data = frame(found, 1)
    assert list(context(made, data).verdicts()[0][0]) == [BREACH, CLEAR]
    west = Account(ACCOUNT.id, "westus")
    assert list(context(made, data, account=west).verdicts()[0][0]) == [BREACH, BREACH]


def test_ago_is_the_same_window_earlier() -> None:
    """ago(x, 1d) is x over the rule's window a day before."""
    made = one_rule(when="ttlt > 2 * ago(ttlt, 1d)", over="3m")
    now = frame(minutes(5, ok=9, ttlt=5000), 5)
    before = frame(
        minutes(5, ok=[1, 1, 2, 1, 1], ttlt=[9, 9, 1000, 2000, 3000]), 5, start=START - 1440
    )
    found = context(made, now, earlier={1440: before})
    assert found.value(made.rules[0].when.right)[-1, 0] == 2 * 1750  # type: ignore[union-attr]
    assert last_verdict(found) == (BREACH, NO)
    assert offsets(made.rules[0]) == {1440}


def test_ago_without_points_is_unknown() -> None:
    """Where there was nothing a day ago there is nothing to compare with."""
    made = one_rule(when="ttlt > 2 * ago(ttlt, 1d)", over="3m")
    found = context(
        made,
        frame(minutes(5, ok=9, ttlt=5000), 5),
        earlier={1440: frame([], 5, start=START - 1440)},
    )
    assert last_verdict(found) == (UNKNOWN, Reason.NO_DATA)


def test_own_windows_reach_as_far_as_they_say() -> None:
    """avg, min, max and sum look at their own minutes, whatever the rule's window is."""
    ramp = [float(n) for n in range(1, 11)]
    made = one_rule(when="avg(ttlt, 10m) > 1s", over="1m")
    data = frame(minutes(10, ok=ramp, ttlt=[n * 1000 for n in ramp]), 10)
    assert value(made, data, Window("max", "ttlt", 4)) == 10_000
    assert value(made, data, Window("min", "ttlt", 4)) == 7_000
    assert value(made, data, Window("sum", "requests", 4)) == 34
    assert value(made, data, Window("avg", "requests", 4)) == 8.5
    assert value(made, data, Window("avg", "ttlt", 2)) == pytest.approx((81 + 100) / 19 * 1000)
    assert value(made, data, Signal("ttlt")) == 10_000
    assert reach(made.rules[0]) == 10


def test_the_mean_minute_of_a_formula_of_totals_is_a_minutes() -> None:
    """avg() of a difference of totals is a mean a minute, as avg() of the totals is."""
    made = one_rule(
        signals="signals:\n"
        "  requests: {metric: AzureOpenAIRequests, aggregation: total, unit: requests}\n"
        "  ok: {metric: AzureOpenAIRequests, aggregation: total, where: {StatusCode: 2xx},"
        " unit: requests}\n"
        "  lost: {formula: requests - ok, unit: requests}\n"
        '  share: {formula: ok / requests, unit: "%"}\n',
        when="avg(lost, 10m) > 1 and sum(lost, 10m) > 5 and avg(share, 10m) < 99%",
        over="1m",
    )
    data = frame(minutes(20, ok=3, failed=1), 20)
    assert value(made, data, Window("avg", "lost", 10)) == 1
    assert value(made, data, Window("sum", "lost", 10)) == 10
    assert value(made, data, Window("avg", "share", 10)) == 75


def normal(tokens: float, ttlt: float = 1000, calls: float = 1) -> tuple[Rulebook, Frame]:
    made = one_rule(when=f"ttlt > baseline({LINE}) and deviation({LINE}) > 4", over="1m")
    return made, frame(minutes(1, ok=calls, ttlt=ttlt, tokens=tokens * calls), 1)


STRAIGHT = fit_of(
    "line", "ttlt", "tokens_per_answer",
    intercept=500.0, slope=10.0, low=100.0, high=200.0, spread=0.3,
)  # fmt: skip


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (100, 1500.0),
        (150, 2000.0),
        (200, 2500.0),
        (250, 3000.0),
        (251, 2500 * 251 / 200),
        (400, 5000.0),
        (75, 1250.0),
        (10, 600.0),
    ],
)
def test_beyond_what_was_seen_the_larger_expectation_counts(tokens: float, expected: float) -> None:
    """Near the seen range the line is trusted; far above it, time grows at least with tokens."""
    made, data = normal(tokens)
    node = Baseline("ttlt", "tokens_per_answer")
    assert value(made, data, node, [STRAIGHT]) == pytest.approx(expected)


@pytest.mark.parametrize("calls", [1, 5, 500])
def test_deviation_is_stricter_with_few_requests(calls: int) -> None:
    """A window of five requests needs more evidence than one of five hundred."""
    made, data = normal(100, ttlt=3000, calls=calls)
    expected = (3000 / 1500 - 1) / np.sqrt(0.3**2 / calls + FLOOR**2)
    found = value(made, data, Deviation("ttlt", "tokens_per_answer"), [STRAIGHT])
    assert found == pytest.approx(expected)


def test_deviation_counts_the_requests_of_the_window() -> None:
    """The requests are those of the window that was chosen, not of one minute."""
    made = one_rule(when="deviation(ttlt) > 4", over="5m")
    data = frame(minutes(9, ok=4, ttlt=2000), 9)
    found = value(made, data, Deviation("ttlt"), [fit_of(spread=0.4)])
    assert found == pytest.approx(1 / np.sqrt(0.4**2 / 20 + FLOOR**2))


def test_a_spread_of_zero_is_not_believed() -> None:
    """However steady the past, the least spread is five percent."""
    made = one_rule(when="deviation(ttlt) > 4", over="1m")
    data = frame(minutes(1, ok=1_000_000, ttlt=1200), 1)
    assert value(made, data, Deviation("ttlt"), [fit_of(spread=0.0)]) == pytest.approx(4)


def test_what_has_no_fit_is_learning() -> None:
    """Without a baseline, or with one that was not ready, nothing is guessed."""
    made = one_rule(when="ttlt > 2 * baseline(ttlt)", over="1m")
    data = frame(minutes(1, ok=9, ttlt=9000), 1)
    assert last_verdict(context(made, data)) == (UNKNOWN, Reason.LEARNING)
    tried = fit_of()
    unready = Fit(**{**{n: getattr(tried, n) for n in tried.__struct_fields__}, "ready": False})
    assert last_verdict(context(made, data, fits=[unready])) == (UNKNOWN, Reason.LEARNING)
    assert last_verdict(context(made, data, fits=[tried])) == (BREACH, NO)


def test_only_what_the_condition_compares_with_is_waited_for() -> None:
    """A baseline that only the summary shows is not learned before the rule is judged."""
    made = one_rule(when="utilization > 5%", over="1m", summary='"{baseline(ttlt)}"')
    data = frame(minutes(1, ok=9, ttlt=9000), 1)
    assert last_verdict(context(made, data)) == (UNKNOWN, Reason.NO_DATA)


def before(age: int, pinned: bool = False) -> tuple[Verdict, Reason]:
    """The verdict in the last slot, so many minutes after the change."""
    made = one_rule(when="ttlt > 2 * before_change(ttlt, capacity)", over="1m")
    data = frame(minutes(200, ok=9, ttlt=9000), 200)
    fit = fit_of("before", given="capacity", slot=START + 199 - age)
    return last_verdict(context(made, data, fits=[fit], pinned=pinned))


def test_a_change_counts_for_two_hours() -> None:
    """What happens later than the horizon, or before the change, is not put down to it."""
    assert before(0) == (BREACH, NO)
    assert before(HORIZON) == (BREACH, NO)
    assert before(HORIZON + 1) == (UNKNOWN, Reason.NOT_APPLICABLE)
    assert before(-1) == (UNKNOWN, Reason.NOT_APPLICABLE)


def test_an_episode_holds_on_to_its_change() -> None:
    """While an alert lives, its change does not grow too old."""
    assert before(HORIZON + 1, pinned=True) == (BREACH, NO)


def test_without_a_recorded_change_there_is_nothing_before_it() -> None:
    """A rule on changes does not apply where none is recorded."""
    made = shipped_rule("CacheMatchRateDroppedAfterTemplateChange")
    data = frame(minutes(40, ok=9, prompt=99, cached=1), 40)
    assert last_verdict(context(made, data)) == (UNKNOWN, Reason.NOT_APPLICABLE)


def test_before_change_is_a_value() -> None:
    """before_change(x, KIND) is the level of the hour before."""
    made = one_rule(when="ttlt > 2 * before_change(ttlt, capacity)", over="1m")
    data = frame(minutes(1, ok=9, ttlt=9000), 1)
    fit = fit_of("before", given="capacity", level=800.0)
    assert value(made, data, BeforeChange("ttlt", "capacity"), [fit]) == 800


def test_windows_begin_no_earlier_than_a_change() -> None:
    """After a change a window holds only minutes from its slot on."""
    made = one_rule(when="ttlt > 5s", over="5m")
    data = frame(minutes(9, ok=1, ttlt=[9000] * 6 + [1000] * 3), 9)
    assert context(made, data).value(Signal("ttlt"))[-1, 0] == pytest.approx((2 * 9 + 3) / 5 * 1000)
    found = context(made, data, begin=START + 6)
    assert list(found.lengths[:, 0]) == [0, 0, 0, 0, 0, 0, 1, 2, 3]
    assert found.value(Signal("ttlt"))[-1, 0] == 1000
    assert found.verdicts()[0][5, 0] == UNKNOWN


def test_a_window_that_has_not_begun_is_learning() -> None:
    """Before the first minute that counts there is nothing to judge yet."""
    made = one_rule(when="ttlt > 5s", over="5m")
    data = frame(minutes(9, ok=1, ttlt=9000), 9)
    assert last_verdict(context(made, data, begin=START + 9)) == (UNKNOWN, Reason.LEARNING)


def test_a_growing_window_stops_at_a_change() -> None:
    """A window never grows back over a change to find traffic enough."""
    made = one_rule(when="ttlt > 5s", needs="requests >= 5", over="2m..8m")
    data = frame(minutes(9, ok=1, ttlt=9000), 9)
    found = context(made, data, begin=START + 5)
    assert last_verdict(found) == (UNKNOWN, Reason.TOO_LITTLE_TRAFFIC)
    assert last_verdict(context(made, data, begin=START + 4)) == (BREACH, NO)


def test_verdicts_are_the_same_in_pieces() -> None:
    """Judging many slots at once says of each what judging it alone says."""
    generator = np.random.default_rng(5)
    calls = generator.integers(0, 4, 60).astype(float)
    ttlt = np.where(generator.random(60) < 0.3, NAN, generator.lognormal(8, 1, 60))
    made = one_rule(
        when="ttlt > 4s and max(ttlt, 7m) > 6s",
        until="ttlt < 3s",
        needs="requests >= 6",
        over="2m..9m",
    )
    data = frame(minutes(60, ok=calls, ttlt=ttlt, used=5), 60)
    verdicts, reasons = context(made, data).verdicts()
    assert set(verdicts[:, 0]) == {BREACH, CLEAR, BETWEEN, UNKNOWN}
    for row in range(60):
        alone = context(made, data, first=row, count=1).verdicts()
        assert (alone[0][0, 0], alone[1][0, 0]) == (verdicts[row, 0], reasons[row, 0])


def test_a_needed_signal_that_is_missing_is_no_lack_of_traffic() -> None:
    """`needs` over a silent metric is `no data`: only traffic that was counted is too little."""
    rulebook = one_rule(when="success_rate < 95%", needs="ttlt > 1s", over="1m")
    assert last_verdict(context(rulebook, frame(minutes(5, ok=9), 5))) == (UNKNOWN, Reason.NO_DATA)


def test_an_average_whose_weight_could_not_be_read_is_not_known() -> None:
    """Latency is there, the requests that weigh it failed: `query failed`, not some other mean."""
    rulebook = one_rule(when="ttlt > 1s", over="5m")
    weight = rulebook.components("successful_requests")
    data = frame(minutes(9, ok=9, ttlt=5000.0), 9, failed=weight)
    assert last_verdict(context(rulebook, data)) == (UNKNOWN, Reason.QUERY_FAILED)
