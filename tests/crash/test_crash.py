"""A process that dies anywhere loses no alert, and repeats at most one card a channel."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.crash.matrix import crash, host

SAMPLES = 20
"""Boundaries of each tick that are tried, evenly spread; TOKENWATCH_CRASHES=all tries each."""


@pytest.mark.parametrize("tick", [0, 1])
def test_whoever_dies_nothing_is_lost(tick: int, tmp_path: Path) -> None:
    """Killed before and after writes and posts of commit, announcing and delivery: every event is
    told in exactly one message a channel, in the fallback for the channel that is gone; a card
    comes twice at most once a channel, with the same delivery id."""
    with host() as processes:
        calm = crash(processes, f"sqlite:{tmp_path}/calm.db", tick, 0)
        assert (calm.crashed, calm.lost, calm.wrong) == (False, (), ())
        assert set(calm.repeats.values()) == {0}
        total = calm.boundaries[tick]
        assert total > 40
        every = os.environ.get("TOKENWATCH_CRASHES") == "all"
        step = 1 if every else max(total // SAMPLES, 1)
        for boundary in range(1 + tick, total + 1, step):
            end = crash(processes, f"sqlite:{tmp_path}/{boundary}.db", tick, boundary)
            assert end.crashed
            assert (boundary, end.lost, end.wrong) == (boundary, (), ())
            assert max(end.repeats.values()) <= 1
