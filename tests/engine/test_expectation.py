"""What is expected of a window, and how far it is off: by the hour, and minute by minute."""

from __future__ import annotations

import numpy as np
import pytest

from shared.engine.evaluate import FLOOR
from shared.engine.expectation import by_hour, mean_of_minutes
from shared.engine.frame import Floats
from shared.model import Fit, Slot
from shared.rulebook.ast import Baseline, Deviation
from tests.engine.build import NAN, context, fit_of, frame, minutes, one_rule

DAY = 29_000_160 // 1440 * 1440
"""A slot at midnight."""
NIGHT = tuple(3.0 if hour == 2 else 1.0 for hour in range(24))
"""Three times as slow from two to three."""
LINE = "ttlt given tokens_per_answer"
STRAIGHT = fit_of(
    "line", "ttlt", "tokens_per_answer",
    intercept=500.0, slope=10.0, low=1.0, high=1000.0, spread=0.3,
)  # fmt: skip


@pytest.mark.parametrize(
    ("minute", "length", "factor"),
    [
        (119, 10, 1.0),
        (120, 1, 3.0),
        (120, 10, 1 + 2 * 0.1),
        (124, 10, 2.0),
        (129, 10, 3.0),
        (179, 40, 3.0),
        (180, 10, 3 - 2 * 0.1),
        (180, 0, 1.0),
        (219, 40, 1.0),
        (0, 30, 1.0),
    ],
)
def test_a_window_expects_a_part_of_each_hour_it_lies_in(
    minute: int, length: int, factor: float
) -> None:
    """Where one hour ends and the next begins, the expectation moves with the window."""
    found = by_hour(
        np.array([1000.0]),
        np.array(NIGHT)[:, None],
        np.array([DAY + minute]),
        np.array([[length]]),
    )
    assert found[0, 0] == pytest.approx(1000 * factor)


def value(at: Slot, node: Baseline | Deviation, fit: Fit, ttlt: float = 3000) -> float:
    made = one_rule(when="ttlt > 2 * baseline(ttlt) and deviation(ttlt) > 4", over="10m")
    data = frame(minutes(30, ok=4, ttlt=ttlt), 30, start=at - 29)
    return float(context(made, data, fits=[fit]).value(node)[-1, 0])


def test_a_baseline_is_that_of_the_hour() -> None:
    """What is slow every night is expected at night, and only then."""
    fit = Fit(**{**{f: getattr(fit_of(), f) for f in fit_of().__struct_fields__}, "hours": NIGHT})
    assert value(DAY + 150, Baseline("ttlt"), fit) == 3000
    assert value(DAY + 250, Baseline("ttlt"), fit) == 1000
    assert value(DAY + 150, Deviation("ttlt"), fit) == pytest.approx(0)
    assert value(DAY + 250, Deviation("ttlt"), fit) == pytest.approx(2 / FLOOR)
    assert value(DAY + 150, Baseline("ttlt"), fit_of()) == 1000


def off(ok: Floats, ttlt: Floats, tokens: Floats) -> float:
    made = one_rule(when=f"deviation({LINE}) > 4", over="4m")
    data = frame(minutes(len(ok), ok=ok, ttlt=ttlt, tokens=tokens), len(ok))
    node = Deviation("ttlt", "tokens_per_answer")
    return float(context(made, data, fits=[STRAIGHT]).value(node)[-1, 0])


def test_each_request_counts_alike_in_a_deviation() -> None:
    """One slow long answer among short ones is one of four requests, not most of the sum."""
    ok, tokens = np.ones(4), np.array([10.0, 10.0, 10.0, 950.0])
    ttlt = 500 + 10 * tokens
    ttlt[3] *= 2
    assert off(ok, ttlt, tokens) == pytest.approx(0.25 / np.sqrt(0.3**2 / 4 + FLOOR**2))


def test_minutes_weigh_by_their_requests_and_silent_ones_not_at_all() -> None:
    """A minute of three requests counts three times, one without any is not there."""
    ok = np.array([3.0, 0.0, 1.0, 0.0])
    tokens, ttlt = 50.0 * ok, np.array([2000.0, NAN, 1000.0, NAN])
    assert off(ok, ttlt, tokens) == pytest.approx(0.75 / np.sqrt(0.3**2 / 4 + FLOOR**2))


def test_windows_of_each_length_end_at_their_row() -> None:
    """Every window takes the minutes that it reaches back to, and no more."""
    rows = np.array([[7.0], [8.0], [4.0], [NAN], [2.0], [6.0]])
    found = mean_of_minutes(rows, np.ones_like(rows), np.array([[4], [3], [0]]))
    assert found[:, 0] == pytest.approx([19 / 3, 3.0, NAN], nan_ok=True)


def test_a_deviation_is_the_same_in_pieces() -> None:
    """However many slots are judged at once, a deviation does not change in its last bit."""
    rng = np.random.default_rng(2)
    ok, tokens = rng.poisson(1.0, 60).astype(float), rng.uniform(10, 900, 60)
    ttlt = np.where(
        ok > 0, (500 + 10 * tokens / np.maximum(ok, 1)) * rng.uniform(0.8, 1.3, 60), NAN
    )
    made = one_rule(when=f"deviation({LINE}) > 4", over="5m..20m", needs="requests >= 4")
    data = frame(minutes(60, ok=ok, ttlt=ttlt, tokens=tokens), 60)
    node = Deviation("ttlt", "tokens_per_answer")
    whole = context(made, data, fits=[STRAIGHT]).value(node)[:, 0]
    single = [
        context(made, data, fits=[STRAIGHT], first=n, count=1).value(node)[0, 0] for n in range(60)
    ]
    assert np.array_equal(whole, np.array(single), equal_nan=True)
    assert np.isfinite(whole).sum() > 40
