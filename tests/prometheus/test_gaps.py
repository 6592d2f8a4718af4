"""With gaps, our engine differs from the real Prometheus in what is documented and no more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import pytest

from tests.prometheus.history import (
    History,
    carried,
    cut,
    filled,
    gaps,
    histories,
    spread,
    with_gaps,
)
from tests.prometheus.ours import ours
from tests.prometheus.pairs import CLEAR, Group, Pair, all_thresholds
from tests.prometheus.states import States, agree, differences
from tests.prometheus.theirs import theirs

EACH = 8
"""Series a group."""


@cache
def groups(longest: int = 40) -> list[Group]:
    """Every `for` and `keep_firing_for` on series with gaps of up to `longest` minutes."""
    pairs = all_thresholds(tuple(CLEAR))
    return [
        Group(some, histories(4, range(n * EACH, (n + 1) * EACH))).but(
            lambda history: with_gaps(4, history, longest)
        )
        for n, some in enumerate(pairs)
    ]


@cache
def judged() -> States:
    return ours(groups()).states


@pytest.fixture(scope="module")
def ended(promtool: None, tmp_path_factory: pytest.TempPathFactory) -> States:
    """What Prometheus says of series that end in every gap."""
    return theirs(groups(), tmp_path_factory.mktemp("ended"))


def without(
    made: Sequence[Group], out: Callable[[History], Sequence[bool]], folder: Path
) -> States:
    """What Prometheus says of the series without some minutes, which then hold the state."""
    rest = theirs([group.but(lambda h: cut(h, out(h))) for group in made], folder)
    lost = {number: out(h) for group in made for number, h in group.histories.items()}
    return {key: spread(states, lost[key[1]]) for key, states in rest.items()}


def test_unknown_minutes_are_as_if_they_had_not_been(tmp_path: Path) -> None:
    """A gap holds the state and stops every count, whether traffic is missing or the metric."""
    agree(groups(), judged(), without(groups(), gaps, tmp_path))


def test_prometheus_takes_a_gap_for_clear(ended: States, tmp_path: Path) -> None:
    """A series that ends is to Prometheus one without a breach, so the alert goes with it."""
    clear = [group.but(partial(filled, value=_clear(group))) for group in groups()]
    agree(groups(), theirs(clear, tmp_path), ended)


def test_the_first_difference_lies_in_a_gap_through_which_ours_holds(ended: States) -> None:
    """Up to the first gap both agree; in a gap ours never changes, and theirs is never pending."""
    differ = 0
    for group in groups():
        for number, history in group.histories.items():
            missing = gaps(history)
            known = missing.index(True)
            for pair in group.pairs:
                mine, their = judged()[pair.name, number], ended[pair.name, number]
                assert mine[:known] == their[:known]
                for minute in (n for n, gap in enumerate(missing) if gap):
                    assert mine[minute] == (mine[minute - 1] if minute else ".")
                    assert their[minute] != "p"
                differ += mine != their
    assert differ > len(judged()) / 4


def _clear(group: Group) -> float:
    return next(value for word, value in CLEAR.items() if group.pairs[0].name.startswith(word))


def test_prometheus_repeats_the_latest_sample_over_short_gaps(tmp_path: Path) -> None:
    """Without a marker the latest value counts on for five minutes, where ours is unknown."""
    short = groups(4)[:1]
    before = [group.but(carried) for group in short]
    found = theirs(short, tmp_path, gap="_")
    agree(short, theirs(before, tmp_path), found)
    assert differences(short, ours(short).states, found)


def test_minutes_between_are_as_if_they_had_not_been(tmp_path: Path) -> None:
    """Where neither `when` nor `until` is true, the state holds and no count goes on."""
    pairs = tuple(
        Pair(f"Until{hold}Keep{keep}", "level > 10", "level > 10", hold, keep, until="level < 9")
        for hold, keep in ((0, 10), (1, 1), (5, 3))
    )
    made = [Group(pairs, histories(5, range(20))).but(lambda h: with_gaps(5, h, 6))]
    found = ours(made).states

    def between(history: History) -> list[bool]:
        return [not (value > 10 or value < 9) for value in history]

    agree(made, found, without(made, between, tmp_path))
