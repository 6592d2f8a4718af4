"""Why a rule said what it said of a deployment in one minute: every part with its value. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from replay.live import case_of, judge_past
from replay.past import Past
from shared.engine.baseline import applies
from shared.engine.case import Judged, Standing
from shared.engine.evaluate import Context, Reason, Verdict, key_of
from shared.engine.evidence import Witness
from shared.engine.span import Span
from shared.engine.walk import History
from shared.engine.windows import Windows
from shared.model import Account, Alert, Change, Deployment, Fit, Slot
from shared.rulebook.ast import (
    Ago,
    Baseline,
    Binary,
    Compare,
    Deviation,
    Logic,
    Node,
    Number,
    Signal,
    Window,
    text_of,
)
from shared.rulebook.rules import Fitted, Rule, Rulebook

MOST_POINTS = 30


@dataclass(frozen=True)
class Line:
    """One part of a condition: how deep it lies, its text, what it came to, and from what."""

    depth: int
    text: str
    value: str
    points: tuple[float | None, ...] = ()
    """Minute by minute over the window, for a signal."""
    fit: Fit | None = None


@dataclass(frozen=True)
class Explained:
    """A rule on a deployment in one slot."""

    rule: Rule
    deployment: Deployment
    slot: Slot
    begun: Slot
    """Where the replay began: alerts that were live before are not known."""
    window: int
    """Minutes of the window that was chosen; 0 if none is allowed yet."""
    verdict: str
    needs: tuple[Line, ...]
    when: tuple[Line, ...]
    until: tuple[Line, ...]
    before: Alert | None
    after: Alert | None
    told: str
    """What was told in this slot, or why nothing."""
    others: tuple[tuple[str, str], ...]
    """Rules of `unless`, and their state."""
    changes: tuple[Change, ...]


def explain(
    rulebook: Rulebook,
    account: Account,
    past: Past,
    rule: Rule,
    begun: Slot,
    slot: Slot,
    changes: tuple[Change, ...] = (),
    history: History | None = None,
) -> Explained:
    """Replays a deployment's past from `begun` and looks into the rule at `slot`.

    `past` holds one deployment; what fits need is in it too, unless `history` has it.
    """
    (deployment,) = past.deployments

    def lived(first: Slot, last: Slot, standing: Standing | None) -> Judged:
        return judge_past(rulebook, account, past, first, last, changes, standing, history=history)

    standing = lived(begun, slot - 1, None).standing if begun < slot else None
    after = lived(slot, slot, standing)
    # The fits that were due at the slot are among those after it; the alerts are those before it.
    alerts = standing.alerts if standing else ()
    span = Span(
        case_of(rulebook, account, past, slot, slot, changes),
        replace(after.standing, alerts=alerts),
        slot,
        slot,
    )
    context = span.context(rule)
    verdict, reason = (int(part[0, 0]) for part in context.verdicts())
    witness = Witness(context, 0, 0)
    now = {alert.rule: alert for alert in after.standing.alerts}
    return Explained(
        rule,
        deployment,
        slot,
        begun,
        int(context.lengths[0, 0]),
        _verdict(verdict, reason),
        tuple(_lines(rule.needs, witness)) if rule.needs else (),
        tuple(_lines(rule.when, witness)),
        tuple(_lines(rule.until, witness)) if rule.until else (),
        next((alert for alert in alerts if alert.rule == rule.name), None),
        now.get(rule.name),
        _told(rule, now.get(rule.name), [e.kind for e in after.events if e.rule == rule.name]),
        tuple((name, now[name].state if name in now else "inactive") for name in rule.unless),
        tuple(change for change in changes if applies(change, deployment)),
    )


def _verdict(verdict: int, reason: int) -> str:
    words = Verdict(verdict).name.lower()
    return f"{words}: {Reason(reason).words}" if verdict == Verdict.UNKNOWN else words


def _told(rule: Rule, alert: Alert | None, kinds: list[str]) -> str:
    if kinds:
        return f"{' and '.join(kinds)}{' (observed, not told)' if rule.observed else ''}"
    if alert is None or alert.state == "pending":
        return "nothing: it does not fire"
    if alert.muted:
        return f"nothing: {alert.muted}"
    return "nothing new" if alert.announced else "nothing: it is on its way to clear"


def _lines(node: Node, witness: Witness, depth: int = 0) -> Iterator[Line]:
    """The node and all below it, from the whole to its parts."""
    context = witness.context
    points, fit = _points(node, context), _fit(node, context)
    # What its parts say below need not be said twice.
    text = node.op if isinstance(node, Logic) else text_of(node)
    yield Line(depth, text, _value(node, witness), points, fit)
    parts: tuple[Node, ...] = ()
    if isinstance(node, Logic):
        parts = node.parts
    elif isinstance(node, Compare | Binary):
        parts = (node.left, node.right)
    elif isinstance(node, Baseline | Deviation) and node.given:
        parts = (Signal(node.given),)
    for part in parts:
        if not isinstance(part, Number):
            yield from _lines(part, witness, depth + 1)


def _value(node: Node, witness: Witness) -> str:
    if isinstance(node, Logic | Compare):
        truth = int(witness.context.truth(node)[witness.row, witness.column])
        return {1: "true", 0: "unknown", -1: "false"}[truth]
    return witness.shown(node)


def _points(node: Node, context: Context) -> tuple[float | None, ...]:
    """The minutes of the window that a signal is reduced over, oldest first."""
    if not isinstance(node, Signal | Window | Ago):
        return ()
    name = node.name if isinstance(node, Signal) else node.signal
    windows = context.earlier[node.minutes] if isinstance(node, Ago) else context.windows
    length = node.minutes if isinstance(node, Window) else int(context.lengths[0, 0])
    first = max(windows.first - min(length, MOST_POINTS) + 1, 0)
    alone = Windows(windows.frame, windows.signals, first, windows.first - first + 1, 1)
    values = alone.value(name, alone.lengths(1))[:, 0]
    return tuple(float(value) if np.isfinite(value) else None for value in values)


def _fit(node: Node, context: Context) -> Fit | None:
    return context.setting.fits[key_of(node)][0] if isinstance(node, Fitted) else None
