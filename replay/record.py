"""History from Azure Monitor into a recording, piece by piece; no end in the middle loses any."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import sleep

from replay.recordgaps import Gap, gaps_of, joined
from replay.recordparts import Kept, Parts
from replay.recordplan import KEPT, Asked, Order, Piece, RecordError, order_of, pieces
from replay.recordread import Pair, UnansweredError, read_piece
from replay.recordtable import About, about, table_of
from replay.recordwrite import SUFFIXES, write
from shared.model import Failure, Slot, slot_of
from shared.monitor.read import Poster

GONE = Failure(f"Azure Monitor keeps {KEPT.days} days, and these minutes are gone", transient=False)


class UnfinishedError(Exception):
    """It stopped, and the next run goes on. `gaps`: what could not be read."""

    def __init__(self, reason: str, gaps: Sequence[Gap] = ()) -> None:
        super().__init__(reason)
        self.gaps = tuple(gaps)


class Onlooker:
    """Hears how far it is, and does the waiting, because that may be shown."""

    def begun(self, order: Order, total: int, done: int) -> None: ...

    def done(self) -> None: ...

    def wait(self, seconds: float, reason: str) -> None:  # noqa: ARG002
        sleep(seconds)


@dataclass
class Recorder:
    """Fetches the pieces of an order, and makes a file of them."""

    out: Path
    poster: Poster
    onlooker: Onlooker
    allow_gaps: bool = False

    def record(self, asked: Asked, now: datetime) -> About:
        """Begins, or goes on with what was begun.

        Raises:
            RecordError: it cannot be done as asked.
            UnfinishedError: it was not finished now; what was fetched is kept.
        """
        parts = Parts.beside(self.out)
        check_target(self.out, allow_gaps=self.allow_gaps)
        if not parts.begun:
            order_of(asked, now)  # so that nothing is left behind where nothing can be done
        try:
            with parts.alone():
                check_target(self.out, allow_gaps=self.allow_gaps)
                found = self._alone(parts, asked, now)
        except OSError as error:
            raise UnfinishedError(_disk(error, parts.folder)) from None
        parts.remove()
        if found is None:
            raise RecordError(
                "Azure Monitor has no point of any deployment in that time: check the accounts and "
                "the time"
            )
        return found

    def _alone(self, parts: Parts, asked: Asked, now: datetime) -> About | None:
        order = parts.resumed(asked) or parts.begin(order_of(asked, now))
        every = pieces(order)
        self._fetch(parts, order, every, slot_of(now - KEPT))
        kept = [kept for piece in every if (kept := parts.kept(piece))]
        gaps = joined(gap for one in kept for gap in one.gaps)
        if gaps and not self.allow_gaps:
            raise UnfinishedError("something could not be read", gaps)
        found = about(order, gaps, [note for one in kept for note in one.notes])
        return found if write(self.out, parts, every, found) else None

    def _fetch(self, parts: Parts, order: Order, every: Sequence[Piece], oldest: Slot) -> None:
        todo = [piece for piece in every if not self._complete(parts.kept(piece))]
        self.onlooker.begun(order, len(every), len(every) - len(todo))
        hopeless: dict[Pair, Failure] = {}
        for piece in todo:
            gone = _all(piece, order, GONE) if piece.start < oldest else {}
            hopeless |= self._take(parts, order, piece, hopeless | gone)
            self.onlooker.done()

    def _complete(self, kept: Kept | None) -> bool:
        return kept is not None and (self.allow_gaps or not kept.gaps)

    def _take(
        self, parts: Parts, order: Order, piece: Piece, hopeless: dict[Pair, Failure]
    ) -> dict[Pair, Failure]:
        """Fetches a piece; what failed for good, and need not be asked of the next."""
        components = order.asked.components
        try:
            reading = read_piece(self.poster, piece, components, hopeless, self.onlooker.wait)
        except UnansweredError as error:
            raise UnfinishedError(str(error)) from None
        notes = tuple(f"cut at Azure's limit: {text}" for text in reading.truncated)
        parts.put(piece, table_of(reading, components), Kept(gaps_of(reading), notes))
        return {
            pair: failure
            for pair, failure in reading.failures.items()
            if not failure.transient and failure is not GONE
        }


def check_target(out: Path, *, allow_gaps: bool) -> None:
    """Raises RecordError where no recording can be written."""
    if out.suffix not in SUFFIXES:
        raise RecordError(f"{out}: the name of a recording ends in {' or '.join(SUFFIXES)}")
    if out.suffix == ".csv" and allow_gaps:
        raise RecordError(f"{out}: CSV cannot say what is missing; with --allow-gaps use .parquet")
    if out.exists():
        raise RecordError(f"{out} is there already: delete it, or choose another name")


def _all(piece: Piece, order: Order, failure: Failure) -> dict[Pair, Failure]:
    return {(a.id, c): failure for a in piece.accounts for c in order.asked.components}


def _disk(error: OSError, folder: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk that holds {folder} is full: free some space"
    return f"{folder} cannot be written: {error.strerror or error}"
