"""Curves as text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared.teams.sparkline import sparkline, thinned


def test_lowest_and_highest_have_the_shortest_and_longest_bar() -> None:
    """Bars span the whole height; a missing value is a dot."""
    assert sparkline([0, None, 50, 100]) == "▁·▅█"


def test_flat_and_empty_curves() -> None:
    """Without a difference all bars are alike; without values there are dots."""
    assert sparkline([3, 3]) == "▄▄"
    assert sparkline([None, None]) == "··"
    assert sparkline([]) == ""


@given(st.lists(st.none() | st.floats(-1e6, 1e6), max_size=200), st.integers(1, 40))
def test_thinning_keeps_order(values: list[float | None], most: int) -> None:
    """At most so many places, rising, each within the curve."""
    places = thinned(values, most)
    assert len(places) <= most
    assert places == sorted(set(places))
    assert all(0 <= place < len(values) for place in places)


def test_thinning_keeps_peaks_and_dips() -> None:
    """Neither a peak nor a dip of one minute is flattened."""
    values = [5.0] * 100
    values[17], values[63] = 9.0, 1.0
    assert {17, 63} <= set(thinned(values, 24))
