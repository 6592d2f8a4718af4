"""Values to bytes and back: a byte of format version, then zlib over MessagePack.

A row that cannot be read is never overwritten: it is named, and a person decides.
"""
# ruff: noqa: N818  CorruptState, NewerState read as what was found; both are StateError.

from __future__ import annotations

import zlib
from dataclasses import dataclass
from shlex import quote
from typing import Generic, TypeVar

import msgspec

from shared.state.store import Entity, StateError

FORMAT = 1
"""First byte of every value. Raised when older releases cannot read what is written."""

T = TypeVar("T")
_encoder = msgspec.msgpack.Encoder(order="deterministic")


class CorruptState(StateError):
    """A row that cannot be read. It was left as it is."""

    def __init__(self, partition: str, key: str, why: str, cure: str = "") -> None:
        self.partition, self.key, self.why = partition, key, why
        self.cure = cure or (
            "It was left as it is: restore it, or delete it with "
            f"`tokenwatch state delete {quote(partition)} {quote(key)}`"
        )
        super().__init__(f"row {key} of partition {partition} cannot be read ({why}). {self.cure}")


class NewerState(CorruptState):
    """A row in a format that only a newer release knows."""

    def __init__(self, partition: str, key: str, version: int) -> None:
        super().__init__(
            partition,
            key,
            f"format {version}, written by a newer release",
            f"It was left as it is: upgrade this release, which knows formats up to {FORMAT}",
        )


@dataclass(frozen=True)
class Versioned(Generic[T]):
    """A value and the entity it was read from, whose ETag a conditional write needs."""

    value: T
    entity: Entity


def pack(value: object) -> bytes:
    """The same bytes for the same value, whatever the order of its mappings."""
    return bytes([FORMAT]) + zlib.compress(_encoder.encode(value))


def unpack(entity: Entity, kind: type[T]) -> T:
    """The value of an entity. Raises CorruptState, which names the row and says what to do."""
    data = entity.value
    if not data:
        raise CorruptState(entity.partition, entity.key, "it is empty")
    if data[0] > FORMAT:
        raise NewerState(entity.partition, entity.key, data[0])
    if data[0] != FORMAT:
        raise CorruptState(entity.partition, entity.key, f"there is no format {data[0]}")
    try:
        return msgspec.msgpack.decode(zlib.decompress(data[1:]), type=kind)
    # UnicodeDecodeError is what msgspec raises for text that is no UTF-8.
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise CorruptState(entity.partition, entity.key, str(error)) from error


def unpacked(entity: Entity, kind: type[T]) -> Versioned[T]:
    return Versioned(unpack(entity, kind), entity)
