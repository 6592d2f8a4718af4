"""Baselines that a scenario states itself -> fits, as if history had given them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf

from replay.scenariospec import BaselineSpec
from shared.engine.baseline import question_of
from shared.engine.evaluate import key_of
from shared.model import Change, Deployment, Fit, Slot
from shared.rulebook.problems import ExpressionError, nearest
from shared.rulebook.rules import Fitted, Rule, SignalDef
from shared.rulebook.units import BARE, PERCENTS, Unit, parse_literal


def asked_by(rules: Sequence[Rule]) -> dict[str, Fitted]:
    """What rules compare with, by name: `ttlt`, `ttlt given tokens_per_answer`, `x before KIND`."""
    return {key_of(node): node for rule in rules for node in rule.asked}


def fit_of(
    name: str,
    spec: BaselineSpec,
    asked: Mapping[str, Fitted],
    signals: Mapping[str, SignalDef],
    deployment: Deployment,
    changes: Sequence[Change],
    end: Slot,
) -> Fit:
    """The fit that a baseline states; it is not refitted up to `end`.

    Raises:
        ExpressionError: nobody asks for it, or a value is wrong.
    """
    node = asked.get(name)
    if node is None:
        cure = nearest(name, asked, "baselines") if asked else "Leave it out."
        raise ExpressionError(f"no rule of this scenario compares with {name!r}", cure)
    kind, signal, given = question_of(node)
    unit = signals[signal].unit
    spread = _number(spec.spread, PERCENTS) / 100
    slot = _change(name, given, changes) if kind == "before" else end
    if kind != "line":
        if spec.intercept or spec.slope or spec.seen:
            raise ExpressionError(f"{name} is a level, not a line", f"Write it like {name}: 4s.")
        level = _number(_needed(spec.level, name, "level"), unit)
        return Fit(kind, signal, given, deployment, slot, slot, 1, level, spread)
    low, high = _seen(spec.seen, signals[given].unit)
    return Fit(
        kind,
        signal,
        given,
        deployment,
        slot,
        slot,
        1,
        level=1.0,
        spread=spread,
        intercept=_number(spec.intercept, unit),
        slope=_number(_needed(spec.slope, name, "slope"), unit, bare=True),
        low=low,
        high=high,
    )


def _change(name: str, kind: str, changes: Sequence[Change]) -> Slot:
    slots = [change.slot for change in changes if change.kind == kind]
    if not slots:
        cure = f"Add changes: [{{kind: {kind}, at: 30m}}]."
        raise ExpressionError(f"{name}: there is no change of that kind", cure)
    return min(slots)


def _needed(text: str, name: str, key: str) -> str:
    if text:
        return text
    example = "{intercept: 126ms, slope: 41ms}" if key == "slope" else "4s"
    raise ExpressionError(f"{name} has no {key}", f"Write it like {name}: {example}.")


def _number(text: str, unit: Unit, *, bare: bool = False) -> float:
    if not text:
        return 0.0
    try:
        value, found = parse_literal(text)
    except ValueError as error:
        raise ExpressionError(str(error)) from None
    if found.bases == unit.bases or (found.bases == BARE.bases and (bare or unit.counted)):
        return value
    raise ExpressionError(f"{text} is not measured in {unit}", f"Write it in {unit}.")


def _seen(text: str, unit: Unit) -> tuple[float, float]:
    if not text:
        return 0.0, inf
    low, dots, high = text.partition("..")
    if not dots:
        raise ExpressionError(f"{text!r} is no range", "Write it like seen: 50..400.")
    return _number(low.strip(), unit), _number(high.strip(), unit)
