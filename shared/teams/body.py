"""The bytes of a post, within the size that Teams takes. Pure."""

from __future__ import annotations

import json

import msgspec

from shared.model import Event
from shared.teams.cards import card, envelope, short_card, toast
from shared.teams.elements import Element
from shared.teams.links import Links

MOST_BYTES, MOST_ENCODED = 20_000, 24_000
"""Teams drops what is over 28,672 bytes, silently and after its own encoding, which counted 24,453
bytes as 28,897."""


def body(event: Event, delivery_id: str, links: Links) -> bytes:
    """The post that tells of an event: the whole card if it fits, else the short one."""
    whole = _encoded(event, card(event, delivery_id, links))
    return whole if fits(whole) else short_body(event, delivery_id, links)


def short_body(event: Event, delivery_id: str, links: Links) -> bytes:
    """The post for when Teams found the whole one too large."""
    return _encoded(event, short_card(event, delivery_id, links))


def fits(post: bytes) -> bool:
    """Whether Teams takes it. Encoded once more, each character beyond ASCII counts in full."""
    return len(post) <= MOST_BYTES and len(json.dumps(post.decode())) <= MOST_ENCODED


def _encoded(event: Event, content: Element) -> bytes:
    return msgspec.json.encode(envelope(content, toast(event)))
