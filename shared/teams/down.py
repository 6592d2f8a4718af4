"""Tells the other channels, once a day, that a channel takes no more messages. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from shared.model import Deployment, Event, Message, slot_of
from shared.teams.messages import messages_for
from shared.teams.outcome import TOO_LARGE

NAME = "ChannelDown"
PAGE = "operations.md"
RECENT = 24 * 3600.0
"""Seconds after which a failure is no news any more."""


def down_messages(
    recorded: Iterable[Message], channels: Sequence[str], now: datetime
) -> tuple[Message, ...]:
    """What the other channels are to be told after a delivery; the same all day."""
    told = {
        message.id: message
        for failed in recorded
        if is_down(failed)
        for message in messages_for(
            [channel_down(failed.channel, failed, now)],
            [other for other in channels if other != failed.channel],
        )
    }
    return tuple(told.values())


def down_since(failed: Message, channels: Sequence[str]) -> tuple[Message, ...]:
    """What the other channels are to be told of a failure that is kept in state."""
    return down_messages([failed], channels, datetime.fromtimestamp(failed.ended, UTC))


def is_recent(message: Message, now: float) -> bool:
    """Whether it failed so lately that others are to hear of it."""
    return message.state == "failed" and message.ended > now - RECENT


def is_down(message: Message) -> bool:
    """Whether its channel refused it for good; a card that was too large says nothing of others."""
    return message.state == "failed" and message.error != TOO_LARGE


def channel_down(channel: str, message: Message, now: datetime) -> Event:
    """A notice that a channel refused a message in a way that no retry mends."""
    lost, at = message.events[0], slot_of(now)
    place = f" on {lost.deployment.name}" if lost.deployment.name else ""
    event = Event.of(
        "notice",
        NAME,
        Deployment("", ""),
        at,
        at,
        severity="critical" if lost.severity == "critical" else "warning",
        region="",
        summary=(
            f"Channel {channel} takes no messages: {message.error}.\nIt was not told of {lost.rule}"
            f"{place} ({lost.kind}); what else is meant for it may be missing there as well."
        ),
        runbook=PAGE,
    )
    digest = hashlib.sha256(f"{NAME}\n{channel}\n{now:%Y-%m-%d}".encode()).hexdigest()[:16]
    return replace(event, id=f"{digest}-notice-0", episode=digest)
