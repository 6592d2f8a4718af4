"""What every store of state does: a narrow table of entities with ETags, and its errors."""
# ruff: noqa: N818  Exists, Conflict, Lost, TooLarge read as what happened; all are StateError.

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

PIECE = 60_000
"""Bytes of a property, whose limit is 64 KiB as documented and 64 KB as seen."""
MOST_PIECES = 13
MAX_VALUE = PIECE * MOST_PIECES
"""Most bytes of a value. An entity takes 1 MiB; Azurite counts the base64 of it, so do we."""


class StateError(Exception):
    """State could not be used as asked; the text says what to do."""


class Exists(StateError):
    """An entity of this key is already there."""


class Conflict(StateError):
    """The entity was changed or deleted since it was read."""


class Lost(StateError):
    """Another worker was first; there is nothing left to do."""


class StateUnavailable(StateError):
    """The store cannot be reached, or does not let us in, or has no room."""


class TooLarge(StateError):
    """A value or key is beyond what Table Storage takes; SQLite holds to the same limits."""


@dataclass(frozen=True)
class Entity:
    """One row as it was read or written; `etag` changes with every write."""

    partition: str
    key: str
    value: bytes = field(repr=False)
    etag: str


class StateStore(Protocol):
    """Safe for several threads and processes. Every method raises StateError and nothing else.

    Keys are any text. They sort, and ranges are taken, by their escaped form (see `keys`), which
    for letters, digits and `._:-` is the text itself.
    """

    def partition(self, partition: str, low: str = "", high: str = "") -> list[Entity]:
        """The entities with low <= key < high, sorted by key; an empty bound is no bound."""

    def keys(self, partition: str) -> list[str]:
        """The keys of a partition, sorted, without reading the values."""

    def read(self, partition: str, key: str) -> Entity | None:
        """One entity, or None where there is none."""

    def insert(self, partition: str, key: str, value: bytes) -> Entity:
        """Adds an entity. Raises Exists where there is one."""

    def replace(self, entity: Entity, value: bytes) -> Entity:
        """Gives an entity another value. Raises Conflict if it is not as it was read."""

    def write(self, partition: str, values: Mapping[str, bytes]) -> None:
        """Adds or overwrites many. If it fails, a part of them may have been written."""

    def delete(self, partition: str, keys: Iterable[str]) -> None:
        """Deletes many; absent ones are fine."""

    def close(self) -> None:
        """Releases connections; the store is not used afterwards."""


def check_size(partition: str, key: str, value: bytes) -> None:
    """Raises TooLarge for a value that Table Storage would not take."""
    if len(value) > MAX_VALUE:
        raise TooLarge(
            f"row {key!r} of partition {partition!r} has {len(value):,} bytes, and at most "
            f"{MAX_VALUE:,} fit: watch fewer deployments in one shard, or spread the row over more"
        )
