"""What is normal, fitted from Azure Monitor's own history. Pure: when to fit, and the fit itself.

A fit answers one question of a rule for one deployment. Levels and lines are fitted when a
deployment is first seen and then every six hours at a slot that follows from its name, from the 14
days before; so replaying gives the same fits. `before` answers what a signal was in the hour before
a change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal

import msgspec
import numpy as np

from shared.engine.evaluate import HORIZON
from shared.engine.fitting import (
    HOUR_GAIN,
    Slots,
    hours_of,
    of_other_days,
    recurring,
    robust_line,
    spread_of,
)
from shared.engine.frame import Floats, Frame
from shared.engine.windows import Windows
from shared.model import Account, Change, Deployment, Fit, Known, Slot, fit_key
from shared.rulebook.ast import Baseline, BeforeChange, Deviation
from shared.rulebook.rules import TRAFFIC, Rule, SignalDef

DAYS, GRAIN, REFIT, RELEARN = 14, 15, 360, 60
"""Days of history, minutes a bin, minutes between fits, and between tries while learning."""
LEAST_BINS, LEAST_REQUESTS = 12, 60
"""Less history than this is `learning`."""
Question = tuple[Literal["level", "line", "before"], str, str]
"""(kind, signal, given or kind of change)."""


@dataclass(frozen=True)
class Due:
    """A fit to be made, and the history it needs: [start, end) in steps of so many minutes."""

    deployment: Deployment
    kind: Literal["level", "line", "before"]
    signal: str
    given: str
    slot: Slot
    start: Slot
    end: Slot
    step: int
    reference: str = ""

    @property
    def key(self) -> str:
        return fit_key(self.kind, self.signal, self.given)


Fits = Mapping[tuple[str, str], Fit]
"""The current fits by (deployment key, fit key)."""


def questions(rules: Iterable[Rule], account: Account, deployment: Deployment) -> list[Question]:
    """What the rules that cover a deployment want to know of its history, each once."""
    asked: dict[Question, None] = {}
    for rule in rules:
        if not deployment.unattributed and rule.scope.matches(account, deployment):
            asked |= dict.fromkeys(question_of(node) for node in rule.asked)
    return list(asked)


def question_of(node: Baseline | Deviation | BeforeChange) -> Question:
    """What a node of an expression asks of history."""
    if isinstance(node, BeforeChange):
        return "before", node.signal, node.kind
    return ("line" if node.given else "level"), node.signal, node.given


@lru_cache(maxsize=65_536)
def phase(deployment: Deployment) -> int:
    """The minute, modulo REFIT, at which a deployment is refitted."""
    return int(hashlib.sha256(deployment.key.encode()).hexdigest()[:8], 16) % REFIT


def last_turn(deployment: Deployment, slot: Slot, every: int) -> Slot:
    """The latest slot up to `slot` at which the deployment has its turn."""
    return slot - (slot - phase(deployment)) % every


def applies(change: Change, deployment: Deployment) -> bool:
    """Whether a change was recorded for the deployment."""
    glob = change.deployment.casefold()
    name = deployment.name.casefold()
    return fnmatchcase(f"{deployment.account_name}/{name}" if "/" in glob else name, glob)


def last_change(
    changes: Sequence[Change], kind: str, deployment: Deployment, slot: Slot
) -> Change | None:
    """The latest change of a kind that a drop at `slot` may be put down to."""
    near = [
        c
        for c in changes
        if c.kind == kind and 0 <= slot - c.slot <= HORIZON and applies(c, deployment)
    ]
    return max(near, key=lambda c: (c.slot, c.recorded, c.reference), default=None)


def due_at(
    slot: Slot,
    deployment: Deployment,
    asked: Iterable[Question],
    fits: Fits,
    changes: Sequence[Change],
) -> list[Due]:
    """The fits that have to be made before the deployment is judged at `slot`."""
    found = []
    for kind, signal, given in asked:
        have = fits.get((deployment.key, fit_key(kind, signal, given)))
        if kind == "before":
            change = last_change(changes, given, deployment, slot)
            if change and (have is None or have.slot != change.slot):
                found.append(_before(deployment, signal, change))
        elif have is None or have.slot < (turn := _turn(have, slot)):
            found.append(_fresh(deployment, kind, signal, given, slot if have is None else turn))
    return found


def _turn(have: Fit, slot: Slot) -> Slot:
    return last_turn(have.deployment, slot, REFIT if have.ready else RELEARN)


def _fresh(
    deployment: Deployment, kind: Literal["level", "line"], signal: str, given: str, slot: Slot
) -> Due:
    end = slot - slot % GRAIN
    return Due(deployment, kind, signal, given, slot, end - DAYS * 1440, end, GRAIN)


def _before(deployment: Deployment, signal: str, change: Change) -> Due:
    begin = change.slot - 60
    return Due(
        deployment,
        "before",
        signal,
        change.kind,
        change.slot,
        begin,
        change.slot,
        1,
        change.reference,
    )


def next_due(slot: Slot, known: Iterable[Known], fits: Fits, changes: Iterable[Change]) -> Slot:
    """The first slot after `slot` at which any fit may be due."""
    # A change begins to count at its slot and is too old to be put down to after HORIZON.
    bounds = [at for c in changes for at in (c.slot, c.slot + HORIZON + 1)]
    turns = [at for at in bounds if at > slot]
    for one in known:
        turns.append(one.since if one.since > slot else slot + REFIT)
        turns.append(last_turn(one.deployment, slot, REFIT) + REFIT)
    turns += [
        last_turn(fit.deployment, slot, RELEARN) + RELEARN
        for fit in fits.values()
        if fit.kind != "before" and not fit.ready
    ]
    return min(turns, default=slot + REFIT)


def fit(
    due: Due,
    frame: Frame,
    signals: Mapping[str, SignalDef],
    left_out: Iterable[tuple[Slot, Slot]] = (),
) -> Fit:
    """The fit of a due from its history.

    `left_out` holds [begin, end) ranges of slots, the deployment's own incidents.
    """
    column = [d.key for d in frame.deployments].index(due.deployment.key)
    empty = Fit(
        due.kind,
        due.signal,
        due.given,
        due.deployment,
        due.slot,
        due.start,
        0,
        0.0,
        reference=due.reference,
        ready=False,
    )
    if due.kind == "before":
        windows = Windows(frame, signals, frame.steps - 1, 1, frame.steps)
        value = windows.value(due.signal, windows.lengths(frame.steps))[0, column]
        if not np.isfinite(value):
            return empty
        return msgspec.structs.replace(empty, level=float(value), samples=frame.steps, ready=True)
    windows = Windows(frame, signals, 0, frame.steps, 1)
    ones = windows.lengths(1)
    y, n = windows.value(due.signal, ones)[:, column], windows.value(TRAFFIC, ones)[:, column]
    x = windows.value(due.given, ones)[:, column] if due.given else np.ones_like(y)
    keep = (y > 0) & (x > 0) & (n > 0)
    steps = frame.start + np.arange(frame.steps) * frame.step
    bad = np.zeros_like(keep)
    for begin, end in left_out:
        bad |= (steps + frame.step > begin) & (steps < end)
    if not recurring(steps[keep], bad[keep]):
        keep &= ~bad
    x, y, n, steps = x[keep], y[keep], n[keep], steps[keep]
    if len(y) < LEAST_BINS or n.sum() < LEAST_REQUESTS:
        return _with(empty, samples=len(y))
    return _line(empty, steps, x, y, n) if due.given else _level(empty, steps, y, n)


def _level(empty: Fit, slots: Slots, y: Floats, n: Floats) -> Fit:
    level = float(np.median(y))
    ratio = y / level
    found = _with(empty, samples=len(y), level=level, spread=spread_of(slots, ratio, n, 1))
    hours = hours_of(slots, ratio)
    if not hours:
        return found
    spread = spread_of(slots, of_other_days(slots, ratio), n, 1)
    if spread >= HOUR_GAIN * found.spread:
        return found
    return msgspec.structs.replace(found, spread=spread, hours=hours)


def _line(empty: Fit, slots: Slots, x: Floats, y: Floats, n: Floats) -> Fit:
    intercept, slope = robust_line(x, y, n)
    low, high = (float(v) for v in np.percentile(x, [1, 99]))
    return _with(
        empty,
        samples=len(y),
        level=float(np.median(y)),
        spread=spread_of(slots, y / (intercept + slope * x), n, 2),
        intercept=intercept,
        slope=slope,
        low=low,
        high=high,
    )


def _with(empty: Fit, samples: int, level: float = 0.0, **values: float) -> Fit:
    return msgspec.structs.replace(empty, samples=samples, level=level, ready=level > 0, **values)
