"""A digest of several messages, and what becomes of a folding that was cut short. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from shared.model import DigestKind, Event, Message
from shared.teams.grouping import brief, worst_first


@dataclass(frozen=True)
class Fold:
    """Messages of one channel that share a digest."""

    id: str
    kind: DigestKind
    members: tuple[Message, ...]


def digest_of(fold: Fold) -> Message:
    """The message that tells all of a fold. One member alone is told as it would have been."""
    first = fold.members[0]
    alone = len(fold.members) == 1 and fold.kind != "daily"
    events = [event for member in fold.members for event in brief_events(member)]
    return Message(
        fold.id,
        first.channel,
        first.events if alone else tuple(worst_first(events)),
        digest="" if alone else fold.kind,
        digest_id=fold.id,
        meant_for=first.meant_for,
    )


def brief_events(message: Message) -> tuple[Event, ...]:
    return tuple(brief(event) for event in message.events)


def digest_id(members: Sequence[Message], kind: DigestKind, now: float) -> str:
    """Another one for each attempt: who takes up a folding finds the id in the members."""
    text = "\n".join((members[0].channel, kind, repr(now), *(m.id for m in members)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def leftovers(messages: Iterable[Message], now: float) -> list[Fold]:
    """The foldings whose worker died on the way: the lease of every member has run out."""
    folded: dict[str, list[Message]] = {}
    for message in messages:
        if message.state == "folded":
            folded.setdefault(message.digest_id, []).append(message)
    return [
        Fold(id_, members[0].digest or "storm", tuple(members))
        for id_, members in folded.items()
        if max(member.claimed_until for member in members) <= now
    ]


def is_told_by(digest: Message, member: Message) -> bool:
    """Whether the digest tells all of the member: one that was folded late may not be in it."""
    told = {event.id for event in digest.events}
    return told.issuperset(event.id for event in member.events)


def put_back(member: Message) -> Message:
    """A member that no digest tells, as it was before."""
    return replace(member, state="pending", digest_id="", claimed_until=0.0)
