"""Units: what fits with what, and how a value reads to a person."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.rulebook.literals import respelled
from shared.rulebook.problems import TextError
from shared.rulebook.unit import COUNTS
from shared.rulebook.units import (
    BARE,
    MS,
    PERCENTS,
    Unit,
    alike,
    compatible,
    parse_literal,
    parse_minutes,
    parse_unit,
    show,
)

LISTED = (
    "Use ms, s, %, 1, a count (calls, events, images, pages, requests, tokens), or a rate such as "
    "tokens/request."
)
TOKENS, REQUESTS, RATE = (parse_unit(text) for text in ("tokens", "requests", "tokens/request"))


@pytest.mark.parametrize(
    ("text", "bases"),
    [
        ("ms", (("ms", 1),)),
        ("s", (("ms", 1),)),
        ("%", (("%", 1),)),
        ("requests", (("request", 1),)),
        ("request", (("request", 1),)),
        ("tokens/request", (("request", -1), ("token", 1))),
        ("tokens/s", (("ms", -1), ("token", 1))),
        ("1/s", (("ms", -1),)),
        ("ms*requests/token", (("ms", 1), ("request", 1), ("token", -1))),
        ("tokens / request / call", (("call", -1), ("request", -1), ("token", 1))),
        ("%*ms", (("%", 1), ("ms", 1))),
        ("ms*ms", (("ms", 2),)),
        ("s/ms", ()),
        ("1", ()),
    ],
)
def test_units_are_told_by_their_bases(text: str, bases: tuple[tuple[str, int], ...]) -> None:
    """A unit is a product of bases, singular and plural alike."""
    assert parse_unit(text).bases == bases


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("bananas", LISTED),
        ("10s", LISTED),
        ("€", LISTED),
        ("", LISTED),
        ("/s", LISTED),
        ("tokens/", LISTED),
        ("tokens**2", LISTED),
        ("tokens per request", "Write tokens/request."),
        ("tokens per second", "Write tokens/s."),
        ("requests/minute", "Write requests/min."),
        ("ms per token", "Write ms/token."),
        ("tokenz/requst", "Write token/request."),
        ("Milliseconds", "Write ms."),
        ("percent", 'Write "%".'),
    ],
)
def test_what_is_no_unit_is_refused_with_the_nearest(text: str, cure: str) -> None:
    """A unit is times, percents and counts that exist; any other is answered with what is meant."""
    with pytest.raises(TextError, match="is no unit") as caught:
        parse_unit(text)
    assert caught.value.cure == cure
    if cure != LISTED:
        assert parse_unit(cure.removeprefix("Write ").rstrip(".").strip('"'))


BASES = st.sampled_from(["ms", "%", *COUNTS])
UNITS = st.dictionaries(BASES, st.integers(-3, 3).filter(bool), max_size=4).map(
    lambda powers: Unit(tuple(sorted(powers.items())))
)


@settings(deadline=None)
@given(UNITS)
def test_every_unit_reads_back_as_it_is_written(unit: Unit) -> None:
    """What a message calls a unit can be declared: it reads back as the same thing."""
    again = parse_unit(str(unit))
    assert alike(again, unit)
    assert again.scale == 1
    assert str(again) == str(unit)


@settings(deadline=None)
@given(UNITS, UNITS)
def test_units_multiply_and_divide_like_numbers(left: Unit, right: Unit) -> None:
    """A product divided again is what it was, in either order."""
    assert left * right / right == left
    assert left / right * right == left
    assert left * right == right * left


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        (MS / RATE, "ms/token"),
        (MS / RATE * RATE, "ms"),
        (MS * REQUESTS, "ms"),
        (RATE / MS, "tokens/ms"),
        (REQUESTS / MS, "requests/ms"),
        (MS * TOKENS, "ms*tokens"),
        (PERCENTS * MS, "ms*%"),
        (BARE / MS, "1/ms"),
        (BARE, "1"),
    ],
)
def test_beside_a_time_a_request_says_nothing(unit: Unit, text: str) -> None:
    """An average time is one of a request: per token it is ms/token, and not ms*requests/token."""
    assert str(unit) == text
    assert alike(parse_unit(text), unit)


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("5", 5, BARE),
        ("0.25", 0.25, BARE),
        ("95%", 95, PERCENTS),
        ("250ms", 250, MS),
        ("10s", 10_000, MS),
        ("15m", 900_000, MS),
        ("2h", 7_200_000, MS),
        ("1d", 86_400_000, MS),
        ("2k", 2_000, BARE),
        ("1M", 1_000_000, BARE),
    ],
)
def test_numbers_carry_their_unit(text: str, value: float, unit: object) -> None:
    """Times become milliseconds, percents stay 0 to 100, k and M are thousands and millions."""
    assert parse_literal(text) == (value, unit)


@pytest.mark.parametrize("text", ["", "x", "1e3", "-5", "5 s", ".5", "5.", "1,000", "5w", "9" * 20])
def test_what_is_no_number_is_refused(text: str) -> None:
    """Numbers have one spelling, and none that no metric can reach."""
    with pytest.raises(ValueError, match=r"no number|too large"):
        parse_literal(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("10 s", "10s"),
        ("10sec", "10s"),
        ("2 hours", "2h"),
        ("10S", "10s"),
        ("95 %", "95%"),
        ("95 percent", "95%"),
        ("1,000", "1000"),
        ("1_000", "1000"),
        ("1,5s", "1.5s"),
        ("1e3", "1000"),
        ("5e-1s", "0.5s"),
        (".5", "0.5"),
        ("5.", "5"),
        ("5K", "5k"),
        ("5 M", "5M"),
        ("5 m", "5m"),
        ("-5%", "5%"),
    ],
)
def test_a_number_in_another_spelling_is_answered_with_ours(text: str, meant: str) -> None:
    """What is meant as a number is named as the language writes it, and that can be read."""
    with pytest.raises(TextError) as caught:
        parse_literal(text)
    assert caught.value.cure.startswith(f"Write {meant}")
    assert parse_literal(meant)


@settings(deadline=None)
@given(st.from_regex(r"[0-9.,_e ]{1,8} ?[a-zA-Z%]{0,7}", fullmatch=True))
def test_what_is_proposed_as_a_number_is_one(text: str) -> None:
    """No proposal has to be mended again."""
    meant = respelled(text)
    assert not meant or parse_literal(meant)


@pytest.mark.parametrize(("text", "minutes"), [("5m", 5), ("2h", 120), ("0", 0), ("120s", 2)])
def test_durations_are_whole_minutes(text: str, minutes: int) -> None:
    """A duration is given in any unit of time as long as it makes whole minutes."""
    assert parse_minutes(text) == minutes


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("5", "Write 5m for minutes."),
        ("90s", "Write 1m or 2m."),
        ("5 min", "Write 5m."),
        ("5minutes", "Write 5m."),
        ("1,5h", "Write 1.5h."),
        ("5%", "Write it like 5m or 2h."),
        ("2k", "Write it like 5m or 2h."),
        ("2.5", "Write it like 5m or 2h."),
        ("soon", "Write it like 5m or 2h."),
        ("", "Write it like 5m or 2h."),
        ("9" * 400 + "m", "Write it like 5m or 2h."),
    ],
)
def test_what_is_no_duration_is_refused_with_a_cure(text: str, cure: str) -> None:
    """A bare number, parts of a minute, other spellings and the absurd are no durations."""
    with pytest.raises(TextError, match=r"no duration|whole number") as caught:
        parse_minutes(text)
    assert caught.value.cure == cure


@pytest.mark.parametrize(
    ("left", "right", "fits"),
    [
        (MS, parse_unit("s"), True),
        (PERCENTS, PERCENTS, True),
        (REQUESTS, BARE, True),
        (BARE, RATE, True),
        (MS, BARE, False),
        (PERCENTS, BARE, False),
        (MS, PERCENTS, False),
        (TOKENS, REQUESTS, False),
        (parse_unit("tokens/s"), BARE, False),
        (MS / RATE, parse_unit("ms/token"), True),
        (MS / RATE * RATE, MS, True),
        (MS / RATE, MS, False),
        (MS / RATE, BARE, False),
    ],
)
def test_only_like_units_fit_and_counts_with_bare_numbers(
    left: object, right: object, fits: bool
) -> None:
    """Times and percents never fit a bare number, counts do, unlike counts do not."""
    assert compatible(left, right) is fits  # type: ignore[arg-type]
    assert compatible(right, left) is fits  # type: ignore[arg-type]


def test_quotients_of_units_are_rates_or_bare_ratios() -> None:
    """Unlike counts make a rate, like units cancel, and multiplying undoes it."""
    assert TOKENS / REQUESTS == RATE
    assert MS / MS == BARE
    assert RATE * REQUESTS == TOKENS
    assert str(TOKENS / REQUESTS) == "tokens/request"


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (4200, MS, "4.2 s"),
        (850, MS, "850 ms"),
        (12_345, MS, "12.3 s"),
        (300_000, MS, "5 min"),
        (9_000_000, MS, "2.5 h"),
        (61, PERCENTS, "61 %"),
        (94.6, PERCENTS, "94.6 %"),
        (1.83, BARE, "1.8"),
        (0, REQUESTS, "0 requests"),
        (1, REQUESTS, "1 request"),
        (12_345, TOKENS, "12,345 tokens"),
        (180, RATE, "180 tokens per request"),
        (0.05, parse_unit("tokens/s"), "50 tokens/s"),
        (62.4, MS / RATE, "62.4 ms per token"),
        (4200, parse_unit("s/token"), "4.2 s per token"),
        (62.4, MS * TOKENS, "62.4 ms*tokens"),
        (12, PERCENTS / TOKENS, "12 %/token"),
        (None, MS, "unknown"),
        (float("nan"), MS, "unknown"),
        (float("inf"), PERCENTS, "unknown"),
    ],
)
def test_values_read_as_a_person_says_them(value: float | None, unit: object, text: str) -> None:
    """A shown value has two or three digits that matter and its unit in words."""
    assert show(value, unit) == text  # type: ignore[arg-type]


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15))
def test_any_value_can_be_shown(value: float) -> None:
    """Whatever a metric holds, it is shown in a few characters."""
    for unit in (MS, PERCENTS, BARE, REQUESTS, RATE):
        assert 0 < len(show(value, unit)) < 50


@settings(deadline=None)
@given(st.text(max_size=12))
def test_any_text_is_a_number_or_refused(text: str) -> None:
    """Reading a number raises ValueError and nothing else."""
    for read in (parse_literal, parse_minutes, parse_unit):
        try:
            read(text)
        except ValueError:
            continue
