"""The file of a recording as tapes: the minutes of each deployment, an array a component.

The columns are `time, account, deployment` and one a component, such as
`AzureOpenAITTLTInMS:average` or `AzureOpenAIRequests:total[StatusCode=200]`; docs/recordings.md
says it all. Knows files, and nothing of the emulator that plays them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from emulator.catalogue import ACCOUNT_ID
from emulator.recordingcells import Cells, opened
from emulator.recordingcolumns import Floats, Whole, minutes_of, names_of, numbers_of
from emulator.recordingwrite import write, write_tapes
from emulator.tape import Component, RecordingError, Tape
from emulator.times import DAY, iso

__all__ = ["Component", "RecordingError", "Tape", "read", "write", "write_tapes"]

LONGEST = 400
"""Days between the first and the last row: more is a date gone wrong, and arrays without end."""


def read(path: Path) -> tuple[Tape, ...]:
    """The tapes of a recording, one a deployment, in the order in which they first come.

    Raises:
        RecordingError: whatever is wrong with the file.
        OSError: it cannot be opened.
    """
    with opened(path) as cells:
        if not cells.rows:
            raise RecordingError(f"{path}: there are no rows")
        minutes = minutes_of(cells)
        _refuse_span(cells, minutes)
        tape, owners = _owners(cells)
        layout = _Layout.of(tape, len(owners), minutes)
        _refuse_repeats(cells, layout.places, minutes)
        flat = {one: layout.laid(numbers_of(cells, name)) for name, one in cells.components.items()}
    bounds = zip(owners, layout.begins, layout.starts, layout.starts[1:], strict=False)
    return tuple(
        Tape(*owner, int(begin), {c: values[first:last] for c, values in flat.items()})
        for owner, begin, first, last in bounds
    )


def _refuse_span(cells: Cells, minutes: Whole) -> None:
    """A date that is years off is named, the first of them."""
    if int(minutes.max()) - int(minutes.min()) < LONGEST * DAY:
        return
    middle = int(np.median(minutes))
    row = int((np.abs(minutes - middle) >= LONGEST * DAY // 2).argmax())
    text = f"{iso(int(minutes[row]))} lies far from the other rows, around {iso(middle)}"
    cure = f"mend the date, or divide the file: a recording spans {LONGEST} days at most"
    cells.wrong(row, "time", f"{text}: {cure}")


def _owners(cells: Cells) -> tuple[Whole, list[tuple[str, str]]]:
    """The number of each row's tape, and account and deployment of each tape."""
    account, accounts = names_of(cells, "account")
    _refuse_short_ids(cells, account, accounts)
    deployment, deployments = names_of(cells, "deployment")
    pair = account * len(deployments) + deployment
    pairs, firsts, tape = np.unique(pair, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    both = [divmod(one, len(deployments)) for one in pairs[order].tolist()]
    return np.argsort(order)[tape], [(accounts[a], deployments[d]) for a, d in both]


@dataclass(frozen=True, slots=True, eq=False)
class _Layout:
    """Tapes laid one behind the other, so that all rows of a column are placed at once."""

    begins: Whole
    """The first minute of each tape."""
    starts: Whole
    """Where each tape starts, and where the last one ends."""
    places: Whole
    """Where each row belongs."""

    @classmethod
    def of(cls, tape: Whole, tapes: int, minutes: Whole) -> _Layout:
        begins = np.full(tapes, minutes.max())
        np.minimum.at(begins, tape, minutes)
        ends = np.zeros(tapes, dtype=np.int64)
        np.maximum.at(ends, tape, minutes + 1)
        starts = np.concatenate([[0], np.cumsum(ends - begins)])
        return cls(begins, starts, minutes + (starts[:-1] - begins)[tape])

    def laid(self, values: Floats) -> Floats:
        whole = np.full(self.starts[-1], np.nan)
        whole[self.places] = values
        return whole


def _refuse_short_ids(cells: Cells, account: Whole, accounts: Sequence[str]) -> None:
    short = np.array([not ACCOUNT_ID.fullmatch(name) for name in accounts])[account]
    if short.any():
        row = int(short.argmax())
        cells.wrong(
            row,
            "account",
            f"{accounts[account[row]]!r} is no resource id: write /subscriptions/SUB/"
            "resourceGroups/GROUP/providers/Microsoft.CognitiveServices/accounts/NAME",
        )


def _refuse_repeats(cells: Cells, places: Whole, minutes: Whole) -> None:
    """A minute of a deployment may be given once."""
    counts = np.bincount(places)
    if counts.max() == 1:
        return
    doubled = np.flatnonzero(counts[places] > 1)
    _, firsts = np.unique(places[doubled], return_index=True)
    row = int(np.delete(doubled, firsts)[0])
    name = cells["deployment"][row].as_py()
    cells.wrong(row, "time", f"{iso(int(minutes[row]))} of {name} is given twice")
