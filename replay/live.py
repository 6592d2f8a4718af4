"""The live engine over a past: every slot in order, with fits only from what was known then."""

from __future__ import annotations

from collections.abc import Callable

from replay.past import Past
from shared.engine.case import Case, Judged, Standing, all_offsets, lead
from shared.engine.walk import History, walk
from shared.model import Account, Change, Slot
from shared.rulebook.rules import Rulebook

Seen = Callable[[Slot, Slot, Judged], None]
"""Hears a piece: its first and its last slot, and what came of it."""


def judge_past(
    rulebook: Rulebook,
    account: Account,
    past: Past,
    first: Slot,
    last: Slot,
    changes: tuple[Change, ...] = (),
    standing: Standing | None = None,
    reached: Callable[[Slot], None] | None = None,
    seen: Seen | None = None,
    history: History | None = None,
) -> Judged:
    """Judges [first, last] of deployments of one account; `reached` hears how far it has come.

    The pieces are as long as the engine makes them; the same events come of any other cut. For
    `seen` they are cut where fits are made, so that one set of fits holds in each. `history` is
    where fits come from; by default the past itself.
    """
    judged = Judged(standing or Standing())
    case = case_of(rulebook, account, past, first, last, changes)
    source = history or past.history
    while first <= last:
        piece, done = walk(case, judged.standing, first, last, source, lambda: bool(seen))
        judged = judged.then(piece)
        if seen:
            seen(first, done, piece)
        if reached:
            reached(done)
        first = done + 1
    return judged


def case_of(
    rulebook: Rulebook,
    account: Account,
    past: Past,
    first: Slot,
    last: Slot,
    changes: tuple[Change, ...] = (),
) -> Case:
    """What judging [first, last] of a past takes, with the minutes before that windows reach."""
    begin = first - lead(rulebook) + 1
    return Case(
        rulebook,
        {account.id: account},
        past.minutes(begin, last),
        changes,
        {m: past.minutes(begin - m, last - m) for m in all_offsets(rulebook)},
        rulebook.silences,
    )
