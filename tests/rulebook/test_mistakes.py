"""Habits of other languages: each is answered with what is written here, and that works."""

from __future__ import annotations

import pytest

from shared.rulebook.expressions import parse
from shared.rulebook.problems import ExpressionError
from shared.rulebook.typecheck import Names
from shared.rulebook.units import MS, PERCENTS, parse_unit

NAMES = Names({"ttlt": MS, "requests": parse_unit("requests"), "rate": PERCENTS})


def refusal(text: str) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        parse(text, NAMES)
    return caught.value


@pytest.mark.parametrize(
    ("text", "wrong", "right"),
    [
        ("ttlt > 10 s", "10 s", "10s"),
        ("ttlt > 10sec", "10sec", "10s"),
        ("ttlt > 10 seconds and rate < 5%", "10 seconds", "10s"),
        ("ttlt > 10S", "10S", "10s"),
        ("ttlt > 1,5s", "1,5s", "1.5s"),
        ("avg(ttlt, 15 m) > 1s", "15 m", "15m"),
        ("avg(ttlt, 15 min) > 1s", "15 min", "15m"),
        ("requests > 1,000", "1,000", "1000"),
        ("requests > 1e3", "1e3", "1000"),
        ("requests > 1_000", "1_000", "1000"),
        ("requests > 5K", "5K", "5k"),
        ("requests > .5", ".5", "0.5"),
        ("requests > 5.", "5.", "5"),
        ("rate < 95 %", "95 %", "95%"),
        ("rate < 95 % and ttlt > 1s", "95 %", "95%"),
        ("rate < 95percent", "95percent", "95%"),
        ("ttlt > 1s && rate < 5%", "&&", "and"),
        ("ttlt > 1s || rate < 5%", "||", "or"),
        ("ttlt > 1s & rate < 5%", "&", "and"),
        ("ttlt > 1s | rate < 5%", "|", "or"),
        ("ttlt > 1s AND rate < 5%", "AND", "and"),
        ("ttlt > 1s Or rate < 5%", "Or", "or"),
        ("NOT ttlt > 1s", "NOT", "not"),
        ("ttlt > 1s and NOT rate < 5%", "NOT", "not"),
        ("baseline(ttlt GIVEN requests) > 1s", "GIVEN", "given"),
        ("! ttlt > 1s", "!", "not"),
        ("ttlt = 1s", "=", "=="),
        ("ttlt === 1s", "===", "=="),
        ("ttlt !== 1s", "!==", "!="),
        ("ttlt <> 1s", "<>", "!="),
        ("ttlt => 1s", "=>", ">="),
        ("ttlt =< 1s", "=<", "<="),
        ("ttlt ≥ 1s", "≥", ">="),
        ("ttlt ≤ 1s", "≤", "<="),
        ("ttlt ≠ 1s", "≠", "!="),
        ("requests × 2 > 5", "×", "*"),
        ("requests ÷ 2 > 5", "÷", "/"),
        ("requests − 2 > 5", "−", "-"),
    ],
)  # fmt: skip
def test_a_habit_is_answered_with_the_word_of_the_language(
    text: str, wrong: str, right: str
) -> None:
    """The cure names what to write instead, and with that the text is understood."""
    error = refusal(text)
    assert error.cure == f"Write {right} instead of {wrong}."
    assert error.column == text.index(wrong) + 1
    assert parse(text.replace(wrong, right), NAMES)


@pytest.mark.parametrize(
    ("text", "column", "cure"),
    [
        ("“ttlt > 3s”", 1, "Leave the quotes out: names and numbers stand by themselves."),
        ("'ttlt' > 3s", 1, "Leave the quotes out: names and numbers stand by themselves."),
        ("{ttlt} > 3s", 1, "Leave it out; parts are held together by ( and )."),
        ("ttlt[5m] > 3s", 5, "Leave it out; parts are held together by ( and )."),
        ("$ttlt > 3s", 1, "Leave it out: names stand by themselves."),
        ("ttlt:.2f", 5, "Leave the format out: values are shown with their unit."),
        ("requests ** 2 > 5", 11, "There are no powers: multiply."),
        ("requests ^ 2 > 5", 10, "There are no powers: multiply."),
        ("ttlt > 3s; rate < 5%", 10, "Join two conditions with `and` or `or`."),
        ("ttlt > 3s)", 10, "Leave it out: no parenthesis is open."),
        ("(ttlt > 3s", 11, "Close the parenthesis."),
        ("ttlt >", 7, "Write what comes after it."),
        ("", 1, "Write it like ttlt > 10s and requests >= 5."),
        ("ttlt\u00a0> 3s", 5, "An unusual blank stands there: write a plain one."),
        ("ttlt > 3s rate", 11, "Put a sign or a word between the two, such as +, > or and."),
        ("ttlt > 1s > 2s", 11, "Comparisons cannot be chained: join two of them with `and`."),
        ("ttlt > and rate < 5%", 8, "Write a value before and."),
        ("ttlt > 3s,", 10, "Write it like ttlt > 10s and requests >= 5."),
    ],
)
def test_what_has_no_other_word_is_answered_with_what_to_do(
    text: str, column: int, cure: str
) -> None:
    """Quotes, braces, formats, powers and what is unfinished are told with their place."""
    error = refusal(text)
    assert (error.column, error.cure) == (column, cure)


def test_every_refusal_of_a_text_has_a_cure() -> None:
    """Whatever sign stands where, there is something to do about it."""
    for sign in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~äß€→…0aA\u200b\n\t":
        for text in (f"{sign}", f"ttlt {sign}", f"ttlt {sign} 3s", f"ttlt > 3s {sign} rate < 5%"):
            try:
                parse(text, NAMES)
            except ExpressionError as error:
                assert error.cure or " with " in error.message, text
