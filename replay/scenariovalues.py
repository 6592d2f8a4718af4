"""What a notation stands for: pieces of a series, and a value a minute of them."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.engine.frame import Floats


@dataclass(frozen=True)
class Piece:
    """Some minutes from one value to another; NaN for no points."""

    first: float
    last: float
    minutes: int
    spread: float = 0.0
    """Values are scattered evenly within this share of themselves."""


@dataclass(frozen=True)
class Notation:
    """Pieces in order, and what is repeated after them to the end; nothing, if it ends itself."""

    pieces: tuple[Piece, ...]
    tail: tuple[Piece, ...] = ()

    @property
    def minutes(self) -> int:
        """How long it lasts, the tail aside."""
        return sum(piece.minutes for piece in self.pieces)

    def values(self, length: int, seed: str) -> Floats:
        """A value a minute; NaN beyond its end. `seed` decides how values scatter."""
        line = self._laid(length, lambda _, p: np.linspace(p.first, p.last, p.minutes))
        spread = self._laid(length, lambda _, p: np.full(p.minutes, p.spread))
        return line * (1 + spread * noise(seed, length)) if (spread > 0).any() else line

    def numbers(self, length: int) -> NDArray[np.int64]:
        """By minute: which of its pieces it lies in; -1 beyond its end."""
        numbers = self._laid(length, lambda n, p: np.full(p.minutes, float(n)))
        return np.nan_to_num(numbers, nan=-1).astype(np.int64)

    def _laid(self, length: int, make: Callable[[int, Piece], Floats]) -> Floats:
        """What is made of each piece and its number, one after the other; NaN beyond the end."""
        made = np.full(length, np.nan)
        parts = [make(n, piece) for n, piece in enumerate((*self.pieces, *self.tail))]
        begin = min(self.minutes, length)
        if begin:
            made[:begin] = np.concatenate(parts[: len(self.pieces)])[:length]
        if self.tail:
            round_ = np.concatenate(parts[len(self.pieces) :])
            made[begin:] = round_[np.arange(length - begin) % len(round_)]
        return made

    def repeated(self, length: int, seed: str) -> Floats:
        """The same over and over, so that it ends with its own end; a tail fills the length."""
        if self.tail:
            return self.values(length, seed)
        whole = length + -length % self.minutes
        return Notation((), self.pieces).values(whole, seed)[whole - length :]

    @property
    def usual(self) -> Notation | None:
        """What it always does, or else what it begins with; None if it has no point at all."""
        known = [piece for piece in (*self.pieces, *self.tail) if not np.isnan(piece.first)]
        if not known:
            return None
        begins = Piece(known[0].first, known[0].first, 1, known[0].spread)
        return Notation((begins,) if self.pieces else self.tail)


def noise(seed: str, length: int) -> Floats:
    """Numbers spread evenly over [-1, 1], the same for a seed and a minute on every machine.

    SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
    """
    state = np.arange(1, length + 1, dtype=np.uint64) << np.uint64(32)
    state = (state + np.uint64(zlib.crc32(seed.encode()))) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        state = (state ^ (state >> np.uint64(shift))) * np.uint64(factor)
    state ^= state >> np.uint64(31)
    return (state >> np.uint64(11)).astype(np.float64) / 2.0**52 - 1
