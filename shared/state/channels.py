"""What is remembered of channels, a row each. Never an address."""

from __future__ import annotations

from collections.abc import Callable

from shared.model import Channel
from shared.state.codec import CorruptState, pack, unpack
from shared.state.outbox import Outbox, log
from shared.state.store import Conflict, Exists, Lost

CHANNELS = "channels"
TRIES = 5
"""How often a change is made anew because another worker's came first."""


class Channels(Outbox):
    """Channels over any store."""

    def channels(self) -> dict[str, Channel]:
        """What is remembered, by name of the channel. One storage call.

        What cannot be read is logged as an error and left out.
        """
        found = self._readable(self.store.partition(CHANNELS), Channel)
        return {one.entity.key: one.value for one in found}

    def note(self, name: str, change: Callable[[Channel], Channel]) -> Channel:
        """Changes what is remembered of a channel. Two storage calls, more if others do as well.

        What cannot be read is logged as an error and left as it is: it must not stop the posts.
        """
        for _ in range(TRIES):
            row = self.store.read(CHANNELS, name)
            try:
                value = change(Channel() if row is None else unpack(row, Channel))
            except CorruptState as error:
                log.error("%s", error)
                return change(Channel())
            if row is not None and pack(value) == row.value:
                return value
            try:
                if row is None:
                    self.store.insert(CHANNELS, name, pack(value))
                else:
                    self.store.replace(row, pack(value))
            except (Exists, Conflict):
                continue
            return value
        raise Lost(f"other workers kept changing what is remembered of channel {name}")
