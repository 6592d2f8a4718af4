"""The expression language: what it means, what it refuses, and how it says so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.rulebook.ast import (
    Ago,
    Baseline,
    BeforeChange,
    Binary,
    Compare,
    Deviation,
    Logic,
    Node,
    Number,
    Parameter,
    Signal,
    Window,
    signals_of,
    text_of,
)
from shared.rulebook.expressions import (
    CHANGE_KINDS,
    MAX_DEPTH,
    MAX_LENGTH,
    parse,
    parse_condition,
    parse_value,
)
from shared.rulebook.problems import AlreadyToldError, ExpressionError
from shared.rulebook.typecheck import Names
from shared.rulebook.units import BARE, MS, PERCENTS, parse_unit

NAMES = Names(
    {
        "ttlt": MS,
        "requests": parse_unit("requests"),
        "tokens": parse_unit("tokens"),
        "tokens_per_answer": parse_unit("tokens/request"),
        "success_rate": PERCENTS,
        "time_per_token": parse_unit("ms/token"),
        "speed": parse_unit("tokens/s"),
        "cache_match_rate": PERCENTS,
    },
    {"limit": MS, "factor": BARE},
    frozenset({"wrong"}),
)


def refusal(text: str) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        parse(text, NAMES)
    return caught.value


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("requests + 2 * 3 > 7", "(requests + (2 * 3)) > 7"),
        ("2 - 3 - requests > 1", "((2 - 3) - requests) > 1"),
        ("2 / 3 / 4 > requests", "((2 / 3) / 4) > requests"),
        ("-requests * 2 < 1", "((0 - requests) * 2) < 1"),
        ("2 - -requests > 1", "(2 - (0 - requests)) > 1"),
        (
            "requests > 1 or requests > 2 and requests > 3",
            "(requests > 1) or ((requests > 2) and (requests > 3))",
        ),
        (
            "not requests > 1 and requests < 2",
            "(not (requests > 1)) and (requests < 2)",
        ),
        (
            "(requests > 1 or requests > 2) and requests > 3",
            "((requests > 1) or (requests > 2)) and (requests > 3)",
        ),
        ("not not requests == 1", "not (not (requests == 1))"),
        ("(((ttlt)))>10s", "ttlt > 10s"),
        ("ttlt\n>\t10s", "ttlt > 10s"),
    ],
)
def test_precedence_is_that_of_python(text: str, meaning: str) -> None:
    """Operators bind as in Python, from or (weakest) to the minus sign (strongest)."""
    assert parse(text, NAMES) == parse(meaning, NAMES)


def test_each_function_becomes_its_own_node() -> None:
    """Every function of the language is understood with its arguments."""
    expected: dict[str, Node] = {
        "avg(ttlt, 15m)": Window("avg", "ttlt", 15),
        "min(ttlt, 1h)": Window("min", "ttlt", 60),
        "max(ttlt, 120s)": Window("max", "ttlt", 2),
        "sum(requests, 1m)": Window("sum", "requests", 1),
        "ago(ttlt, 1d)": Ago("ttlt", 1440),
        "ago(ttlt, 7d)": Ago("ttlt", 10080),
        "baseline(ttlt)": Baseline("ttlt"),
        "baseline(ttlt given tokens_per_answer)": Baseline("ttlt", "tokens_per_answer"),
        "deviation(ttlt)": Deviation("ttlt"),
        "deviation(ttlt given tokens_per_answer)": Deviation("ttlt", "tokens_per_answer"),
        "limit": Parameter("limit", MS),
        "ttlt": Signal("ttlt"),
    }
    for text, node in expected.items():
        assert parse(text, NAMES) == node
    for kind in CHANGE_KINDS:
        text = f"before_change(cache_match_rate, {kind})"
        assert parse(text, NAMES) == BeforeChange("cache_match_rate", kind)


def test_units_of_numbers_are_no_keywords() -> None:
    """What may follow a number may be a name as well, where no number is before it."""
    names = Names(dict.fromkeys(["s", "m", "ms", "h", "d", "k", "M"], BARE))
    node = parse("s > 1 and m * ms > 2k and h / d > 3 and k + M > 4", names)
    assert signals_of(node) == ("s", "m", "ms", "h", "d", "k", "M")


def test_keywords_may_begin_a_name() -> None:
    """A name that only begins with a keyword is a name."""
    names = Names({"notes": BARE, "order": BARE, "android": BARE, "given_up": BARE})
    node = parse("not notes > 1 and order > 2 or android > given_up", names)
    assert signals_of(node) == ("notes", "order", "android", "given_up")


@pytest.mark.parametrize(
    ("text", "column"),
    [("1 < requests < 5", 14), ("ttlt > 1s == 1", 11), ("requests == 1 != 2", 15)],
)
def test_chained_comparisons_are_refused(text: str, column: int) -> None:
    """A second comparison is refused where it stands, with the way to write it."""
    error = refusal(text)
    assert error.column == column
    assert error.cure == "Comparisons cannot be chained: join two of them with `and`."


@pytest.mark.parametrize(
    ("text", "column", "cure"),
    [
        ("ttlt > 10", 1, "Write the unit of time: 10ms or 10s."),
        ("requests > 1 and 10 < ttlt", 18, "Write the unit of time: 10ms or 10s."),
        ("success_rate < 95", 1, "Write the percent sign: 95%."),
        ("success_rate < 0.95", 1, "Write the percent sign: 95%."),
        ("success_rate - 5 < 95%", 1, "Write the percent sign: 5%."),
        ("ttlt > 2k", 1, "Write the unit of time: 2000ms or 2000s."),
        ("time_per_token > 50", 1, "Write the unit of time: 50ms or 50s."),
        ("speed > 50", 1, "Say how much time: 50 / 1s for a second, 50 / 1m for a minute."),
        ("success_rate < factor", 1, "Give the parameter its unit, e.g. factor: 10%."),
        ("time_per_token > 5%", 1, ""),
        ("time_per_token > ttlt", 1, ""),
        ("time_per_token + ttlt > 5s", 1, ""),
        ("ttlt > 95%", 1, ""),
        ("ttlt > success_rate", 1, ""),
        ("requests > tokens", 1, ""),
        ("requests > 5s", 1, ""),
        ("requests / requests > 5%", 1, ""),
        ("ttlt > factor", 1, "Give the parameter its unit, e.g. factor: 10s."),
        ("tokens + requests > 5", 1, ""),
    ],
)
def test_units_that_do_not_fit_are_refused_with_a_cure(text: str, column: int, cure: str) -> None:
    """Unlike units are named with column, and where a unit was forgotten it is asked for."""
    error = refusal(text)
    assert (error.column, error.cure) == (column, cure)
    assert " with " in error.message


@pytest.mark.parametrize(
    "text",
    [
        "ttlt > 250ms",
        "ttlt > limit * factor",
        "ttlt / 1s > 2",
        "ttlt / ttlt > 1.5",
        "success_rate < 95%",
        "0.5 * success_rate < 95%",
        "requests >= 5",
        "5 <= requests",
        "tokens_per_answer > 2k",
        "tokens / requests > tokens_per_answer",
        "time_per_token > 50ms",
        "50ms < time_per_token",
        "time_per_token > 1.5 * limit",
        "time_per_token - 20ms > 30ms",
        "time_per_token * tokens_per_answer > 10s",
        "ttlt > 1.3 * time_per_token * tokens_per_answer",
        "ttlt / tokens_per_answer > time_per_token",
        "speed < 50 / 1s",
        "speed < 3k / 1m",
        "success_rate / tokens_per_answer < 5%",
        "deviation(ttlt) > 4",
        "ttlt > 1.3 * baseline(ttlt)",
        "-ttlt < 5s",
        "before_change(cache_match_rate, prompt_template) - cache_match_rate > 10%",
    ],
)
def test_units_that_fit_are_accepted(text: str) -> None:
    """Times with times, percents with percents; what is counted goes without in a number."""
    assert parse_condition(text, NAMES)


@pytest.mark.parametrize(
    ("text", "bare", "cured"),
    [
        ("ttlt > 2k", "2k", ["2000ms", "2000s"]),
        ("ttlt > 1.5", "1.5", ["1.5ms", "1.5s"]),
        ("time_per_token > 1M", "1M", ["1000000ms", "1000000s"]),
        ("success_rate < 0.955", "0.955", ["95.5%"]),
        ("success_rate < 95", "95", ["95%"]),
        ("speed > 2k", "2k", ["2k / 1s", "2k / 1m"]),
    ],
)
def test_a_number_with_the_unit_that_is_asked_for_is_accepted(
    text: str, bare: str, cured: list[str]
) -> None:
    """What a cure proposes is understood when it is written."""
    cure = refusal(text).cure
    for number in cured:
        assert number in cure
        assert parse(text.replace(bare, number), NAMES)


def test_a_sum_with_a_number_has_the_unit_of_the_other_side() -> None:
    """A number states its time only, so that what it is added to says what it is per."""
    for text in ("time_per_token + 5ms", "5ms + time_per_token", "2 * 5ms + time_per_token"):
        assert parse_value(text, NAMES)[1] == parse_unit("ms/token")


@pytest.mark.parametrize(
    "text", ["ttlt / 0 > 1s", "ttlt / 0s > 1", "requests / (2 - 2) > 1", "1 / (0 * 5) > requests"]
)
def test_a_division_by_nought_is_refused(text: str) -> None:
    """What divides by 0 has no value and would be unknown for ever."""
    assert "divides by 0" in refusal(text).message


@pytest.mark.parametrize(
    "text", ["wrong > 1s", "baseline(wrong) > 1s", "baseline(ttlt given wrong) > 1s"]
)
def test_who_mentions_what_is_wrong_is_not_to_blame(text: str) -> None:
    """A name whose own definition is wrong is not called unknown."""
    assert isinstance(refusal(text), AlreadyToldError)


def test_where_nothing_is_known_nothing_is_listed() -> None:
    """Without signals there are none to propose."""
    with pytest.raises(ExpressionError) as caught:
        parse("ttlt > 1s", Names({}))
    assert caught.value.cure == ""


@pytest.mark.parametrize(
    ("text", "message", "cure", "column"),
    [
        ("ttl > 10s", "unknown signal ttl", "Did you mean ttlt?", 1),
        ("requests > 1 and sucess_rate < 5%", "unknown signal sucess_rate",
         "Did you mean success_rate?", 18),
        ("baseline(ttlt given token_per_answer) > 1s", "unknown signal token_per_answer",
         "Did you mean tokens_per_answer?", 21),
        ("baseline(tlt given tokens) > 1s", "unknown signal tlt", "Did you mean ttlt?", 10),
        ("bseline(ttlt) > 1s", "unknown function bseline", "Did you mean baseline?", 1),
        ("TTLT > 1s", "unknown signal TTLT", "Did you mean ttlt?", 1),
        ("AVG(ttlt, 5m) > 1s", "unknown function AVG", "Did you mean avg?", 1),
        ("ttlt > baseline", "baseline is a function",
         "Write it like baseline(ttlt) or baseline(ttlt given tokens_per_answer).", 8),
        ("ttlt > limt", "unknown signal limt", "Did you mean limit?", 8),
        ("before_change(cache_match_rate, prompt) > 1%", "unknown kind of change",
         "Known kinds: capacity, content_filter, model_version, other, prompt_template, sku.", 1),
        ("before_change(cache_match_rate, model_versions) > 1%", "unknown kind of change",
         "Did you mean model_version?", 1),
    ],
)  # fmt: skip
def test_unknown_names_bring_the_nearest_known_one(
    text: str, message: str, cure: str, column: int
) -> None:
    """A misspelt signal, parameter, function or kind is answered with what was meant."""
    error = refusal(text)
    assert (error.message, error.cure, error.column) == (message, cure, column)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("avg(ttlt)", "takes 2 arguments"),
        ("avg()", "takes 2 arguments"),
        ("avg(ttlt, 5m, 5m)", "takes 2 arguments"),
        ("avg(ttlt, 15)", "whole minutes"),
        ("avg(ttlt, 90s)", "whole minutes"),
        ("avg(ttlt, limit)", "whole minutes"),
        ("avg(ttlt, ttlt)", "whole minutes"),
        ("avg(ttlt, 0m)", "reaches from 1 minute"),
        ("avg(ttlt, 61m)", "to 60 minutes"),
        ("avg(limit, 5m)", "takes the name of a signal"),
        ("avg(ttlt + ttlt, 5m)", "takes the name of a signal"),
        ("max(requests > 1, 5m)", "takes the name of a signal"),
        ("sum(5, 5m)", "takes the name of a signal"),
        ("min(ttlt given tokens, 5m)", "given stands only in"),
        ("ago(ttlt)", "takes 2 arguments"),
        ("ago(ttlt, 8d)", "to 10080 minutes"),
        ("ago(baseline(ttlt), 1d)", "takes the name of a signal"),
        ("baseline()", "takes 1 argument"),
        ("baseline(ttlt, tokens)", "takes 1 argument"),
        ("baseline(limit)", "takes the name of a signal"),
        ("baseline(baseline(ttlt))", "takes the name of a signal"),
        ("baseline(limit given tokens)", "unknown signal limit"),
        ("deviation(10s)", "takes the name of a signal"),
        ("before_change(cache_match_rate)", "takes 2 arguments"),
        ("before_change(cache_match_rate, 5m)", "unknown kind"),
        ("before_change(5%, sku)", "takes the name of a signal"),
        ("ttlt given tokens", "not expected"),
        ("and", "keyword"),
        ("", "ends too early"),
        ("ttlt >", "ends too early"),
        ("(ttlt", "ends too early"),
        ("ttlt)", "not expected"),
        ("requests > " + "9" * 400, "too large a number"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, part: str) -> None:
    """Every function insists on its arguments, and syntax errors say what they stumbled over."""
    assert part in refusal(text).message


def test_conditions_and_values_are_not_confused() -> None:
    """A condition is no value and a value is no condition, inside and outside."""
    with pytest.raises(ExpressionError, match="a value stands where a condition"):
        parse_condition("ttlt", NAMES)
    with pytest.raises(ExpressionError, match="a condition stands where a value"):
        parse_value("ttlt > 1s", NAMES)
    assert "condition is wanted" in refusal("ttlt > 1s and requests").message
    assert "condition is wanted" in refusal("not requests").message
    assert "value is wanted" in refusal("requests + (requests > 1) > 2").message
    assert parse_value("ttlt / 1s", NAMES)[1] == BARE


def test_long_expressions_are_refused() -> None:
    """An expression ends somewhere: what is longer is refused, not read."""
    long = " and ".join(["requests > 1"] * 200)
    assert len(long) > MAX_LENGTH
    assert "longer than" in refusal(long).message
    assert parse(long[: long.rindex(" and ", 0, MAX_LENGTH)], NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "+".join(["requests"] * 200) + " > 1",
        "not\n" * 400 + "requests > 1",
        "- " * 900 + "requests > 1",
        "(1 + " * 300 + "requests" + ")" * 300 + " > 1",
    ],
)
def test_deep_nesting_is_refused_however_it_is_written(text: str) -> None:
    """Sums, signs, negations and parentheses may not be stacked without end."""
    assert "nested too deeply" in refusal(text).message


def test_nesting_up_to_the_limit_is_read_and_written_again() -> None:
    """The deepest expression that is accepted can be shown and read back."""
    node = parse("+".join(["requests"] * (MAX_DEPTH - 2)) + " > 1", NAMES)
    assert parse(text_of(node), NAMES) == node


def test_signals_are_named_once_in_order() -> None:
    """What an expression mentions is listed once, the other side of `given` included."""
    text = "ttlt > baseline(ttlt given tokens) and avg(requests, 5m) > 1 and requests > 2"
    assert signals_of(parse(text, NAMES), None) == ("ttlt", "tokens", "requests")


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_understood_or_refused(text: str) -> None:
    """Reading an expression raises ExpressionError and nothing else."""
    try:
        parse(text, NAMES)
    except ExpressionError as error:
        assert 1 <= error.column <= len(text) + 1


WORDS = [
    *NAMES.signals, *NAMES.parameters, "avg(", "ago(", "baseline(", "deviation(", "before_change(",
    "(", ")", ",", "given", "and", "or", "not", "+", "-", "*", "/", "<", "<=", "==", "!=", ">",
    "5", "10s", "95%", "2k", "15m", "1d", "prompt_template", "\n", "=", "%", "x",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_any_words_are_understood_or_refused(words: list[str]) -> None:
    """Words of the language in any order are an expression or an ExpressionError."""
    text = " ".join(words)
    try:
        node = parse(text, NAMES)
    except ExpressionError as error:
        assert 1 <= error.column <= len(text) + 1
    else:
        assert parse(text_of(node), NAMES) == node


NUMBERS = st.sampled_from([Number(5.0, BARE, "5"), Number(2000.0, BARE, "2k"), Signal("requests"),
                           Window("avg", "requests", 5), Deviation("ttlt"), Ago("requests", 1440),
                           Parameter("factor", BARE)])  # fmt: skip
COUNTS = st.recursive(
    NUMBERS,
    lambda inner: st.builds(Binary, st.sampled_from("+-*"), inner, st.just(Number(3.0, BARE, "3"))),
    max_leaves=5,
)
TIMES = st.sampled_from([Signal("ttlt"), Number(1e4, MS, "10s"), Baseline("ttlt", "tokens")])
COMPARES = st.one_of(
    st.builds(Compare, st.sampled_from(["<", "<=", "==", "!=", ">", ">="]), COUNTS, NUMBERS),
    st.builds(Compare, st.sampled_from(["<", ">"]), TIMES, TIMES),
)
CONDITIONS = st.recursive(
    COMPARES,
    lambda inner: st.one_of(
        st.builds(
            Logic,
            st.sampled_from(["and", "or"]),
            st.lists(inner, min_size=2, max_size=3).map(tuple),
        ),
        st.builds(Logic, st.just("not"), inner.map(lambda node: (node,))),
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(CONDITIONS)
def test_what_is_written_reads_back_the_same(node: Node) -> None:
    """An expression survives being shown and read again, however it is built."""
    assert parse(text_of(node), NAMES) == node
