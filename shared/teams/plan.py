"""What to fold and what to post next in a channel: functions of its messages, of what is
remembered of it, and of now. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from shared.model import Channel, DigestKind, Message
from shared.teams.digest import Fold, brief_events, digest_id
from shared.teams.grouping import shares
from shared.teams.limit import Limits, Spent, beyond, may_digest
from shared.teams.messages import WAITING, beginnings, due, follows, is_unsure


def following(
    messages: Iterable[Message], channel: Channel, now: float, limits: Limits
) -> Message | None:
    """The message to post next, if there is one that the hour has a post left for.

    No end goes before its beginning. Should two wait for each other, the more urgent one goes.
    """
    waiting = [message for message in messages if message.state in WAITING]
    spent = Spent.of(channel, now)
    ready = [m for m in due(waiting, now) if not is_held(m) and spent.allows(m, limits)]
    begun = beginnings(waiting)
    free = (message for message in ready if not follows(message, begun))
    return next(free, ready[0] if ready else None)


def folds(messages: Iterable[Message], channel: Channel, now: float, limits: Limits) -> list[Fold]:
    """What is to be folded now: what was held until now, and what is beyond the limit."""
    waiting = [message for message in messages if message.state in WAITING]
    ready = due(waiting, now)
    chosen = [message for message in ready if is_held(message)]
    if may_digest(channel, waiting, now, limits):
        posted = [message for message in ready if not is_held(message)]
        chosen += beyond(posted, channel, now, limits)
    alike: dict[tuple[DigestKind, tuple[str, ...]], list[Message]] = {}
    for message in filter(is_untouched, chosen):
        alike.setdefault((message.digest or "storm", message.meant_for), []).append(message)
    return [
        Fold(digest_id(part, kind, now), kind, tuple(part))
        for (kind, _), members in alike.items()
        for part in _divided(_closed(members, waiting))
    ]


def is_held(message: Message) -> bool:
    """Whether it waits for a digest, instead of being posted itself."""
    return bool(message.digest) and not message.is_digest


def is_untouched(message: Message) -> bool:
    """Whether it may be told in another way: what was perhaps posted already is only told again
    as it is, so that it can be recognised."""
    return message.state == "pending" and not message.is_digest and not is_unsure(message)


def _closed(members: list[Message], waiting: Sequence[Message]) -> list[Message]:
    """The members without those whose episodes have a beginning that waits elsewhere, so that no
    digest has to wait for another message."""
    begun = beginnings(waiting)
    while True:
        ids = {message.id for message in members}
        kept = [message for message in members if not follows(message, begun, ids)]
        if len(kept) == len(members):
            return kept
        members = kept


def _divided(members: list[Message]) -> Iterator[list[Message]]:
    """Parts that fit into a row each, in the order of time: no end before its beginning."""
    ordered = sorted(members, key=lambda m: (min(e.slot for e in m.events), m.id))
    for part in shares([brief_events(message) for message in ordered]):
        yield ordered[: len(part)]
        ordered = ordered[len(part) :]
