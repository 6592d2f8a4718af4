"""Messages: open ones in one partition, finished ones in another.

So reading what is open is one small query, however many were sent. A message is finished by
writing it to `sent` and then deleting the open row; since every other step looks into `sent`
after its own write, a message that is in both places is finished.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from msgspec.structs import replace as but

from shared.model import Message
from shared.state.codec import CorruptState, Versioned, pack, unpack, unpacked
from shared.state.store import Conflict, Entity, Exists, Lost, StateStore

MESSAGES = "messages"
SENT = "sent"
FINISHED = ("accepted", "delivered")
"""States in which a message is told. Failed and ambiguous ones stay with the open ones, where
everybody who looks for what is undelivered sees them; nothing more is tried."""
AT_ONCE = 8
"""Calls under way at the same time, where there are many: a storm adds hundreds of messages."""

T = TypeVar("T")
R = TypeVar("R")
log = logging.getLogger("tokenwatch")


class Outbox:
    """Messages over any store."""

    def __init__(self, store: StateStore) -> None:
        self.store = store

    def add_messages(self, messages: Iterable[Message]) -> list[Versioned[Message]]:
        """Adds those that are neither open nor finished, and returns them. Two storage calls a
        message."""
        return [added for added in _each(self.add, list(messages)) if added is not None]

    def add(self, message: Message) -> Versioned[Message] | None:
        """Adds a message, unless it is open or finished: then None. Two storage calls."""
        if self.store.read(SENT, message.id) is not None:
            return None
        try:
            return Versioned(message, self.store.insert(MESSAGES, message.id, pack(message)))
        except Exists:
            return None

    def open_messages(self) -> list[Versioned[Message]]:
        """What is not finished, by id. One storage call.

        One that cannot be read is logged as an error and left out: it must not stop the others.
        """
        return self._readable(self.store.partition(MESSAGES), Message)

    def find(self, id_: str) -> Message | None:
        """A message of this id, open or finished. Two storage calls at the most."""
        entity = self.store.read(MESSAGES, id_) or self.store.read(SENT, id_)
        return None if entity is None else unpack(entity, Message)

    def claim(self, message: Versioned[Message], until: float) -> Versioned[Message]:
        """Takes a message until a time, in Unix seconds. Two storage calls.

        Raises Lost if another worker changed it since it was read, or it is finished. Whether an
        earlier claim has run out is for the caller to see.
        """
        return self._take(message, but(message.value, state="claimed", claimed_until=until))

    def fold(
        self, messages: Sequence[Versioned[Message]], digest_id: str, until: float
    ) -> list[Versioned[Message]]:
        """Takes messages for a digest, until a time. Two storage calls a message.

        Those that another worker changed first, or that are finished, are left out.
        """

        def one(message: Versioned[Message]) -> Versioned[Message] | None:
            folded = but(message.value, state="folded", digest_id=digest_id, claimed_until=until)
            try:
                return self._take(message, folded)
            except Lost:
                return None

        return [taken for taken in _each(one, messages) if taken is not None]

    def record(self, claimed: Versioned[Message], message: Message) -> Versioned[Message] | None:
        """Keeps what came of a message; None if that finished it.

        Raises Lost if it is still open and was changed since.
        """
        if message.state not in FINISHED:
            return self._replace(claimed, message)
        # Without condition: that it was posted is true whoever holds the claim by now.
        self.finish([message])
        return None

    def finish(self, messages: Iterable[Message]) -> None:
        """Closes messages. Two storage calls for each 100 of them.

        What they said is kept in brief: that they are closed is what counts from here on.
        """
        rows = {message.id: pack(_in_brief(message)) for message in messages}
        if rows:
            self.store.write(SENT, rows)
            self.store.delete(MESSAGES, rows)

    def _take(self, message: Versioned[Message], value: Message) -> Versioned[Message]:
        taken = self._replace(message, value)
        # Added again by one who looked before it was sent, or sent by one who died right after.
        if self.store.read(SENT, value.id) is not None:
            self.store.delete(MESSAGES, [value.id])
            raise Lost(f"message {value.id} was finished by another worker: nothing to do")
        return taken

    def _replace(self, message: Versioned[Message], value: Message) -> Versioned[Message]:
        try:
            return Versioned(value, self.store.replace(message.entity, pack(value)))
        except Conflict:
            raise Lost(f"another worker took message {value.id} first: nothing to do") from None

    def _readable(self, entities: Iterable[Entity], kind: type[T]) -> list[Versioned[T]]:
        values = []
        for entity in entities:
            try:
                values.append(unpacked(entity, kind))
            except CorruptState as error:
                log.error("%s", error)
        return values


def _in_brief(message: Message) -> Message:
    events = (but(event, chart=None, facts=(), evidence=None) for event in message.events)
    return but(message, events=tuple(events))


def _each(call: Callable[[T], R], values: Sequence[T]) -> list[R]:
    """The results in order; several calls at once, as each waits for the store."""
    if len(values) < AT_ONCE:
        return [call(value) for value in values]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(call, values))
