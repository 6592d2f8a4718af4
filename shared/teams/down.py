"""Tells the other channels, once a day, that a channel takes no more messages. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime

from shared.model import Deployment, Event, Message, slot_of
from shared.teams.messages import messages_for
from shared.teams.outcome import TOO_LARGE

PAGE = "operations.md"


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


def is_down(message: Message) -> bool:
    """Whether its channel took it for good; a card that was too large says nothing of others."""
    return message.state == "failed" and message.error != TOO_LARGE


def channel_down(channel: str, message: Message, now: datetime) -> Event:
    """A notice that a channel refused a message in a way that no retry mends."""
    day = f"{now:%Y-%m-%d}"
    episode = hashlib.sha256(f"ChannelDown\n{channel}\n{day}".encode()).hexdigest()[:16]
    lost = message.events[0]
    place = f" on {lost.deployment.name}" if lost.deployment.name else ""
    slot = slot_of(now)
    return Event(
        id=f"{episode}-notice-0",
        episode=episode,
        kind="notice",
        sequence=0,
        slot=slot,
        since=slot,
        rule="ChannelDown",
        severity=lost.severity,
        owner="",
        runbook=PAGE,
        deployment=Deployment("", ""),
        region="",
        summary=(
            f"Channel {channel} takes no messages: {message.error}.\nIt was not told of {lost.rule}"
            f"{place} ({lost.kind}); what else is meant for it may be missing there as well."
        ),
    )
