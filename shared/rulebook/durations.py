"""How long: the window of a rule, and how long a breach must hold."""

from __future__ import annotations

import re

from shared.rulebook.literals import parse_minutes
from shared.rulebook.problems import TextError
from shared.rulebook.rules import Hold

LONGEST_WINDOW = 60
LONGEST_HOLD = 24 * 60
"""What holds for a day counts as normal afterwards; whoever waits longer never hears of it."""
SHORTEST_REMINDER, LONGEST_REMINDER = 10, 7 * 24 * 60
_N_OF_M = re.compile(r"(\d+) of (\d+)", re.ASCII)
_NEARLY = re.compile(r"(\d+)\s*(?:out of|of|/)\s*(\d+)\s*m?", re.ASCII)


def parse_window(text: str) -> tuple[int, int]:
    """`5m` -> (5, 5), `10m..30m` -> (10, 30): the shortest and the longest window.

    Raises:
        TextError: the text is no window of 1 to 60 minutes.
    """
    parts = [part.strip() for part in text.split("..")]
    if len(parts) > 2 or "" in parts:
        cure = "Write over: 5m, or over: 10m..30m for a window that grows."
        raise TextError(f"{text!r} is no window", cure)
    shortest, longest = parse_minutes(parts[0]), parse_minutes(parts[-1])
    if shortest > longest:
        message = "a window grows from its shortest to its longest"
        raise TextError(message, f"Write over: {parts[1]}..{parts[0]}.")
    if shortest < 1 or longest > LONGEST_WINDOW:
        cure = f"Write over: {LONGEST_WINDOW}m at most, and 1m at least."
        raise TextError(f"a window lasts from 1 to {LONGEST_WINDOW} minutes", cure)
    return shortest, longest


def parse_hold(text: str) -> Hold:
    """`5m`, `0`, or `3 of 5`.

    Raises:
        TextError: the text is none of them.
    """
    match = _N_OF_M.fullmatch(text)
    if match is None:
        nearly = _NEARLY.fullmatch(text)
        if nearly:
            cure = f"Write for: {nearly[1]} of {nearly[2]}."
            raise TextError(f"{text!r} is no duration and no n of m", cure)
        return Hold(minutes=parse_wait(text))
    breaches, among = int(match[1]), int(match[2])
    if not 1 <= breaches <= among <= LONGEST_WINDOW:
        raise TextError(f"n of m needs 1 <= n <= m <= {LONGEST_WINDOW}", "Write for: 3 of 5.")
    return Hold(breaches=breaches, among=among)


def parse_wait(text: str) -> int:
    """Minutes, a day at most.

    Raises:
        TextError: the text is no such duration.
    """
    minutes = parse_minutes(text)
    if minutes > LONGEST_HOLD:
        raise TextError(f"{text} is longer than 24h, the longest that is waited", "Write 24h.")
    return minutes


def parse_reminder(text: str) -> int:
    """Minutes between two reminders, ten minutes to a week; 0 for none.

    Raises:
        TextError: the text is no such duration.
    """
    minutes = parse_minutes(text)
    if minutes and not SHORTEST_REMINDER <= minutes <= LONGEST_REMINDER:
        cure = "Write remind_every: 4h, or 0 for never."
        raise TextError(f"{text} is not from {SHORTEST_REMINDER}m to 7d", cure)
    return minutes
