"""Random series of two hours, a value a minute, NaN in a gap; the same for the same seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from random import Random

MINUTES = 120
TOP = 20
"""Values are whole numbers from 0 to this."""
MIDDLE = TOP // 2
NAN = math.nan

History = tuple[float, ...]


def histories(seed: int, numbers: Sequence[int]) -> dict[int, History]:
    """A history for each number, of every kind in turn."""
    made = {}
    for number in numbers:
        kind = KINDS[number % len(KINDS)]
        made[number] = tuple(float(v) for v in kind(Random(f"{seed} {number}")))
    return made


def constant(dice: Random) -> Iterator[int]:
    value = dice.choice((0, MIDDLE - 1, MIDDLE, MIDDLE + 1, TOP))
    return (value for _ in range(MINUTES))


def wander(dice: Random) -> Iterator[int]:
    """A walk round the middle, which crosses it every few minutes."""
    value = MIDDLE
    for _ in range(MINUTES):
        pull = (value < MIDDLE) - (value > MIDDLE)
        value = min(TOP, max(0, value + dice.choice((-2, -1, 0, 1, 2, pull))))
        yield value


def bursts(dice: Random) -> Iterator[int]:
    """High for up to a quarter of an hour, then low for as long."""
    high = dice.random() < 0.5
    left = 0
    for _ in range(MINUTES):
        if left == 0:
            high, left = not high, dice.choice((1, 2, 3, 5, 6, 7, 10, 11, 12, 15))
        left -= 1
        yield MIDDLE + (dice.randint(1, 5) if high else -dice.randint(1, 5))


def noise(dice: Random) -> Iterator[int]:
    """Mostly on one side of the middle, with minutes on the other."""
    often = dice.choice((0.1, 0.5, 0.9))
    return (MIDDLE + (1 if dice.random() < often else -1) for _ in range(MINUTES))


KINDS: tuple[Callable[[Random], Iterator[int]], ...] = (wander, bursts, noise, bursts, constant)


def with_gaps(seed: int, history: History, longest: int) -> History:
    """The history without up to five stretches of 1 to `longest` minutes."""
    dice, values = Random(f"{seed} {history}"), list(history)
    for _ in range(dice.randint(1, 5)):
        start = dice.randrange(len(values))
        length = dice.randint(1, longest)
        if not any(map(math.isnan, values[max(0, start - 1) : start + length + 1])):
            values[start : start + length] = [NAN] * len(values[start : start + length])
    return tuple(values)


def gaps(history: History) -> list[bool]:
    return [math.isnan(value) for value in history]


def cut(history: History, out: Sequence[bool]) -> History:
    """The history without some minutes, as if they had never been."""
    return tuple(value for value, left in zip(history, out, strict=True) if not left)


def filled(history: History, value: float) -> History:
    """The history with one value in every gap."""
    return tuple(value if math.isnan(one) else one for one in history)


def carried(history: History) -> History:
    """The history with the latest value in every gap."""
    values: list[float] = []
    for one in history:
        values.append(values[-1] if math.isnan(one) and values else one)
    return tuple(values)


def spread(states: str, out: Sequence[bool]) -> str:
    """Undoes `cut` for states: a minute that was left out has the state of the one before it."""
    latest, rest, letters = ".", iter(states), ""
    for left in out:
        latest = latest if left else next(rest)
        letters += latest
    return letters
