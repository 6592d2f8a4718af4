"""What a run of deliveries works with."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from shared.model import Channel, Message
from shared.teams.address import Webhook
from shared.teams.limit import LIMITS, Limits
from shared.teams.links import Links
from shared.teams.sessions import Sessions


class Versioned(Protocol):
    """A message as the ledger holds it, with what tells whether another worker changed it."""

    @property
    def value(self) -> Message: ...


V = TypeVar("V", bound=Versioned)


class Ledger(Protocol[V]):
    """Where messages are kept; `claim` and `record` raise `lost` if another worker was first."""

    def open_messages(self) -> Sequence[V]: ...

    def find(self, id_: str, /) -> Message | None:
        """A message, open or finished."""

    def add_messages(self, messages: Iterable[Message], /) -> Sequence[V]:
        """Add those that are neither open nor finished, and return them."""

    def claim(self, message: V, until: float, /) -> V: ...

    def record(self, message: V, value: Message, /) -> V | None:
        """Keep what came of it; None if that finished it."""

    def fold(self, messages: Sequence[V], digest_id: str, until: float, /) -> Sequence[V]:
        """Take messages for a digest; those that another worker took first are left out."""

    def finish(self, messages: Iterable[Message], /) -> None:
        """Close messages that another one tells."""

    def channels(self) -> Mapping[str, Channel]: ...

    def note(self, name: str, change: Callable[[Channel], Channel], /) -> Channel:
        """Change what is remembered of a channel."""


@dataclass(frozen=True)
class Run(Generic[V]):
    """What one run posts with."""

    ledger: Ledger[V]
    channels: Mapping[str, Webhook]
    links: Links
    sessions: Sessions
    now: Callable[[], float]
    lost: type[Exception]
    """What the ledger raises if another worker was first; its module is not ours to import."""
    sleep: Callable[[float], None] = time.sleep
    limits: Limits = LIMITS
    fallbacks: Mapping[str, str] = field(default_factory=dict)
    """By channel: the one that is told what it refuses for good."""
    grace: float = 5.0
    """Seconds that a thread may take beyond the budget: a connection is waited for, then an
    answer."""
