"""Numbers with their unit, as people write them: `10s`, `95%`, `2k`; and durations."""

from __future__ import annotations

import re

from shared.rulebook.problems import TextError
from shared.rulebook.unit import BARE, MS, PERCENTS, SCALES, UNIT_WORDS, Unit

_LARGEST = 1e15
_LITERAL = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|%|k|M)?", re.ASCII)
LOOSE = re.compile(
    r"(?<![\w.])(?P<number>\d[\d,_]*(?:\.\d*)?|\.\d+)(?:e(?P<power>[+-]?\d{1,2}))?"
    r"(?P<gap>\s*)(?P<unit>[A-Za-z%]*)",
    re.ASCII | re.IGNORECASE,
)
"""What is meant as a number, however it is written."""


def parse_literal(text: str) -> tuple[float, Unit]:
    """A number with its unit: `10s` -> (10000.0, ms), `95%` -> (95.0, %), `2k` -> (2000.0, bare).

    Raises:
        TextError: the text is no such number.
    """
    match = _LITERAL.fullmatch(text.strip())
    if not match:
        message = f"{text!r} is no number like 5, 95%, 250ms, 10s, 15m, 1d, 2k or 1M"
        raise TextError(message, _cure(text))
    number, suffix = float(match[1]), match[2]
    if number > _LARGEST:
        raise TextError(f"{text[:20]!r}... is too large a number", "No metric gets there.")
    if suffix is None:
        return number, BARE
    if suffix == "%":
        return number, PERCENTS
    if suffix in ("k", "M"):
        return number * (1e3 if suffix == "k" else 1e6), BARE
    return number * SCALES[suffix], MS


def parse_minutes(text: str) -> int:
    """A whole number of minutes: `5m`, `2h`, `0`.

    Raises:
        TextError: the text is no duration, or has seconds.
    """
    try:
        value, unit = parse_literal(text)
    except TextError as error:
        raise TextError(f"{text[:20]!r} is no duration like 5m or 2h", _long(text)) from error
    if unit.bases != MS.bases and value:
        raise TextError(f"{text!r} is no duration like 5m or 2h", _minutes(value, unit))
    minutes = value / 6e4
    if minutes != int(minutes):
        cure = f"Write {int(minutes)}m or {int(minutes) + 1}m."
        raise TextError(f"{text!r} is not a whole number of minutes", cure)
    return int(minutes)


def respelled(text: str) -> str:
    """The number that a text means, as the language writes it; empty if it means none.

    `10 s` -> `10s`, `10sec` -> `10s`, `1,000` -> `1000`, `1,5s` -> `1.5s`, `1e3` -> `1000`.
    """
    match = LOOSE.fullmatch(text.strip())
    if not match:
        return ""
    unit = _unit(match["unit"])
    number = match["number"].replace("_", "")
    number = number.replace(",", "" if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d*)?", number) else ".")
    if unit is None or number.count(".") > 1:
        return ""
    value = float(number) * 10.0 ** int(match["power"] or 0)
    return f"{plain(value)}{unit}" if value <= _LARGEST else ""


def _unit(word: str) -> str | None:
    return UNIT_WORDS.get(word, UNIT_WORDS.get(word.lower())) if word else ""


def plain(value: float) -> str:
    """The digits of a number as the language writes it, without an exponent."""
    return f"{value:.9f}".rstrip("0").rstrip(".")


def _cure(text: str) -> str:
    meant = respelled(text.strip().lstrip("+-"))
    if meant and text.strip().startswith("-"):
        return f"Write {meant}, and subtract it where it is used."
    return f"Write {meant or 'a number with its unit, e.g. 10s'}."


def _long(text: str) -> str:
    """The cure for a duration that is not even a number."""
    meant = respelled(text)
    if not meant:
        return "Write it like 5m or 2h."
    value, unit = parse_literal(meant)
    return f"Write {meant}." if unit == MS and not value % 6e4 else _minutes(value, unit)


def _minutes(value: float, unit: Unit) -> str:
    whole = unit.bare and value == int(value) and value <= 1440
    return f"Write {plain(value)}m for minutes." if whole else "Write it like 5m or 2h."
