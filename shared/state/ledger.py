"""What state means: heads are the truth, rows count if a head names them.

Rows are written first, then one conditional write of the head names them. A worker that loses
there leaves rows that no head names, which do not exist and are swept later.
"""
# ruff: noqa: N818  Lost and OlderBuild read as what happened; both are StateError.

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec
from msgspec.structs import replace as but

from shared.model import Change, Event, Fit, Head, Muted, Slot
from shared.state.channels import Channels
from shared.state.codec import CorruptState, Versioned, pack, unpack, unpacked
from shared.state.keys import bound
from shared.state.rows import attempt_id, attempt_of, attempt_time, event_row, fit_row
from shared.state.store import Conflict, Entity, Exists, Lost, StateError

__all__ = [
    "CorruptState",
    "Ledger",
    "Lost",
    "OlderBuild",
    "StateError",
    "Versioned",
    "attempt_id",
    "attempt_of",
    "attempt_time",
    "event_row",
    "fit_row",
]

HEADS = "heads"
CHANGES = "changes"
SILENCES = "silences"

T = TypeVar("T")


class OlderBuild(StateError):
    """A newer rulebook has committed already."""


class Ledger(Channels):
    """Heads, their rows, changes and (from Channels) messages and channels, over any store."""

    def heads(self) -> tuple[dict[str, Versioned[Head]], dict[str, CorruptState]]:
        """The heads by shard, and the shards whose head cannot be read. One storage call."""
        heads: dict[str, Versioned[Head]] = {}
        corrupt: dict[str, CorruptState] = {}
        for entity in self.store.partition(HEADS):
            try:
                heads[entity.key] = unpacked(entity, Head)
            except CorruptState as error:
                corrupt[entity.key] = error
        return heads, corrupt

    def commit(
        self, shard: str, prior: Versioned[Head] | None, head: Head, rows: Mapping[str, bytes]
    ) -> Versioned[Head]:
        """Makes a head the truth. One storage call, and one more for each 100 rows.

        Raises OlderBuild before anything is written, and Lost if another worker was first.
        """
        if prior is not None and prior.value.build > head.build:
            raise OlderBuild(
                f"shard {shard} was committed by build {prior.value.build} of the rulebook, and "
                f"this is build {head.build}: deploy the newer one everywhere, or, to go back, "
                "deploy the older rules as a new build"
            )
        if strangers := [name for name in rows if attempt_of(name) != head.attempt]:
            raise ValueError(f"rows of another attempt than {head.attempt}: {strangers}")
        if rows:
            self.store.write(home(shard), rows)
        try:
            return Versioned(head, self._put_head(shard, prior, pack(head)))
        except (Exists, Conflict):
            raise Lost(f"another worker committed shard {shard} first: nothing to do") from None

    def events(self, shard: str, names: Iterable[str]) -> tuple[Event, ...]:
        """The events in the rows of these names, in that order. One storage call."""
        return self._rows(shard, names, tuple[Event, ...])

    def fits(self, shard: str, names: Iterable[str]) -> tuple[Fit, ...]:
        """The fits in the rows of these names, in that order. One storage call."""
        return self._rows(shard, names, tuple[Fit, ...])

    def sweep(self, shard: str, head: Head, now: float, grace_seconds: float) -> int:
        """Deletes the rows that the head does not name and that are past grace; says how many.

        The grace must be far longer than an attempt may take, since a concurrent attempt's rows
        are not named yet.
        """
        named = {*head.events, *head.fits.values()}
        stale = [
            key
            for key in self.store.keys(home(shard))
            if key not in named and _is_before(key, now - grace_seconds)
        ]
        if stale:
            self.store.delete(home(shard), stale)
        return len(stale)

    def record_change(self, change: Change) -> bool:
        """Records a change; False if it was recorded before, whose row then stays."""
        try:
            self.store.insert(CHANGES, _change_key(change), pack(change))
        except Exists:
            return False
        return True

    def changes(self, since: Slot = 0) -> tuple[Change, ...]:
        """The changes from a slot on, by slot. One storage call.

        One that cannot be read is logged as an error and left out: it must not stop the watch.
        """
        found = self._readable(self.store.partition(CHANGES, f"{since:012d}"), Change)
        return tuple(change.value for change in found)

    def silence(self, muted: Muted) -> None:
        """Keeps a silence until it is over, and some days longer for people to see."""
        self.store.write(SILENCES, {_silence_key(muted): pack(muted)})

    def silences(self, since: Slot = 0) -> list[Versioned[Muted]]:
        """The silences that end at a slot or later, by end. One storage call."""
        return self._readable(self.store.partition(SILENCES, f"{since:012d}"), Muted)

    def lift(self, silence: Versioned[Muted], end: Slot) -> None:
        """Ends a silence earlier than it was meant to."""
        self.silence(but(silence.value, end=end))
        self.store.delete(SILENCES, [silence.entity.key])

    def _put_head(self, shard: str, prior: Versioned[Head] | None, value: bytes) -> Entity:
        if prior is None:
            return self.store.insert(HEADS, shard, value)
        return self.store.replace(prior.entity, value)

    def _rows(self, shard: str, names: Iterable[str], kind: type[tuple[T, ...]]) -> tuple[T, ...]:
        wanted = list(names)
        if not wanted:
            return ()
        # One range is one call, where reading each would be one for each.
        low, high = min(wanted, key=bound), max(wanted, key=bound)
        found = {row.key: row for row in self.store.partition(home(shard), low, f"{high}\0")}
        values: list[T] = []
        for name in wanted:
            if name not in found:
                raise _missing(shard, name)
            values.extend(unpack(found[name], kind))
        return tuple(values)


def home(shard: str) -> str:
    """The partition of a shard's rows; the prefix keeps it apart from all others."""
    return f"shard.{shard}"


def _is_before(row: str, moment: float) -> bool:
    written = attempt_time(attempt_of(row))
    # What does not carry a time of ours is not ours to delete.
    return written is not None and written < moment


def _missing(shard: str, name: str) -> CorruptState:
    return CorruptState(
        home(shard),
        name,
        f"the head of shard {shard} names it, but it is missing",
        f"Restore it, or delete that head with `tokenwatch state delete {HEADS} {shard}`: the "
        "shard then begins afresh, without its live alerts",
    )


def _silence_key(muted: Muted) -> str:
    return f"{muted.end:012d}.{muted.id}"


def _change_key(change: Change) -> str:
    """The same for the same change, whenever it is recorded and however its glob is spelt."""
    content = msgspec.structs.replace(change, deployment=change.deployment.casefold(), recorded=0)
    digest = hashlib.sha256(msgspec.msgpack.encode(content)).hexdigest()
    return f"{change.slot:012d}.{digest[:16]}"
