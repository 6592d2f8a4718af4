"""From events to messages, and from how a post went to what becomes of its message. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec.structs import replace

from shared.model import Event, Message, MessageState, Slot
from shared.teams.grouping import KINDS, SEVERITIES, grouped
from shared.teams.outcome import Outcome

FIRST_WAIT, LONGEST_WAIT = 60.0, 15 * 60.0
"""Seconds until a failed post is tried again; doubled each time."""
SHORT_ASKED, LONGEST_ASKED = 60.0, 24 * 3600.0
"""Seconds that a Retry-After may ask for: less than our own wait, once, and at the most."""

WAITING: Collection[MessageState] = ("pending", "claimed", "folded")
"""States of a message that is still to be told."""
# Kept in `error`, so that the one more try after an unknown end is remembered over restarts.
_UNSURE = "perhaps posted already: "


def messages_for(events: Iterable[Event], channels: Sequence[str]) -> tuple[Message, ...]:
    """A message for each channel and group of events that were committed together, most severe
    first; the same whenever it is made."""
    messages = [
        Message(message_id(channel, *group), channel, group)
        for group in grouped(events)
        for channel in channels
    ]
    return tuple(sorted(messages, key=urgency))


def message_id(channel: str, *events: Event) -> str:
    """16 hexadecimal digits that name a message; cards show them as the delivery id."""
    text = "\n".join((channel, *sorted(event.id for event in events)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def urgency(message: Message) -> tuple[int, int, Slot, int, str]:
    """What messages are ordered by: severity, then time, then the ends after the beginnings.

    A digest is as urgent as the worst of it, and goes before the others of that severity.
    """
    worst = min((SEVERITIES[e.severity] for e in message.events), default=0)
    first = min(((e.slot, KINDS[e.kind]) for e in message.events), default=(0, 0))
    return worst, 0 if message.is_digest else 1, *first, message.id


def due(messages: Iterable[Message], now: float) -> list[Message]:
    """The messages to tell now, most urgent first.

    An end waits for as long as the beginning of its episode has to wait.
    """
    waiting = sorted((m for m in messages if m.state in WAITING), key=urgency)
    ready = [message for message in waiting if is_ready(message, now)]
    begun = beginnings(message for message in waiting if not is_ready(message, now))
    return [message for message in ready if not follows(message, begun)]


def is_ready(message: Message, now: float) -> bool:
    """A claim that ran out belongs to a worker that died: posted again, with the same id."""
    free = message.state != "folded"
    return free and max(message.next_try, message.claimed_until) <= now


Beginnings = Mapping[tuple[str, str], Sequence[tuple[Slot, str]]]
"""By channel and episode: the slots of its events, and the messages that are to tell them."""


def beginnings(messages: Iterable[Message]) -> Beginnings:
    found: dict[tuple[str, str], list[tuple[Slot, str]]] = {}
    for message in messages:
        for event in message.events:
            found.setdefault((message.channel, event.episode), []).append((event.slot, message.id))
    return found


def follows(message: Message, begun: Beginnings, among: Collection[str] = ()) -> bool:
    """Whether another message, none of `among`, is to tell what came before in an episode."""
    return any(
        slot < event.slot and other != message.id and other not in among
        for event in message.events
        for slot, other in begun.get((message.channel, event.episode), ())
    )


def after(message: Message, outcome: Outcome, now: float) -> Message:
    """The message after a post."""
    done = replace(message, attempts=message.attempts + 1, claimed_until=0.0, error=outcome.detail)
    match outcome.kind:
        case "accepted" | "delivered":
            return replace(done, state=outcome.kind, error="", ended=now)
        case "permanent" | "too_large":
            return replace(done, state="failed", ended=now)
        case "ambiguous" if is_unsure(message):
            error = _UNSURE + outcome.detail
            return replace(done, state="ambiguous", error=error, ended=now)
        case _:
            wait = _wait(done.attempts, outcome.retry_after)
            unsure = outcome.kind == "ambiguous" or is_unsure(message)
            error = _UNSURE + outcome.detail if unsure else outcome.detail
            return replace(done, state="pending", next_try=now + wait, error=error)


def is_unsure(message: Message) -> bool:
    """Whether it was perhaps posted already."""
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
