"""What a channel refused for good is told in another: the fallback, once. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from shared.model import Message
from shared.teams.down import NAME as CHANNEL_DOWN
from shared.teams.down import is_recent
from shared.teams.messages import message_id


def handed_over(failed: Message, fallbacks: Mapping[str, str], now: float) -> Message | None:
    """The message that tells it in the fallback; None if there is none, or nobody to tell.

    The id is the one of any message of these events there: if they were told there already, they
    are not told again. A fallback may have one of its own; no channel is asked twice.
    """
    channel = fallbacks.get(failed.channel, "")
    tried = (*failed.meant_for, failed.channel)
    told_anyway = any(event.rule == CHANNEL_DOWN for event in failed.events)
    if not channel or channel in tried or told_anyway or not is_recent(failed, now):
        return None
    id_ = message_id(channel, *failed.events)
    digest = (failed.digest, id_) if failed.is_digest else ("", "")
    return Message(
        id_, channel, failed.events, digest=digest[0], digest_id=digest[1], meant_for=tried
    )
