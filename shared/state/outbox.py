"""Messages: open ones in one partition, finished ones in another.

So reading what is open is one small query, however many were sent. A message is finished by
writing it to `sent` and then deleting the open row; since every other step looks into `sent`
after its own write, a message that is in both places is finished.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TypeVar

from msgspec.structs import replace as but

from shared.model import Message
from shared.state.codec import CorruptState, Versioned, pack, unpacked
from shared.state.store import Conflict, Entity, Exists, Lost, StateStore

MESSAGES = "messages"
SENT = "sent"
FINISHED = ("accepted", "delivered")
"""States in which a message is told. Failed and ambiguous ones stay with the open ones, where
everybody who looks for what is undelivered sees them; nothing more is tried."""

T = TypeVar("T")
log = logging.getLogger("tokenwatch")


class Outbox:
    """Messages over any store."""

    def __init__(self, store: StateStore) -> None:
        self.store = store

    def add_messages(self, messages: Iterable[Message]) -> None:
        """Adds those that are neither open nor finished. Two storage calls a message."""
        for message in messages:
            if self.store.read(SENT, message.id) is not None:
                continue
            try:
                self.store.insert(MESSAGES, message.id, pack(message))
            except Exists:
                continue

    def open_messages(self) -> list[Versioned[Message]]:
        """What is not finished, by id. One storage call.

        One that cannot be read is logged as an error and left out: it must not stop the others.
        """
        return self._readable(self.store.partition(MESSAGES), Message)

    def claim(self, message: Versioned[Message], until: float) -> Versioned[Message]:
        """Takes a message until a time, in Unix seconds. Two storage calls.

        Raises Lost if another worker changed it since it was read, or it is finished. Whether an
        earlier claim has run out is for the caller to see.
        """
        value = but(message.value, state="claimed", claimed_until=until)
        claimed = self._replace(message, value)
        # Added again by one who looked before it was sent, or sent by one who died right after.
        if self.store.read(SENT, value.id) is not None:
            self.store.delete(MESSAGES, [value.id])
            raise Lost(f"message {value.id} was finished by another worker: nothing to do")
        return claimed

    def record(self, claimed: Versioned[Message], message: Message) -> None:
        """Keeps what came of a message. Raises Lost if it is still open and was changed since."""
        if message.state not in FINISHED:
            self._replace(claimed, message)
            return
        # Without condition: that it was posted is true whoever holds the claim by now.
        self.store.write(SENT, {message.id: pack(message)})
        self.store.delete(MESSAGES, [message.id])

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
