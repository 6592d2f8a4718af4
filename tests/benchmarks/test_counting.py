"""How scores count and are written down."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console

from benchmarks.detection import nab_score, robust_z
from benchmarks.detection.__main__ import SETS, main
from benchmarks.detection.report import PAGE, MarkerError, show, written
from benchmarks.detection.score import Count, Figure, Score, count

WINDOWS = [(300, 399), (600, 699)]


def test_incidents_and_alerts_meet_within_the_grace() -> None:
    """An incident is found by an alert that touches it or its grace; an alert is right or false."""
    incidents, alerts = [(10, 12), (40, 42)], [(12, 15), (20, 22), (13, 14), (38, 39)]
    strict = count(incidents, alerts, 0, weeks=2)
    assert strict == Count(2, 0, 4, 0, 2)
    wide = count(incidents, alerts, 1, weeks=2)
    assert wide == Count(incidents=2, found=1, alerts=4, right=1, weeks=2)
    assert (wide.recall, wide.precision, wide.false_a_week) == (0.5, 0.25, 1.5)
    assert (wide + strict).alerts == 8


@pytest.mark.parametrize(
    ("figure", "missed"),
    [
        (Figure("a", 0.7, "at least", 0.7), False),
        (Figure("a", 0.69, "at least", 0.7), True),
        (Figure("a", 0.5, "at most", 0.5), False),
        (Figure("a", float("inf"), "at most", 20), True),
        (Figure("a", float("nan"), "at most", 20), True),
        (Figure("a", float("nan"), "at least", 20), True),
        (Figure("a", -62.5), False),
    ],
)
def test_a_target_is_missed_or_reached(figure: Figure, missed: bool) -> None:
    """What is not known has not reached anything; what is only reported cannot miss."""
    assert figure.missed is missed


def test_silence_is_nothing_and_the_first_row_of_each_window_perfect() -> None:
    """The ends of the benchmark's scale."""
    assert nab_score.raw([], WINDOWS, 1000).scaled == 0
    assert nab_score.raw([300, 600], WINDOWS, 1000).scaled == pytest.approx(100)
    assert nab_score.raw([300, 310, 320, 600], WINDOWS, 1000).scaled == pytest.approx(100)


def test_later_is_worth_less_and_the_last_row_nothing() -> None:
    """Half of the window is worth 0.848, its end 0, a miss costs 1."""
    values = [nab_score.worth(y) for y in (-1.0, -0.5, 0.0, 1.0, 5.0)]
    assert values == pytest.approx([0.9866, 0.8483, 0, -0.9866, -1], abs=1e-4)
    assert nab_score.raw([399], WINDOWS, 1000).value == pytest.approx(-1)


def test_false_detections_cost_a_little_more_the_further_they_are() -> None:
    """Just behind a window next to nothing, before any window 0.11."""
    silence = nab_score.raw([], WINDOWS, 1000).value
    cost = [silence - nab_score.raw([row], WINDOWS, 1000).value for row in (200, 401, 500, 999)]
    assert cost == pytest.approx([0.11, 0.0055, 0.1087, 0.11], abs=1e-3)
    assert nab_score.raw([149], WINDOWS, 1000).value == silence
    assert nab_score.probation(20_000) == 750


def test_two_of_three_values_make_a_rolling_alert() -> None:
    """One spike is none, two are; a steady series says nothing."""
    rng = np.random.default_rng(1)
    values = 100 + rng.normal(0, 1, 200)
    values[100] = 300
    assert robust_z.alerts(values, 48) == []
    values[102] = 300
    assert robust_z.alerts(values, 48) == [(102, 103)]
    values[150:153] = 0
    assert [run[0] for run in robust_z.alerts(values, 48, both=True)] == [102, 151]
    assert robust_z.alerts(np.repeat([5.0, 9.0], 100), 48) == []


def test_tables_are_written_between_their_markers() -> None:
    """What a person wrote around a table stays, and so does a page that is written twice."""
    score = Score("x", "X", (Figure("recall", 0.5, "at least", 0.7),), ("a",), (("1",),))
    page = "Text\n<!-- figures -->\n<!-- /figures -->\n<!-- x -->\nold\n<!-- /x -->\nEnd\n"
    once = written(page, [score])
    assert "| x | recall | at least 0.7 | **0.50** | missed |" in once
    assert "<!-- x -->\n| a |\n| --- |\n| 1 |\n<!-- /x -->\nEnd\n" in once
    assert written(once, [score]) == once
    with pytest.raises(MarkerError, match="<!-- x -->"):
        written("<!-- figures -->\n<!-- /figures -->\n", [score])


def test_the_terminal_shows_what_was_missed() -> None:
    """Figure, target, value and verdict."""
    console = Console(file=io.StringIO(), width=100)
    show([Score("x", "X", (Figure("recall", 0.5, "at least", 0.7),))], console)
    assert isinstance(console.file, io.StringIO)
    assert "recall" in console.file.getvalue()
    assert "missed" in console.file.getvalue()


def test_an_unknown_set_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and what there is."""
    assert main(["z"]) == 2
    assert "there are a, b, c, d, e, f" in capsys.readouterr().out


def test_the_page_has_a_place_for_each_set_and_no_target_is_missed() -> None:
    """docs/detection.md as it was last scored."""
    page = PAGE.read_text(encoding="utf-8")
    for key in ("figures", *SETS):
        assert f"<!-- {key} -->\n|" in page
    assert "| missed |" not in page
    assert page.count("| reached |") >= 15
