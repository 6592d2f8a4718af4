"""Set (f): the series of the Numenta Anomaly Benchmark that we have; reported, no target.

Each value is played as equal minutes until the next one, with one call a minute; the rules Rising
and Falling are judged from the first minute on, without any history before it. A detection is the
row in which an alert fires. Beside it: a rolling median and MAD on the same files.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.detection import robust_z
from benchmarks.detection.data import DATA, OWN, columns, numbers
from benchmarks.detection.nab_score import Raw, Window, raw
from benchmarks.detection.play import alarms, answered, only, play, rulebook, series, slots_of
from benchmarks.detection.score import Figure, Score
from shared.engine.frame import Floats
from shared.model import Slot

NAB = DATA / "nab"
DAY = 1440


@dataclass(frozen=True)
class File:
    folder: str
    name: str
    start: Slot
    step: int
    """Minutes between two values."""
    values: Floats
    windows: tuple[Window, ...]


def all_files() -> list[File]:
    labels = json.loads((NAB / "label_windows.json").read_text(encoding="utf-8"))
    return [_read(name, labels[name]) for name in sorted(labels)]


def _read(name: str, labels: Sequence[Sequence[str]]) -> File:
    table = columns(NAB / f"{name}.gz")
    slots = slots_of(table["timestamp"])
    row = {slot: n for n, slot in enumerate(slots)}
    windows = [(row[first], row[last]) for first, last in map(slots_of, labels)]
    step = int(np.median(np.diff(slots)))
    folder, _, file = name.partition("/")
    values = numbers(table["value"])
    return File(folder, file, slots[0], step, values, tuple(windows))


def by_engine(file: File) -> list[int]:
    """Rows in which an alert fires."""
    minutes = np.repeat(file.values, file.step)
    found = [
        answered("series", np.ones_like(minutes)),
        series("series", "AzureOpenAITTLTInMS", minutes, "average"),
    ]
    judged = play(only(rulebook(OWN), ["Rising", "Falling"]), file.start, found)
    end = file.start + len(minutes)
    return [(alarm.fired - file.start) // file.step for alarm in alarms(judged, end)]


def by_robust_z(file: File) -> list[int]:
    """Rows in which an alert of the rolling median begins."""
    return [run[0] for run in robust_z.alerts(file.values, 14 * DAY // file.step, both=True)]


def score() -> Score:
    rows, ours, theirs = [], Raw(), Raw()
    files = all_files()
    for folder in sorted({file.folder for file in files}):
        own = [file for file in files if file.folder == folder]
        engine = _sum([raw(by_engine(f), f.windows, len(f.values)) for f in own])
        rolling = _sum([raw(by_robust_z(f), f.windows, len(f.values)) for f in own])
        rows.append(_row(folder, len(own), engine, rolling))
        ours, theirs = ours + engine, theirs + rolling
    rows.append(_row("all", len(files), ours, theirs))
    figures = (
        Figure("standard profile, Tokenwatch", ours.scaled),
        Figure("standard profile, rolling MAD", theirs.scaled),
    )
    names = ("folder", "files", "windows", "Tokenwatch", "rolling MAD")
    return Score("f", "Numenta Anomaly Benchmark", figures, names, tuple(rows))


def _sum(parts: Sequence[Raw]) -> Raw:
    return sum(parts, Raw())


def _row(folder: str, files: int, engine: Raw, rolling: Raw) -> tuple[str, ...]:
    return folder, str(files), str(engine.windows), _shown(engine), _shown(rolling)


def _shown(one: Raw) -> str:
    return f"{one.scaled:.1f}" if one.windows else f"{one.value:.2f} in false alarms"
