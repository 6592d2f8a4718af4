"""How much a channel is posted to in an hour, and what is beyond that. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from shared.model import Channel, Message
from shared.teams.down import is_down

HOUR = 3600.0


@dataclass(frozen=True)
class Limits:
    """Posts of any 60 minutes. Teams drops what is over 100, after it said that it took it."""

    ordinary: int = 40
    """Up to so many cards, any one may be posted."""
    critical: int = 50
    """Up to so many, critical ones."""
    most: int = 60
    """All posts. What cards leave of them is for digests, so that there is always one left."""
    apart: float = 360.0
    """Seconds between two digests of what is beyond: ten an hour, as many as are left."""


LIMITS = Limits()


@dataclass(frozen=True)
class Spent:
    """Posts of the last hour."""

    cards: int
    digests: int

    @classmethod
    def of(cls, channel: Channel, now: float) -> Spent:
        digests = len(_recent(channel.digests, now))
        return cls(len(_recent(channel.posts, now)) - digests, digests)

    def allows(self, message: Message, limits: Limits) -> bool:
        """Whether the hour has a post left for a message."""
        if self.cards + self.digests >= limits.most:
            return False
        return message.is_digest or self.cards < _most_cards(message, limits)


def _recent(times: Iterable[float], now: float) -> tuple[float, ...]:
    return tuple(time for time in times if time > now - HOUR)


def _most_cards(message: Message, limits: Limits) -> int:
    severe = any(event.severity == "critical" for event in message.events)
    return limits.critical if severe else limits.ordinary


def beyond(due: Iterable[Message], channel: Channel, now: float, limits: Limits) -> list[Message]:
    """Those of the due messages, most urgent first, that the hour has no post left for."""
    spent, left = Spent.of(channel, now), []
    for message in due:
        if spent.allows(message, limits):
            one = int(message.is_digest)
            spent = Spent(spent.cards + 1 - one, spent.digests + one)
        else:
            left.append(message)
    return left


def may_digest(channel: Channel, waiting: Iterable[Message], now: float, limits: Limits) -> bool:
    """Whether it is time for a digest of what is beyond: one at a time, and not all at once."""
    under_way = any(is_overflow(message) for message in waiting)
    return not under_way and channel.digested <= now - limits.apart


def is_overflow(message: Message) -> bool:
    """Whether it is a digest of what was beyond the limit, of one message perhaps."""
    return message.is_digest and message.digest in ("", "storm")


def noted(channel: Channel, message: Message, posts: int, now: float) -> Channel:
    """What is remembered of a channel after a message was recorded."""
    times, digests = (now,) * posts, (now,) * posts if message.is_digest else ()
    channel = replace(
        channel,
        posts=_recent(channel.posts, now) + times,
        digests=_recent(channel.digests, now) + digests,
    )
    if is_overflow(message) and posts:
        channel = replace(channel, digested=now)
    if message.state in ("accepted", "delivered"):
        return replace(channel, accepted=now, down_since=0.0)
    if is_down(message):
        return replace(channel, down_since=channel.down_since or now)
    return channel
