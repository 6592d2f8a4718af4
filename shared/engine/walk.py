"""Walks through slots: makes the fits that are due, judges up to the next, and so on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from shared.engine.baseline import Due, Question, due_at, fit, next_due, questions
from shared.engine.case import Case, Judged, Standing
from shared.engine.frame import Frame
from shared.engine.judge import judge, learned_at, left_out, meet, outgrown, retire
from shared.model import Fit, Known, Slot
from shared.rulebook.catalogue import PROVISIONED_ONLY
from shared.rulebook.rules import Rulebook

MOST_FITS = 200
"""Fits in one walk; what is left waits for the next tick, with its slots."""

History = Callable[[Sequence[Due]], Mapping[Due, Frame]]
"""Reads the history of dues; a due that cannot be read is left out."""


def walk(
    case: Case,
    standing: Standing,
    first: Slot,
    last: Slot,
    history: History,
    enough: Callable[[], bool] = lambda: False,
) -> tuple[Judged, Slot]:
    """Judges [first, last], or less: the second value is the last slot that was judged.

    It stops early when `enough` says so or after MOST_FITS fits, but judges one slot at least.
    """
    judged = retire(case, standing, first)
    judged = replace(judged, standing=meet(case.frame, judged.standing, first))
    slot, made, missing = first, 0, set[Due]()
    while slot <= last:
        dues = [due for due in _dues(case, judged.standing, slot) if due not in missing]
        if slot > first and (enough() or made + len(dues) > MOST_FITS):
            break
        fitted = _fit(case, judged.standing, dues, history)
        missing |= set(dues) - set(fitted)
        made += len(fitted)
        judged = replace(judged, standing=_with(judged.standing, fitted))
        judged = judged.then(outgrown(case, judged.standing, slot))
        standing = judged.standing
        until = min(last, next_due(slot, standing.known, standing.fits, case.changes) - 1)
        until = min(until, (learned_at(standing, slot) or until + 1) - 1)
        shown = (one.provisioned for one in standing.known if one.provisioned is not None)
        until = min([until, *(at - 1 for at in shown if at > slot)])
        judged = judged.then(judge(case, standing, slot, until))
        slot = until + 1
    return judged, slot - 1


def _dues(case: Case, standing: Standing, slot: Slot) -> list[Due]:
    dues: list[Due] = []
    for one in standing.known:
        if one.since <= slot:
            account = case.accounts[one.deployment.account]
            asked = [
                question
                for question in questions(case.rulebook.rules, account, one.deployment)
                if _answerable(case.rulebook, question, one, slot)
            ]
            dues += due_at(slot, one.deployment, asked, standing.fits, case.changes)
    return dues


def _answerable(rulebook: Rulebook, question: Question, one: Known, slot: Slot) -> bool:
    """Whether history can have it: pay-as-you-go deployments never show provisioned metrics, and
    asking for 14 days of them each hour would only cost."""
    shown = one.provisioned is not None and one.provisioned <= slot
    return shown or not any(c.metric in PROVISIONED_ONLY for c in rulebook.components(question[1]))


def _fit(case: Case, standing: Standing, dues: Sequence[Due], history: History) -> dict[Due, Fit]:
    """The fits of the dues whose history could be read."""
    frames = history(dues) if dues else {}
    signals = case.rulebook.signals
    return {
        due: fit(
            due,
            frame,
            signals,
            left_out(case.rulebook, standing.episodes, due.deployment, due.signal),
        )
        for due, frame in frames.items()
    }


def _with(standing: Standing, fitted: Mapping[Due, Fit]) -> Standing:
    new = {(due.deployment.key, due.key): one for due, one in fitted.items()}
    return replace(standing, fits={**standing.fits, **new})
