"""Units: what fits with what, and how a value reads to a person."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.rulebook.units import (
    BARE,
    MS,
    PERCENTS,
    compatible,
    parse_literal,
    parse_minutes,
    parse_unit,
    show,
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
        ("1", ()),
        ("", ()),
    ],
)
def test_units_are_told_by_their_bases(text: str, bases: tuple[tuple[str, int], ...]) -> None:
    """A unit is a product of bases, singular and plural alike."""
    assert parse_unit(text).bases == bases


@pytest.mark.parametrize("text", ["/s", "1/s", "tokens per request", "a/b/c", "10s", "€"])
def test_what_is_no_unit_is_refused(text: str) -> None:
    """Anything but words, %, and one quotient is refused as a unit."""
    with pytest.raises(ValueError, match="is no unit"):
        parse_unit(text)


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


@pytest.mark.parametrize(("text", "minutes"), [("5m", 5), ("2h", 120), ("0", 0), ("120s", 2)])
def test_durations_are_whole_minutes(text: str, minutes: int) -> None:
    """A duration is given in any unit of time as long as it makes whole minutes."""
    assert parse_minutes(text) == minutes


@pytest.mark.parametrize("text", ["5", "90s", "5%", "2k", "soon", "9" * 400 + "m"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    """A bare number, parts of a minute and the absurd are no durations."""
    with pytest.raises(ValueError, match=r"no duration|whole number|no number|too large"):
        parse_minutes(text)


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
