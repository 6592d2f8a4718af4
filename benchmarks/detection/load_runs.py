"""Set (b): load runs against provisioned deployments, some of which used up their capacity.

The client logged every second, averages over the last 60 seconds and counts since the start; so the
last line of a minute is that minute, and counts are differences. All delivered rules are judged.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.detection.data import DATA, columns, numbers
from benchmarks.detection.play import answered, play, rulebook, series, slots_of
from benchmarks.detection.score import Figure, Score
from shared.engine.frame import Floats
from shared.model import Series, Slot

RULES = ("ProvisionedCapacityUsedUp", "ProvisionedThrottling")
USED = "AzureOpenAIProvisionedManagedUtilizationV2"


def all_runs() -> list[Path]:
    return sorted((DATA / "load-runs").glob("*.csv.gz"))


def minutes_of(path: Path) -> tuple[Slot, list[Series]]:
    """The first minute of a run and its series."""
    table = columns(path)
    slots = np.array(slots_of([time.removesuffix("Z") for time in table["time"]]))
    last = np.flatnonzero(np.diff(slots, append=slots[-1] + 1))
    turned_away, done = numbers(table["throttled"])[last], numbers(table["completed"])[last]
    name = path.name.partition(".")[0]
    return int(slots[0]), [
        answered(name, _each(done - turned_away)),
        answered(name, _each(turned_away), "429"),
        series(name, USED, numbers(table["util_avg"])[last], "average"),
    ]


def _each(total: Floats) -> Floats:
    return np.diff(total, prepend=0.0)


def breaches(path: Path) -> dict[str, int]:
    """Minutes in which each capacity rule says breach."""
    start, found = minutes_of(path)
    tally = play(rulebook(), start, found).tally
    return {rule: tally[rule]["breach"] for rule in RULES}


def score() -> Score:
    said = {path.name.partition(".")[0]: breaches(path) for path in all_runs()}
    full = [any(of.values()) for name, of in said.items() if name.startswith("saturated")]
    free = [any(of.values()) for name, of in said.items() if name.startswith("unsaturated")]
    figures = (
        Figure("share of saturated runs with a breach", float(np.mean(full)), "at least", 1.0),
        Figure("unsaturated runs with a breach", float(sum(free)), "at most", 0.0),
    )
    rows = [(name, *(str(of[rule]) for rule in RULES)) for name, of in said.items()]
    return Score("b", "load runs", figures, ("run", *RULES), tuple(rows))
