"""Units and numbers in one place, and how a value reads to a person."""

from __future__ import annotations

import math

from shared.rulebook.literals import parse_literal as parse_literal
from shared.rulebook.literals import parse_minutes as parse_minutes
from shared.rulebook.unit import BARE as BARE
from shared.rulebook.unit import MS as MS
from shared.rulebook.unit import PERCENTS as PERCENTS
from shared.rulebook.unit import TIME as TIME
from shared.rulebook.unit import Unit as Unit
from shared.rulebook.unit import alike as alike
from shared.rulebook.unit import compatible as compatible
from shared.rulebook.unit import parse_unit as parse_unit


def show(value: float | None, unit: Unit) -> str:
    """The value as a person reads it: `4.2 s`, `61 %`, `1.8` for a bare ratio, `180 tokens`."""
    if value is None or not math.isfinite(value):
        return "unknown"
    above = [base for base, power in unit.essence for _ in range(power)]
    if above == [TIME]:
        return " per ".join([_time(value), *_below(unit)])
    if unit.bases == PERCENTS.bases:
        return f"{_digits(value)} %"
    value = value / unit.scale
    if unit.bare:
        return _digits(value)
    return f"{_digits(value)} {_name(value, unit)}"


def _time(ms: float) -> str:
    for limit, size, name in ((1e3, 1.0, "ms"), (1.2e5, 1e3, "s"), (7.2e6, 6e4, "min")):
        if abs(ms) < limit:
            return f"{_digits(ms / size)} {name}"
    return f"{_digits(ms / 3.6e6)} h"


def _digits(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 100 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2g}"


def _name(value: float, unit: Unit) -> str:
    text = str(unit).replace("/", " per ") if unit.counted else str(unit)
    return text[:-1] if value == 1 and text.endswith("s") and "/" not in text else text


def _below(unit: Unit) -> list[str]:
    return [base for base, power in unit.essence for _ in range(-power)]
