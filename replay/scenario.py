"""A scenario: what a deployment shows minute by minute, and what a rule has to make of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shared.engine.frame import Floats
from shared.model import Account, Change, Deployment, Fit, Series, Slot
from shared.rulebook.problems import Mark
from shared.rulebook.silences import Silence
from shared.rulebook.units import Unit

START: Slot = 29_674_800
"""Minute 0 of every scenario, a noon in UTC: a multiple of a fit's grain, so that history ends
with it."""
HISTORY = 14 * 1440
"""Minutes before it."""


@dataclass(frozen=True)
class Word:
    """One thing that is expected, e.g. `resolved` and how, `unknown` and why."""

    kind: Literal["event", "state", "verdict"]
    name: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.name}, {self.detail}" if self.detail else self.name

    def fulfils(self, wanted: Word) -> bool:
        """Whether this is what was wanted; without a detail any will do."""
        return self.name == wanted.name and wanted.detail in ("", self.detail)


@dataclass(frozen=True)
class Expectation:
    """All words hold in every minute of [begin, end], or never; an event comes once in it."""

    rule: str
    begin: int
    end: int
    words: tuple[Word, ...]
    never: bool = False
    text: str = ""
    """When, as it is written."""


@dataclass(frozen=True, eq=False)
class Column:
    """A series as it is written, to be shown beside what came of it."""

    name: str
    unit: Unit
    values: Floats
    pieces: NDArray[np.int64]
    """By minute: which piece of the notation it lies in."""


@dataclass(frozen=True, eq=False)
class Scenario:
    name: str
    mark: Mark
    rules: tuple[str, ...]
    account: Account
    deployment: Deployment
    length: int
    series: tuple[Series, ...]
    """What Azure Monitor has, from `begin` to the end."""
    begin: Slot
    columns: tuple[Column, ...]
    expectations: tuple[Expectation, ...]
    changes: tuple[Change, ...] = ()
    silences: tuple[Silence, ...] = ()
    fits: tuple[Fit, ...] = ()

    def kinds(self, rule: str) -> set[str]:
        """Which of firing, quiet and unknown it shows of a rule."""
        about = [one for one in self.expectations if one.rule == rule and not one.never]
        words = {word.name for one in about for word in one.words}
        shown = {kind for word, kind in _KINDS.items() if word in words}
        return shown or {"quiet"}


_KINDS = {"fired": "firing", "unknown": "unknown"}
