"""Two rulebooks over one recording: what a change of the rules adds and takes away. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec

from replay.backtest import Lived, Outcome
from replay.report import OfRule, Report, Say, naming
from shared.model import Slot, iso

Kind = Literal["added", "removed", "longer", "shorter"]
KINDS: tuple[Kind, ...] = ("added", "removed", "longer", "shorter")


class Difference(msgspec.Struct, frozen=True):
    """Episodes of a rule on a deployment that overlap, and are not the same in both."""

    kind: Kind
    rule: str
    account: str
    name: str
    """Of the deployment; `deployment` is how it is called, ACCOUNT/NAME where several have it."""
    deployment: str
    since: str
    until: str
    old_minutes: int
    new_minutes: int
    old_episodes: int
    new_episodes: int
    worst: str = ""

    @property
    def weight(self) -> int:
        """Minutes that are told otherwise."""
        return abs(self.new_minutes - self.old_minutes)


class OldNew(msgspec.Struct, frozen=True):
    """A rule before and after; None where it is not there."""

    name: str
    old: OfRule | None
    new: OfRule | None
    added: int = 0
    removed: int = 0
    longer: int = 0
    shorter: int = 0

    @property
    def changed(self) -> bool:
        old, new = self.old or OfRule("", "info", ""), self.new or OfRule("", "info", "")
        same = (old.episodes, old.minutes, old.messages) == (
            new.episodes,
            new.minutes,
            new.messages,
        )
        return not same or bool(self.added or self.removed or self.longer or self.shorter)


class Comparison(msgspec.Struct, frozen=True):
    """`old` is the report of the rules before the change."""

    reference: str
    """How the old rules were asked for."""
    old: Report
    rules: tuple[OldNew, ...]
    differences: tuple[Difference, ...]
    notes: tuple[str, ...] = ()


def compare(
    reference: str,
    old: tuple[Report, Sequence[Outcome]],
    new: tuple[Report, Sequence[Outcome]],
    notes: Iterable[str] = (),
) -> Comparison:
    """What is otherwise under the new rules."""
    found = tuple(_differences(old[1], new[1], naming(new[1])))
    before = {rule.name: rule for rule in old[0].rules}
    after = {rule.name: rule for rule in new[0].rules}
    names = [*after, *(name for name in before if name not in after)]
    rules = tuple(_old_new(name, before.get(name), after.get(name), found) for name in names)
    return Comparison(reference, old[0], rules, found, tuple(notes))


def _old_new(
    name: str, old: OfRule | None, new: OfRule | None, found: Iterable[Difference]
) -> OldNew:
    mine = [one.kind for one in found if one.rule == name]
    return OldNew(name, old, new, *(mine.count(kind) for kind in KINDS))


def _differences(old: Iterable[Outcome], new: Iterable[Outcome], say: Say) -> Iterator[Difference]:
    before, after = _by_place(old), _by_place(new)
    for place in sorted(before.keys() | after.keys()):
        for was, now in overlapping(before.get(place, []), after.get(place, [])):
            kind = _kind(was, now)
            if kind:
                yield _difference(kind, was, now, say)


def _by_place(outcomes: Iterable[Outcome]) -> dict[tuple[str, str], list[Lived]]:
    places: dict[tuple[str, str], list[Lived]] = defaultdict(list)
    for outcome in outcomes:
        for one in outcome.lived:
            places[one.rule, one.deployment.key].append(one)
    return places


Group = tuple[list[Lived], list[Lived]]
"""Old and new episodes that hang together by the time they have in common."""


def overlapping(old: Iterable[Lived], new: Iterable[Lived]) -> Iterator[Group]:
    """Groups of the episodes of one rule on one deployment, in the order of time."""
    every = sorted(
        [(one.since, one.until, n, one) for n, side in enumerate((old, new)) for one in side],
        key=lambda entry: entry[:3],
    )
    group: Group = ([], [])
    end: Slot | None = None
    for since, until, side, one in every:
        if end is not None and since >= end:
            yield group
            group, end = ([], []), None
        group[side].append(one)
        end = until if end is None else max(end, until)
    if end is not None:
        yield group


def _kind(old: Sequence[Lived], new: Sequence[Lived]) -> Kind | None:
    if not old or not new:
        return "added" if new else "removed"
    was, now = _minutes(old), _minutes(new)
    if was == now:
        return None
    return "longer" if now > was else "shorter"


def _minutes(lived: Iterable[Lived]) -> int:
    return sum(one.minutes for one in lived)


def _difference(kind: Kind, old: Sequence[Lived], new: Sequence[Lived], say: Say) -> Difference:
    both = [*old, *new]
    one = both[-1]
    return Difference(
        kind,
        one.rule,
        one.deployment.account,
        one.deployment.name,
        say(one.deployment),
        iso(min(e.since for e in both)),
        iso(max(e.until for e in both)),
        _minutes(old),
        _minutes(new),
        len(old),
        len(new),
        next((e.worst for e in reversed(both) if e.worst), ""),
    )


def of_kind(differences: Iterable[Difference], kind: Kind) -> list[Difference]:
    """Those of a kind, the weightiest first."""
    mine = (one for one in differences if one.kind == kind)
    return sorted(mine, key=lambda one: (-one.weight, one.since, one.rule, one.deployment))
