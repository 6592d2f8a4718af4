"""Set (a): labelled latencies of a production service.

Hourly values, each played as 60 equal minutes with one call. The first 14 days are history, as
Azure Monitor would have it; what is labelled from then on is judged. An incident is a run of
labels, an hour wider on either side, and is found if an alert fires at some time in it. An alert
that touches no incident is false.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.detection import robust_z
from benchmarks.detection.data import DATA, OWN, columns, numbers
from benchmarks.detection.play import alarms, answered, only, play, rulebook, series, slots_of
from benchmarks.detection.score import Count, Figure, Score, Span, count
from shared.engine.frame import Bools, Floats
from shared.model import Slot

HISTORY, EARLY, WEEK = 14 * 24, 3 * 24, 7 * 24
"""Hours before the first one that is judged, usually and for a harder look; hours a week."""
GRACE = 1


@dataclass(frozen=True)
class Labelled:
    name: str
    start: Slot
    values: Floats
    labels: Bools

    @property
    def held_back(self) -> bool:
        """Half of the series, by a digit of a hash, had no part in the choice of any number."""
        return int(hashlib.sha256(self.name.encode()).hexdigest()[0], 16) % 2 == 0

    def incidents(self, first: int) -> list[Span]:
        return [run for run in robust_z.runs(self.labels) if run[1] > first]


Method = Callable[[Labelled, int], list[Span]]


def all_series() -> list[Labelled]:
    return [_read(path.name) for path in sorted((DATA / "cloud-monitoring").glob("*.csv.gz"))]


def _read(name: str) -> Labelled:
    table = columns(DATA / "cloud-monitoring" / name)
    start = slots_of(table["TimeStamp"])[0]
    labels = numbers(table["Label"]) == 1
    return Labelled(name.partition(".")[0], start, numbers(table["Value"]), labels)


def by_engine(one: Labelled, first: int) -> list[Span]:
    """Alerts of the rule Rising, in hours."""
    minutes = np.repeat(one.values, 60)
    found = [
        answered(one.name, np.ones_like(minutes)),
        series(one.name, "AzureOpenAITTLTInMS", minutes, "average"),
    ]
    book = only(rulebook(OWN), ["Rising"])
    judged = play(book, one.start, found, one.start + 60 * first)
    told = alarms(judged, one.start + len(minutes))
    return [((a.fired - one.start) // 60, (a.end - one.start) // 60 + 1) for a in told]


def by_robust_z(one: Labelled, first: int) -> list[Span]:
    return [run for run in robust_z.alerts(one.values, HISTORY) if run[0] >= first]


def tally(all_of: Sequence[Labelled], method: Method, first: int = HISTORY) -> Count:
    total = Count()
    for one in all_of:
        weeks = (len(one.values) - first) / WEEK
        total += count(one.incidents(first), method(one, first), GRACE, weeks)
    return total


def score() -> Score:
    every = all_series()
    tuned = [one for one in every if not one.held_back]
    held = [one for one in every if one.held_back]
    ours, theirs = tally(held, by_engine), tally(held, by_robust_z)
    on_tuned, z_tuned = tally(tuned, by_engine), tally(tuned, by_robust_z)
    rows = [
        _row("held back", "Tokenwatch", ours),
        _row("held back", "rolling MAD", theirs),
        _row("tuned on", "Tokenwatch", on_tuned),
        _row("tuned on", "rolling MAD", z_tuned),
        _row("both", "Tokenwatch", ours + on_tuned),
        _row("both", "rolling MAD", theirs + z_tuned),
        _row("both, from day 3", "Tokenwatch", tally(every, by_engine, EARLY)),
        _row("both, from day 3", "rolling MAD", tally(every, by_robust_z, EARLY)),
    ]
    figures = (
        Figure("recall, held-back half", ours.recall, "at least", 0.70),
        Figure("false alarms a series-week, held-back half", ours.false_a_week, "at most", 0.5),
        Figure("precision, held-back half", ours.precision, "at least", 0.5),
    )
    names = ("series", "method", "recall", "false a week", "precision")
    return Score("a", "labelled latencies", figures, names, tuple(rows))


def _row(half: str, method: str, found: Count) -> tuple[str, ...]:
    return (
        half,
        method,
        f"{found.recall:.2f} ({found.found} of {found.incidents})",
        f"{found.false_a_week:.2f}",
        f"{found.precision:.2f} ({found.right} of {found.alerts})",
    )
