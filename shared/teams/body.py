"""The bytes of a post, within the size that Teams takes. Pure."""

from __future__ import annotations

import json

import msgspec

from shared.model import Event, Message
from shared.teams.cards import card, envelope, short_card, toast
from shared.teams.elements import Element
from shared.teams.links import Links
from shared.teams.many import MOST_ROWS, many_card, many_toast

MOST_BYTES, MOST_ENCODED = 20_000, 24_000
"""Teams drops what is over 28,672 bytes, silently and after its own encoding, which counted 24,453
bytes as 28,897."""
SHORT_ROWS = 3
"""Rows of a table when Teams found the whole one too large."""


def message_body(message: Message, links: Links) -> bytes:
    """The post that tells a message."""
    if _is_many(message):
        return _many(message, links, MOST_ROWS)
    return body(message.events[0], message.id, links, _note(message))


def short_message_body(message: Message, links: Links) -> bytes:
    """The post of a message for when Teams found the whole one too large."""
    if _is_many(message):
        return _many(message, links, SHORT_ROWS)
    return short_body(message.events[0], message.id, links, _note(message))


def body(event: Event, delivery_id: str, links: Links, note: str = "") -> bytes:
    """The post that tells of an event: the whole card if it fits, else the short one."""
    whole = _encoded(card(event, delivery_id, links, note), toast(event))
    return whole if fits(whole) else short_body(event, delivery_id, links, note)


def short_body(event: Event, delivery_id: str, links: Links, note: str = "") -> bytes:
    """The post for when Teams found the whole one too large."""
    return _encoded(short_card(event, delivery_id, links, note), toast(event))


def fits(post: bytes) -> bool:
    """Whether Teams takes it. Encoded once more, each character beyond ASCII counts in full."""
    return len(post) <= MOST_BYTES and len(json.dumps(post.decode())) <= MOST_ENCODED


def _is_many(message: Message) -> bool:
    return len(message.events) > 1 or message.digest == "daily"


def _many(message: Message, links: Links, rows: int) -> bytes:
    """As many rows as fit; what has none is small enough."""
    note, toasted = _note(message), many_toast(message)
    for count in range(min(rows, len(message.events)), -1, -1):
        post = _encoded(many_card(message, links, count, note), toasted)
        if fits(post):
            break
    return post


def _note(message: Message) -> str:
    """Why a card comes to this channel."""
    if not message.meant_for:
        return ""
    return f"For the channel {message.meant_for[0]}, which does not take it."


def _encoded(content: Element, summary: str) -> bytes:
    return msgspec.json.encode(envelope(content, summary))
