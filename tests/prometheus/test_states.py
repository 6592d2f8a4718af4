"""Without gaps, our engine and the real Prometheus agree in every minute."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tests.prometheus.history import histories, with_gaps
from tests.prometheus.ours import Ours, at_once, ours
from tests.prometheus.pairs import Group, Pair, all_thresholds, windows
from tests.prometheus.states import agree
from tests.prometheus.theirs import theirs

EACH = 27
"""Series a group."""


@cache
def groups() -> list[Group]:
    pairs = all_thresholds(("Over", "AtMost"))
    return [
        Group(some, histories(1, range(n * EACH, (n + 1) * EACH))) for n, some in enumerate(pairs)
    ]


@cache
def judged() -> Ours:
    return ours(groups())


def test_alerts_are_pending_and_fire_in_the_same_minutes(tmp_path: Path) -> None:
    """`for` and `keep_firing_for` count as in Prometheus, whichever way the rule compares."""
    found = judged().states
    agree(groups(), found, theirs(groups(), tmp_path))
    for group in groups():
        for pair in group.pairs:
            letters = set("".join(found[pair.name, number] for number in group.histories))
            assert letters == (set(".pF") if pair.hold else set(".F")), pair


def test_in_one_piece_the_same_is_told() -> None:
    """Two hours at once make the events that 120 ticks make, in the same order."""
    few = groups()[::4]
    rules = {pair.name for group in few for pair in group.pairs}
    told = tuple(event for event in judged().events if event.rule in rules)
    assert at_once(few) == told
    assert len(told) > 100


def test_windows_reduce_alike(tmp_path: Path) -> None:
    """Sums, means and extremes of five minutes are those of Prometheus, also over gaps that are
    shorter than the window."""
    made = [Group(windows(), histories(2, range(14))).but(lambda h: with_gaps(2, h, 4))]
    agree(made, ours(made).states, theirs(made, tmp_path))


def test_n_of_m_first_fires_as_a_count_over_time(tmp_path: Path) -> None:
    """`3 of 5` fires in the minute in which Prometheus counts three breaches among five."""
    count = "count_over_time((level > 10)[4m30s:1m]) >= 3"
    made = [Group((Pair("Often", "level > 10", count, among="3 of 5"),), histories(3, range(60)))]
    mine, other = ours(made).states, theirs(made, tmp_path)
    first = {key: states.find("F") for key, states in mine.items()}
    assert first == {key: states.find("F") for key, states in other.items()}
    assert len(set(first.values())) > 5
