"""Minutes since 1970, and how files write them: `2026-12-01T00:55:00Z`, `+1h30m`."""

from __future__ import annotations

import re
from datetime import UTC, datetime

SPAN = re.compile(r"(?P<sign>[+-]?)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?")
UTC_TEXT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z", re.IGNORECASE)
DAY = 24 * 60


class Span(int):
    """A number of minutes, written `1d2h30m`."""


class Moment(int):
    """A minute since 1970, written as a span after (or before) the start of the world."""


def minutes(text: str) -> int:
    """The minutes of `+1h30m`; a ValueError where the text is nothing like it."""
    match = SPAN.fullmatch(text.strip())
    parts = match.groups()[1:] if match else ()
    if not match or not any(parts):
        raise ValueError(f"{text!r} is no span of time such as 30m, +1h30m or 14d")
    days, hours, rest = (int(part or 0) for part in parts)
    total = days * DAY + hours * 60 + rest
    return -total if match["sign"] == "-" else total


def seconds_of(text: str) -> float:
    """Unix seconds of a UTC time with Z; Azure refuses offsets, so they are a ValueError."""
    if not UTC_TEXT.fullmatch(text):
        raise ValueError(f"{text!r} is no UTC time such as 2026-12-01T00:55:00Z")
    return datetime.fromisoformat(text.upper().replace("Z", "+00:00")).timestamp()


def minute_of(text: str) -> int:
    return int(seconds_of(text) // 60)


def iso(minute: int) -> str:
    return datetime.fromtimestamp(minute * 60, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Clock:
    """The emulator's time, in Unix seconds. It stands still until it is set."""

    def __init__(self, now: float) -> None:
        self.now = now

    @property
    def minute(self) -> int:
        return int(self.now // 60)

    def sleep(self, seconds: float) -> None:
        """What a program sleeps with while time is compressed: no time passes."""

    def set(self, time: datetime | float) -> None:
        self.now = time.timestamp() if isinstance(time, datetime) else time
