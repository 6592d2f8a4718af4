"""Reads one piece of history, patiently: what may pass is asked again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace

from replay.recordplan import Piece
from shared.model import Account, Component, Failure, Reading
from shared.monitor.read import Poster, Range, read

WAITS = (5.0, 15.0, 30.0, 60.0, 120.0)
"""Seconds between the tries of what may pass. The client has waited shortly between its own."""

Pair = tuple[str, Component]
"""Account id and component."""
Failures = Mapping[Pair, Failure]
Wait = Callable[[float, str], None]
"""Waits so many seconds, and says why."""


class UnansweredError(Exception):
    """Nothing could be read, try after try: it makes no sense to go on now."""


def read_piece(
    poster: Poster,
    piece: Piece,
    components: Collection[Component],
    hopeless: Failures,
    wait: Wait,
) -> Reading:
    """The series of a piece; what failed for good is among its failures, `hopeless` unasked.

    Raises:
        UnansweredError: every query failed for a reason that may pass.
    """
    over = Range(piece.start, piece.steps)
    every = [(account.id, component) for account in piece.accounts for component in components]
    known = {pair: hopeless[pair] for pair in every if pair in hopeless}
    asked = [pair for pair in every if pair not in known]
    reading = _ask(poster, piece.accounts, asked, Reading(over.start, over.step, over.steps))
    for seconds in WAITS:
        passing = [pair for pair, failure in reading.failures.items() if failure.transient]
        if not passing:
            break
        wait(seconds, reading.failures[passing[0]].reason)
        reading = _ask(poster, piece.accounts, passing, reading)
    if asked and all(_passing(reading.failures.get(pair)) for pair in asked):
        raise UnansweredError(reading.failures[asked[0]].reason)
    return replace(reading, failures={**known, **reading.failures})


def _passing(failure: Failure | None) -> bool:
    return failure is not None and failure.transient


def _ask(
    poster: Poster, accounts: Collection[Account], pairs: Collection[Pair], before: Reading
) -> Reading:
    """Reads just these pairs, and adds them to what was read before."""
    failures = {pair: failure for pair, failure in before.failures.items() if pair not in pairs}
    reading = replace(before, failures=failures)
    for members, components in _together(accounts, pairs):
        over = Range(before.start, before.steps, before.step)
        later = read(poster, members, components, over)
        reading = replace(
            reading,
            series=reading.series + later.series,
            failures={**reading.failures, **later.failures},
            truncated=reading.truncated + later.truncated,
            queries=reading.queries + later.queries,
        )
    return reading


def _together(
    accounts: Collection[Account], pairs: Collection[Pair]
) -> Iterator[tuple[list[Account], list[Component]]]:
    """Accounts that need the same go together."""
    wanted: dict[str, set[Component]] = defaultdict(set)
    for owner, component in pairs:
        wanted[owner].add(component)
    groups: dict[frozenset[Component], list[Account]] = defaultdict(list)
    for account in accounts:
        if account.id in wanted:
            groups[frozenset(wanted[account.id])].append(account)
    for components, members in groups.items():
        yield members, sorted(components)
