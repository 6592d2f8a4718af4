"""Recorded production traffic that worlds draw their load and their tokens from."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from emulator.source import Array

DATA = Path(__file__).parent / "data"
STEP = 10
"""Minutes that one row of a request rate stands for."""


@cache
def request_rate(file: str) -> Array:
    """Requests a minute relative to the mean of the file, one value in STEP minutes."""
    rate: Array = np.loadtxt(DATA / file, delimiter=",", skiprows=1, usecols=1)
    shape: Array = rate / rate.mean()
    return shape


def load_at(file: str, mean: float, minutes: Array) -> Array:
    """The load in some minutes; the file is played round and round."""
    shape = request_rate(file)
    return mean * shape[(minutes // STEP).astype(np.int64) % len(shape)]


@cache
def tokens(file: str) -> Array:
    """Two columns, prompt and generated tokens, one row a recorded request."""
    return np.loadtxt(DATA / file, delimiter=",", skiprows=1, usecols=(1, 2))
