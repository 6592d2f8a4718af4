"""From events to messages, and from how a post went to what becomes of its message. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from shared.model import Event, Kind, Message, Severity
from shared.teams.outcome import Outcome

FIRST_WAIT, LONGEST_WAIT = 60.0, 15 * 60.0
"""Seconds until a failed post is tried again; doubled each time."""
SHORT_ASKED, LONGEST_ASKED = 60.0, 24 * 3600.0
"""Seconds that a Retry-After may ask for: less than our own wait, once, and at the most."""

_SEVERITIES: dict[Severity, int] = {"critical": 0, "warning": 1, "info": 2}
_KINDS: dict[Kind, int] = {"fired": 0, "reminded": 1, "resolved": 2, "notice": 3}
# Kept in `error`, so that the one more try after an unknown end is remembered over restarts.
_UNSURE = "perhaps posted already: "


def messages_for(events: Iterable[Event], channels: Sequence[str]) -> tuple[Message, ...]:
    """A message for each event and channel, most severe first; the same whenever it is made."""
    messages = [
        Message(message_id(channel, event), channel, (event,))
        for event in events
        for channel in channels
    ]
    return tuple(sorted(messages, key=urgency))


def message_id(channel: str, *events: Event) -> str:
    """16 hexadecimal digits that name a message; cards show them as the delivery id."""
    text = "\n".join((channel, *(event.id for event in events)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def urgency(message: Message) -> tuple[int, int, int, str]:
    """What messages are ordered by: severity, then time, then the ends after the beginnings."""
    event = message.events[0]
    return _SEVERITIES[event.severity], event.slot, _KINDS[event.kind], message.id


def due(messages: Iterable[Message], now: float) -> list[Message]:
    """The messages to post now, most urgent first.

    An end waits for as long as the beginning of its episode still has to be told.
    """
    waiting = sorted((m for m in messages if m.state in ("pending", "claimed")), key=urgency)
    ready = [message for message in waiting if _ready(message, now)]
    return [message for message in ready if not any(_precedes(w, message, now) for w in waiting)]


def _ready(message: Message, now: float) -> bool:
    """A claim that ran out belongs to a worker that died: posted again, with the same id."""
    return max(message.next_try, message.claimed_until) <= now


def _precedes(other: Message, message: Message, now: float) -> bool:
    one, two = other.events[0], message.events[0]
    same = other.channel == message.channel and one.episode == two.episode
    return same and one.slot < two.slot and not _ready(other, now)


def after(message: Message, outcome: Outcome, now: float) -> Message:
    """The message after a post."""
    done = replace(message, attempts=message.attempts + 1, claimed_until=0.0, error=outcome.detail)
    match outcome.kind:
        case "accepted" | "delivered":
            return replace(done, state=outcome.kind, error="")
        case "permanent" | "too_large":
            return replace(done, state="failed")
        case "ambiguous" if _unsure(message):
            return replace(done, state="ambiguous", error=_UNSURE + outcome.detail)
        case _:
            wait = _wait(done.attempts, outcome.retry_after)
            unsure = outcome.kind == "ambiguous" or _unsure(message)
            error = _UNSURE + outcome.detail if unsure else outcome.detail
            return replace(done, state="pending", next_try=now + wait, error=error)


def _unsure(message: Message) -> bool:
    return message.error.startswith(_UNSURE)


def _wait(attempts: int, asked: float | None) -> float:
    """The first short wish is granted as it is, so that one post too many costs seconds. Who still
    does not take it then is left alone for as long as anybody else, or longer if it asks to."""
    if attempts == 1 and asked is not None and asked <= SHORT_ASKED:
        return max(asked, 1.0)
    return max(backoff(attempts), min(asked or 0.0, LONGEST_ASKED))


def backoff(attempts: int) -> float:
    """Seconds to wait after so many posts: 1, 2, 4, 8 and then 15 minutes."""
    return min(FIRST_WAIT * 2.0 ** min(attempts - 1, 10), LONGEST_WAIT)
