"""Reads the score sets that lie beside this file, and the traces that the emulator has anyway."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from shared.engine.frame import Floats

HERE = Path(__file__).parent
DATA = HERE / "data"
TRACES = HERE.parents[1] / "emulator" / "data"
"""Copied once for the emulator; its ATTRIBUTION.md has the sources."""
SHIPPED, OWN = HERE.parents[1] / "rules", HERE / "rules"
"""The rules that are delivered, and the same in terms of one plain series."""

Columns = dict[str, Sequence[str]]


def columns(path: Path) -> Columns:
    """A CSV file, gzip'd or not, by the names of its columns."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    return dict(zip(names, zip(*rows, strict=True), strict=True))


def numbers(cells: Sequence[str]) -> Floats:
    """Cells as numbers; NaN where there is none."""
    return np.array([float(cell) if cell not in ("", "n/a") else np.nan for cell in cells])
