"""`series` and `history` of a scenario -> its length, its columns, and the series behind them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from replay.notation import parse_series
from replay.scenario import HISTORY, Column
from replay.scenarioplace import NONE, SHAPES, Place
from replay.scenarioseries import Key, resolve
from replay.scenariosource import Source, source_of
from replay.scenariovalues import Notation
from shared.engine.frame import Floats
from shared.model import Deployment, Series
from shared.rulebook.rules import Rulebook


@dataclass(frozen=True)
class Written:
    """One series as it is written."""

    name: str
    source: Source
    notation: Notation


@dataclass(frozen=True)
class Given:
    """The series of a scenario, and how long it lasts."""

    place: Place
    book: Rulebook
    series: tuple[Written, ...]
    said: tuple[Written, ...]
    """What is said of the days before."""
    length: int

    @property
    def before(self) -> int:
        """Minutes of history."""
        return 0 if self.place.tree.get("history") == NONE else HISTORY

    def columns(self) -> tuple[Column, ...]:
        length = self.length
        return tuple(
            Column(
                one.name,
                one.source.unit,
                one.notation.values(length, one.name),
                one.notation.numbers(length),
            )
            for one in self.series
        )

    def behind(self, deployment: Deployment) -> tuple[Series, ...]:
        """The series that Azure Monitor has, history first; nothing after an error."""
        if self.place.wrong:
            return ()
        later = self._resolved(
            self.series, "series", lambda w: w.notation.values(self.length, w.name)
        )
        earlier = self._history() if self.before and not self.place.wrong else {}
        return tuple(
            Series(
                deployment,
                *key,
                _joined((earlier.get(key), self.before), (later.get(key), self.length)),
            )
            for key in sorted(earlier.keys() | later.keys())
        )

    def _history(self) -> dict[Key, Floats]:
        """The 14 days before: what is said of them, else how each series begins."""
        names = {one.name for one in self.said}
        usual = [
            Written(one.name, one.source, notation)
            for one in self.series
            if one.name not in names and (notation := one.notation.usual)
        ]
        return self._resolved(
            (*self.said, *usual),
            "history",
            lambda w: w.notation.repeated(HISTORY, f"{w.name} before"),
        )

    def _resolved(
        self, written: tuple[Written, ...], key: str, values: Callable[[Written], Floats]
    ) -> dict[Key, Floats]:
        def blame(name: str, message: str, cure: str) -> None:
            self.place.error(message, cure, key, name)

        named = {one.name: (one.source, values(one)) for one in written}
        return resolve(named, self.book.signals, blame)


def _joined(*parts: tuple[Floats | None, int]) -> Floats:
    return np.concatenate([np.full(n, np.nan) if part is None else part for part, n in parts])


def read_given(place: Place, book: Rulebook, lasts: str) -> Given:
    """What a scenario shows, after saying what is wrong with it."""
    series = read_series(place, "series", book)
    if not place.mapping("series"):
        place.error("it has no series", SHAPES["series"], "series")
    said = read_series(place, "history", book)
    return Given(place, book, series, said, _length(place, series, lasts))


def read_series(place: Place, key: str, book: Rulebook) -> tuple[Written, ...]:
    """The series of a mapping, as far as they can be read."""
    found = []
    for name, text in place.mapping(key).items():
        source = place.attempt(partial(source_of, name, book.signals), key, name)
        if not isinstance(text, str):
            place.error(f"{name} is no series", "Write it like `5`, or `4s x60, 9s`.", key, name)
        elif source:
            parse = partial(parse_series, text, source.unit)
            notation = place.attempt(parse, key, name, within=True)
            if notation:
                found.append(Written(name, source, notation))
    return tuple(found)


def _length(place: Place, series: tuple[Written, ...], lasts: str) -> int:
    ends = [one.notation.minutes for one in series if not one.notation.tail]
    if not ends and not lasts:
        if not place.wrong:
            place.error("no series has an end", "Say how long it lasts, e.g. lasts: 60m.")
        return HISTORY
    length = place.minute(lasts, "lasts") if lasts else max(ends)
    if length < 1:
        place.error("it lasts no minute", "Write e.g. lasts: 60m.", "lasts")
        return HISTORY
    for one in series:
        _fits(place, one, length)
    return length


def _fits(place: Place, one: Written, length: int) -> None:
    minutes, goes_on = one.notation.minutes, bool(one.notation.tail)
    if minutes + goes_on > length:
        cure = f"Leave out what comes later, or write lasts: {minutes + goes_on}m."
        place.error(f"{one.name} goes on after the end at {length}m", cure, "series", one.name)
    elif not goes_on and minutes < length:
        cure = "Without its last count it goes on to the end; `, _` at its end is no points."
        message = f"{one.name} ends after {minutes} of {length} minutes"
        place.error(message, cure, "series", one.name)
