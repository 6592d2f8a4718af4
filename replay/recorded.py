"""A recording from its file: the past of each deployment, and what the file says is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import pyarrow.parquet

from emulator.recordingfile import read
from emulator.tape import Tape
from replay.past import Past
from replay.recordgaps import Gap
from replay.recordtable import KEY, About
from shared.engine.frame import Floats
from shared.model import Account, Component, Deployment, Series, Slot

REGION = "eastus"
"""Where accounts are said to lie of which nobody knows, as `tokenwatch run --recording` has it."""


@dataclass(frozen=True)
class Blind:
    """Components of an account that could not be read over [start, end)."""

    start: Slot
    end: Slot
    components: frozenset[Component]


@dataclass(frozen=True, eq=False)
class Recorded:
    """The minutes [begin, end) of some deployments; those before `first` are the lead-in."""

    tapes: tuple[Tape, ...]
    accounts: Mapping[str, Account]
    begin: Slot
    first: Slot
    end: Slot
    gaps: tuple[Gap, ...] = ()
    asked: frozenset[tuple[str, str]] | None = None
    """Metric and aggregation of what was asked for; None where the file does not say."""
    regions: bool = True
    """Whether the regions of the accounts are known."""

    def account(self, tape: Tape) -> Account:
        return self.accounts[tape.account.casefold()]

    def blind(self, account: Account, needed: Iterable[Component]) -> tuple[Blind, ...]:
        """What cannot be seen of an account, although the rules need it."""
        wanted = list(needed)
        found = []
        for gap in self.gaps:
            hit = frozenset(c for c in wanted if (c.metric, c.aggregation) == _what(gap))
            if gap.account == account.id and hit:
                found.append(Blind(gap.start, gap.end, hit))
        # A file that does not say what was asked for is taken to be all there is.
        missing = frozenset(self.missing(wanted)) if self.asked is not None else frozenset()
        return (*found, *([Blind(self.begin, self.end, missing)] if missing else []))

    def missing(self, needed: Iterable[Component]) -> tuple[Component, ...]:
        """What was not asked for; or, where the file does not say, what has no column."""
        have = self.asked
        if have is None:
            have = frozenset((c.metric, c.aggregation) for t in self.tapes for c in t.columns)
        return tuple(c for c in needed if (c.metric, c.aggregation) not in have)


def _what(gap: Gap) -> tuple[str, str]:
    return gap.metric, gap.aggregation


def load(path: Path, known: Iterable[Account] = ()) -> Recorded:
    """The recording of a file; `known` accounts say where they lie if the file does not.

    Raises:
        RecordingError: what is wrong with the file.
        OSError: it cannot be opened.
    """
    tapes = read(path)
    about = about_of(path)
    begin = min(tape.begin for tape in tapes)
    end = max(tape.begin + _length(tape) for tape in tapes)
    regions = {one.id: one for one in (*known, *(about.accounts if about else ()))}
    ids = {tape.account.casefold() for tape in tapes}
    accounts = {name: regions.get(name, Account(name, REGION)) for name in ids}
    sure = ids <= regions.keys()
    if about is None:
        return Recorded(tapes, accounts, begin, begin, end, regions=sure)
    asked = frozenset((c.metric, c.aggregation) for c in about.components)
    begin, first, end = about.begin, about.first, about.end
    return Recorded(tapes, accounts, begin, first, end, about.gaps, asked, sure)


def about_of(path: Path) -> About | None:
    """What `tokenwatch record` wrote into the file about it; None of any other file."""
    if path.suffix != ".parquet":
        return None
    metadata = pyarrow.parquet.read_schema(path).metadata or {}
    try:
        return msgspec.json.decode(metadata[KEY], type=About)
    except (KeyError, msgspec.DecodeError):
        return None


def past_of(
    tape: Tape, account: Account, begin: Slot, end: Slot, needed: Iterable[Component]
) -> Past:
    """The past of a tape's deployment over [begin, end)."""
    deployment = Deployment(account.id, tape.deployment)
    return Past.of(begin, list(_series(tape, deployment, begin, end)), needed)


def _series(tape: Tape, deployment: Deployment, begin: Slot, end: Slot) -> Iterator[Series]:
    for component, values in tape.columns.items():
        spread = _spread(values, tape.begin - begin, end - begin)
        yield Series(deployment, component.metric, component.aggregation, component.where, spread)


def _spread(values: Floats, at: int, size: int) -> Floats:
    """The values at their place in an array of the given size."""
    if at == 0 and len(values) == size:
        return values
    whole = np.full(size, np.nan)
    first, last = max(at, 0), min(at + len(values), size)
    if first < last:
        whole[first:last] = values[first - at : last - at]
    return whole


def _length(tape: Tape) -> int:
    return max((len(values) for values in tape.columns.values()), default=0)
