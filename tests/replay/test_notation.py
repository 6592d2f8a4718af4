"""The notation of a series: what it means, what it refuses, and that nothing else comes of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from replay.notation import MOST_MINUTES, NotationError, parse_series
from replay.scenariovalues import Piece, noise
from shared.engine.frame import Floats
from shared.rulebook.units import MS, PERCENTS, Unit, parse_unit

REQUESTS = parse_unit("requests")
NAN = float("nan")


def values(text: str, unit: Unit = REQUESTS) -> Floats:
    return parse_series(text, unit).values(8, "")


@pytest.mark.parametrize(
    ("text", "unit", "expected"),
    [
        ("5", REQUESTS, [5] * 8),
        ("5 x3", REQUESTS, [5, 5, 5, *[NAN] * 5]),
        ("5x3, 7", REQUESTS, [5, 5, 5, 7, 7, 7, 7, 7]),
        ("1, 2, 3", REQUESTS, [1, 2, 3, 3, 3, 3, 3, 3]),
        ("4s x2, 250ms", MS, [4000, 4000, *[250] * 6]),
        ("95% x8", PERCENTS, [95] * 8),
        ("0.5k, 2M", REQUESTS, [500, *[2e6] * 7]),
        ("1k..4k x4, _", REQUESTS, [1000, 2000, 3000, 4000, *[NAN] * 4]),
        ("4s..1s x4 , 0s", MS, [4000, 3000, 2000, 1000, *[0] * 4]),
        ("_ x2, 1, _x5", REQUESTS, [NAN, NAN, 1, *[NAN] * 5]),
        ("(1, 0 x2) x2, 9", REQUESTS, [1, 0, 0, 1, 0, 0, 9, 9]),
        ("7 x2, (1, 0)", REQUESTS, [7, 7, 1, 0, 1, 0, 1, 0]),
        ("( 1 , 2 ) x 4", REQUESTS, [1, 2] * 4),
        ("1..2 x08", REQUESTS, np.linspace(1, 2, 8).tolist()),
    ],
)
def test_a_text_is_a_value_a_minute(text: str, unit: Unit, expected: list[float]) -> None:
    """Constants, repeats, ramps, gaps, sequences and groups mean what the documentation says."""
    np.testing.assert_allclose(values(text, unit), expected)


@pytest.mark.parametrize(
    ("text", "unit", "column", "message"),
    [
        ("", REQUESTS, 1, "a value is missing"),
        ("5 x3,", REQUESTS, 6, "a value is missing"),
        ("5 x3 7", REQUESTS, 6, "cannot be read"),
        ("5, six", REQUESTS, 4, "no value"),
        ("-5", REQUESTS, 1, "no value"),
        ("5 x60m", REQUESTS, 6, "cannot be read"),
        ("5q", REQUESTS, 2, "cannot be read"),
        ("4", MS, 1, "not measured in ms"),
        ("4s, 5%", MS, 5, "not measured in ms"),
        ("4s", REQUESTS, 1, "not measured in requests"),
        ("50", parse_unit("tokens/s"), 1, "not measured in tokens/s"),
        ("1..5", REQUESTS, 1, "a ramp has two values"),
        ("_..5 x3", REQUESTS, 1, "a ramp has two values"),
        ("5 x0", REQUESTS, 1, "lasts no minute"),
        ("1, 5x999999999", REQUESTS, 4, "longer than 14 days"),
        ("5x" + "9" * 1900, REQUESTS, 1, "longer than 14 days"),
        ("5 x20000, 5 x161", REQUESTS, 11, "longer than 14 days"),
        ("(1 x20000, 2 x2) x2", REQUESTS, 16, "longer than 14 days"),
        ("(1, 2", REQUESTS, 6, "not closed"),
        ("((1) x2) x2", REQUESTS, 2, "no value"),
        ("5 ±200%", REQUESTS, 1, "within 100 %"),
        ("9" * 40, REQUESTS, 1, "too large"),
        ("5," * 1001, REQUESTS, 1, "longer than 2000 characters"),
    ],
)
def test_what_is_no_series_is_refused_at_its_column(
    text: str, unit: Unit, column: int, message: str
) -> None:
    """Every error names the place inside the text, and says in words what is wrong."""
    with pytest.raises(NotationError, match=message) as raised:
        parse_series(text, unit)
    assert raised.value.column == column


@given(st.text(alphabet="0123456789.x,()_±%+-smkM \n", max_size=40) | st.text(max_size=20))
@example("5x" * 999)
def test_garbage_gives_nothing_but_the_documented_error(text: str) -> None:
    """Whatever is written, it is a bounded series or a NotationError within the text."""
    try:
        found = parse_series(text, REQUESTS)
    except NotationError as error:
        assert 1 <= error.column <= len(text) + 1
    else:
        assert found.minutes <= MOST_MINUTES
        assert len(found.values(50, "")) == 50


NUMBERS = st.integers(0, 10**6) | st.decimals(0, 1000, places=3).map(float)
PIECES = st.builds(Piece, NUMBERS, NUMBERS, st.integers(2, 40), st.just(0.0)) | st.builds(
    lambda value, minutes: Piece(value, value, minutes), NUMBERS | st.just(NAN), st.integers(1, 40)
)


def written(piece: Piece, spaces: str) -> str:
    """The piece as an author may write it."""
    if np.isnan(piece.first):
        return f"_{spaces}x{piece.minutes}"
    ramp = f"{spaces}..{spaces}{piece.last}" if piece.first != piece.last else ""
    return f"{piece.first}{ramp}{spaces}x{spaces}{piece.minutes}"


@given(st.lists(PIECES, min_size=1, max_size=6), st.sampled_from(["", " ", "\n  "]))
def test_pieces_that_are_written_are_read_again(pieces: list[Piece], spaces: str) -> None:
    """Pieces, written out and parsed, have the same length and the same values."""
    text = f",{spaces}".join(written(piece, spaces) for piece in pieces)
    found = parse_series(text, REQUESTS)
    wanted = np.concatenate([np.linspace(p.first, p.last, p.minutes) for p in pieces])
    assert (found.minutes, found.tail) == (len(wanted), ())
    np.testing.assert_allclose(found.values(len(wanted), ""), wanted)


@given(st.lists(PIECES, min_size=1, max_size=4), st.integers(1, 5))
def test_a_group_is_its_pieces_so_many_times(pieces: list[Piece], times: int) -> None:
    """A group with a count says the same as its pieces written out."""
    inside = ", ".join(written(piece, " ") for piece in pieces)
    group = parse_series(f"({inside}) x{times}", REQUESTS)
    plain = parse_series(", ".join([inside] * times), REQUESTS)
    np.testing.assert_array_equal(group.values(900, ""), plain.values(900, ""))


@given(st.integers(1, 300), st.integers(1, 300))
def test_what_is_repeated_ends_with_its_own_end(pattern: int, length: int) -> None:
    """History that is shorter than 14 days comes again and again, and is whole at its end."""
    notation = parse_series(f"0..1 x{pattern}" if pattern > 1 else "1 x1", REQUESTS)
    found = notation.repeated(length, "")
    kept = min(pattern, length)
    np.testing.assert_array_equal(found[-kept:], notation.values(pattern, "")[-kept:])
    assert len(found) == length


def scattered(text: str, seed: str, length: int = 5000) -> Floats:
    return parse_series(text, MS).values(length, seed)


def test_scattered_values_are_the_same_in_every_run() -> None:
    """The scatter follows from the name and the minute alone, so a scenario never flickers."""
    assert scattered("4s ±10%", "ttlt", 3).tolist() == pytest.approx(
        [3729.780126, 4250.015584, 4095.917207]
    )
    assert (scattered("4s ±10%", "ttlt", 9)[:3] == scattered("4s +-10%", "ttlt", 3)).all()


def test_scattered_values_lie_evenly_within_their_share() -> None:
    """They reach the limits, have the mean that is written, and series do not move together."""
    one, other = scattered("4s ±10%", "ttlt"), scattered("4s ±10%", "requests")
    assert 3600 <= one.min() < 3605
    assert 4395 < one.max() <= 4400
    assert one.mean() == pytest.approx(4000, rel=0.005)
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.05
    assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) < 0.05
    assert np.histogram(noise("x", 20_000), 10)[0].min() > 1800


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        ("5 x3, 7", [5, 5, 5, 5]),
        ("_ x3, 7", [7, 7, 7, 7]),
        ("1..9 x9", [1, 1, 1, 1]),
        ("(1, 0)", [1, 0, 1, 0]),
        ("7, (1, 0)", [7, 7, 7, 7]),
    ],
)
def test_before_it_began_a_series_was_as_it_begins(text: str, usual: list[float]) -> None:
    """Without a history of its own a series goes on backwards with its first value or pattern."""
    found = parse_series(text, REQUESTS).usual
    assert found is not None
    assert found.repeated(4, "").tolist() == usual


def test_a_series_without_points_had_none_before() -> None:
    """Of gaps alone nothing can be said about the time before."""
    assert parse_series("_ x3, _", REQUESTS).usual is None
