"""The score sets: small ones in full, of the large ones a sample, so that scoring cannot rot."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.detection import cache, cloud, day, load_runs, nab
from benchmarks.detection.data import OWN
from benchmarks.detection.play import rulebook
from benchmarks.detection.score import Score
from benchmarks.detection.simulated import World, build, noise, ours, raw, watch
from shared.rulebook.ast import text_of


@pytest.mark.parametrize("score", [load_runs.score, day.score, cache.score])
def test_the_small_sets_reach_their_targets(score: Callable[[], Score]) -> None:
    """Load runs, the 24 real hours and the cache, as `make score` judges them."""
    assert [figure for figure in score().figures if figure.missed] == []


def test_a_labelled_series_is_judged() -> None:
    """A series with two incidents after its history: both are found, nothing else fires."""
    (one,) = [series for series in cloud.all_series() if series.name == "outbound-05"]
    found = cloud.tally([one], cloud.by_engine)
    assert (found.incidents, found.found, found.alerts) == (2, 2, 2)
    assert found.weeks == pytest.approx(16 / 7)


def test_half_of_the_labelled_series_are_held_back() -> None:
    """Which ones follows from their names alone."""
    held = [one.name[-2:] for one in cloud.all_series() if one.held_back]
    assert held == ["01", "07", "09", "13", "17", "21", "23"]


def test_a_simulated_deployment_is_watched() -> None:
    """At two calls a minute nearly every slow-down is found and no decoy; raw latency is fooled."""
    assert noise() == pytest.approx(0.2, abs=0.005)
    played = build(World("m-large", 2.0, 2.0, seed=5))
    assert (len(played.slow), len(played.decoys)) == (24, 24)
    found = watch(played, ours())
    assert found.recall >= 0.95
    assert (found.false, found.decoys) == (0, 0)
    assert watch(played, raw()).decoys >= 12


def test_the_rules_for_plain_series_have_the_numbers_of_the_delivered_one() -> None:
    """One set of thresholds and durations serves all sets."""
    (shipped,) = ours().rules
    of = {rule.name: rule for rule in rulebook(OWN).rules}

    def plain(text: str) -> str:
        return text.replace("ttlt given tokens_per_answer", "value").replace("ttlt", "value")

    assert shipped.until is not None and shipped.needs is not None
    assert text_of(of["Rising"].when) == plain(text_of(shipped.when))
    assert text_of(of["RawLatency"].when) in plain(text_of(shipped.when))
    for rule in (of["Rising"], of["RawLatency"]):
        assert rule.until is not None
        assert text_of(rule.until) == plain(text_of(shipped.until))
    for rule in of.values():
        same = ("needs", "shortest", "longest", "hold", "keep_firing")
        assert [getattr(rule, name) for name in same] == [getattr(shipped, name) for name in same]


def test_every_file_of_the_anomaly_benchmark_has_its_windows() -> None:
    """28 files, 36 windows, each between two rows of its file."""
    files = nab.all_files()
    windows = [(file, window) for file in files for window in file.windows]
    assert (len(files), len(windows)) == (28, 36)
    assert all(0 < first < last < len(file.values) for file, (first, last) in windows)
