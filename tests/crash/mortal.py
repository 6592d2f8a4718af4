"""A store and a session that end the process at a chosen boundary: before or after a write or a
POST."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any, TypeVar

import requests

from shared.state.store import Entity, StateStore

DEAD = 9
"""Exit code of a process that died at its boundary."""
T = TypeVar("T")


class Boundaries:
    """Counts what is about to happen and what has happened, over all threads."""

    def __init__(self, die_at: int) -> None:
        self.count = 0
        self._die_at = die_at
        self._lock = Lock()

    def around(self, call: Callable[[], T]) -> T:
        self._pass()
        result = call()
        self._pass()
        return result

    def _pass(self) -> None:
        with self._lock:
            self.count += 1
            if self.count == self._die_at:
                os._exit(DEAD)


class MortalStore:
    """A StateStore whose writes are boundaries."""

    def __init__(self, store: StateStore, boundaries: Boundaries) -> None:
        self.store, self.boundaries = store, boundaries
        self.partition, self.keys = store.partition, store.keys
        self.read, self.close = store.read, store.close

    def insert(self, partition: str, key: str, value: bytes) -> Entity:
        return self.boundaries.around(lambda: self.store.insert(partition, key, value))

    def replace(self, entity: Entity, value: bytes) -> Entity:
        return self.boundaries.around(lambda: self.store.replace(entity, value))

    def write(self, partition: str, values: Mapping[str, bytes]) -> None:
        self.boundaries.around(lambda: self.store.write(partition, values))

    def delete(self, partition: str, keys: Iterable[str]) -> None:
        self.boundaries.around(lambda: self.store.delete(partition, keys))


class MortalSession(requests.Session):
    """A session whose posts are boundaries."""

    def __init__(self, boundaries: Boundaries) -> None:
        super().__init__()
        self.boundaries = boundaries

    def send(self, request: requests.PreparedRequest, **more: Any) -> requests.Response:
        return self.boundaries.around(lambda: super(MortalSession, self).send(request, **more))
