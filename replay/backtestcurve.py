"""What a chart of an episode shows: signal, expectation and threshold, as the engine had them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from replay.live import case_of
from replay.past import Past
from shared.engine.case import Standing
from shared.engine.evaluate import Context
from shared.engine.frame import Floats
from shared.engine.ground import Ground, Pins
from shared.model import LEARNED, Account, Change, Fit, Slot
from shared.rulebook.ast import Baseline, BeforeChange, Node, text_of, walk
from shared.rulebook.rules import Rule, Rulebook
from shared.rulebook.typecheck import Names, unit_of
from shared.rulebook.units import BARE, Unit

BEFORE, AFTER = 90, 45
"""Minutes shown around an episode."""
MOST_POINTS = 480


@dataclass(frozen=True)
class Stretch:
    """Slots that were judged with one set of fits, and what was remembered after them."""

    first: Slot
    last: Slot
    standing: Standing


@dataclass(frozen=True, eq=False)
class Curve:
    """Values over time, one in `step` minutes from `start` on; NaN where there is none."""

    start: Slot
    step: int
    title: str
    unit: Unit
    values: Floats
    threshold: Floats
    sign: str
    """How the rule compares the values with the threshold, e.g. `>`."""
    expected: Floats | None = None


@dataclass(frozen=True)
class Drawer:
    """Computes curves of one deployment after it was judged."""

    rulebook: Rulebook
    account: Account
    past: Past
    first: Slot
    last: Slot
    changes: tuple[Change, ...]
    stretches: Sequence[Stretch]

    def curve(self, rule_name: str, since: Slot, until: Slot) -> Curve | None:
        """The curve of an episode; None where the rule compares no signal."""
        rule = next(rule for rule in self.rulebook.rules if rule.name == rule_name)
        compare = rule.leading
        if compare is None:
            return None
        start, end = max(since - BEFORE, self.first), min(until + AFTER, self.last)
        normal = next((n for n in walk(compare) if isinstance(n, Baseline | BeforeChange)), None)
        nodes = [compare.left, compare.right, *([normal] if normal else [])]
        columns = self._columns(rule, nodes, (start, end), since, until)
        step = -(-(end - start + 1) // MOST_POINTS)
        low = "<" in compare.op
        values, threshold, *expected = (_thinned(column, step, low=low) for column in columns)
        units = {name: signal.unit for name, signal in self.rulebook.signals.items()}
        return Curve(
            start,
            step,
            self._title(compare.left),
            unit_of(compare.left, Names(units)) or BARE,
            values,
            threshold,
            compare.op,
            expected[0] if expected and normal != compare.right else None,
        )

    def _title(self, node: Node) -> str:
        name = text_of(node)
        return self.rulebook.signals[name].title if name in self.rulebook.signals else name

    def _columns(
        self, rule: Rule, nodes: Sequence[Node], over: tuple[Slot, Slot], since: Slot, until: Slot
    ) -> list[Floats]:
        """Each node's values over the slots, piece by piece of one set of fits."""
        pieces = [
            [context.value(node)[:, 0] for node in nodes]
            for context in self._contexts(rule, over, since, until)
        ]
        return [np.concatenate(parts) for parts in zip(*pieces, strict=True)]

    def _contexts(
        self, rule: Rule, over: tuple[Slot, Slot], since: Slot, until: Slot
    ) -> Iterator[Context]:
        start, end = over
        case = case_of(self.rulebook, self.account, self.past, start, end, self.changes)
        (deployment,) = self.past.deployments
        pins: tuple[Fit, ...] = ()
        for stretch in self.stretches:
            for first, last in _divided(stretch, start, end, (since, until, since + LEARNED)):
                ground = Ground(case, stretch.standing, first, last)
                if first == since:
                    pins = ground.fresh(rule, deployment)
                held = since <= first < min(until, since + LEARNED)
                pinned: Pins = {deployment.key: pins} if held else {}
                yield ground.context(rule, pinned)


def _divided(
    stretch: Stretch, start: Slot, end: Slot, at: Sequence[Slot]
) -> Iterator[tuple[Slot, Slot]]:
    """The part of a stretch within [start, end], cut at some slots."""
    first, last = max(stretch.first, start), min(stretch.last, end)
    edges = [first, *sorted(slot for slot in set(at) if first < slot <= last), last + 1]
    if first <= last:
        yield from ((a, b - 1) for a, b in pairwise(edges))


def _thinned(values: Floats, step: int, *, low: bool) -> Floats:
    """One value in `step` minutes: the worst of them."""
    if step == 1:
        return np.asarray(values, dtype=np.float64)
    rest = -len(values) % step
    cells = np.concatenate([values, np.full(rest, np.nan)]).reshape(-1, step)
    worst: Floats = (np.fmin if low else np.fmax).reduce(cells, axis=1)
    return worst
