"""Windows that end at a step: totals summed, averages weighted, extremes taken.

A stack holds a component's windows of every length: stack[k] is steps x deployments for windows
of k minutes. Each is the shorter window and one older minute, element by element, so a value
never depends on how many steps are judged at once.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shared.engine.frame import Floats, Frame
from shared.model import Component
from shared.rulebook.ast import Binary, Node, Number, Signal
from shared.rulebook.rules import SignalDef

Lengths = NDArray[np.int64]
_Key = tuple[str, Component] | tuple[str, Component, str]


class Windows:
    """The windows of a frame that end at the rows [first, first + count)."""

    def __init__(
        self, frame: Frame, signals: Mapping[str, SignalDef], first: int, count: int, longest: int
    ) -> None:
        self.frame, self.signals = frame, signals
        self.first, self.count, self.longest = first, count, longest
        self.shape = (count, len(frame.deployments))
        self._stacks: dict[_Key, Floats] = {}
        self._pairs: dict[tuple[Component, str], tuple[Floats, Floats]] = {}

    def lengths(self, minutes: int) -> Lengths:
        return np.full(self.shape, minutes, dtype=np.int64)

    def value(self, name: str, lengths: Lengths) -> Floats:
        """The signal over windows of the given lengths, one each; NaN where there is nothing."""
        signal = self.signals[name]
        if signal.formula is None:
            return self._component(signal, lengths)
        value = self._formula(signal.formula, lengths)
        return value * 100 if signal.percent else value

    def extreme(self, name: str, lengths: Lengths, how: str) -> Floats:
        """The lowest or highest minute of windows of the given lengths."""
        best = np.full(self.shape, np.nan)
        choose = np.fmin if how == "min" else np.fmax
        for back in range(int(lengths.max(initial=0))):
            earlier = Windows(self.frame, self.signals, self.first - back, self.count, 1)
            value = earlier.value(name, earlier.lengths(1))
            best = np.where(lengths > back, choose(best, value), best)
        return best

    def _formula(self, node: Node, lengths: Lengths) -> Floats:
        if isinstance(node, Signal):
            return self.value(node.name, lengths)
        if isinstance(node, Number):
            return np.full(self.shape, node.value)
        assert isinstance(node, Binary)
        return arithmetic(
            node.op, self._formula(node.left, lengths), self._formula(node.right, lengths)
        )

    def _component(self, signal: SignalDef, lengths: Lengths) -> Floats:
        component = signal.component
        assert component is not None
        if component.aggregation in ("minimum", "maximum"):
            return take(self._extremes(component), lengths)
        total, weight = self._sums(component, signal.weight)
        value, by = take(total, lengths), take(weight, lengths)
        if component.aggregation == "average":
            return divide(value, by)
        return np.where(by > 0, value, np.nan)

    def _sums(self, component: Component, weight: str) -> tuple[Floats, Floats]:
        """Stacks of the weighted sum and of the weights; a point that is missing weighs 0."""
        if (component, weight) not in self._pairs:
            self._pairs[component, weight] = self._summed(component, weight)
        return self._pairs[component, weight]

    def _summed(self, component: Component, weight: str) -> tuple[Floats, Floats]:
        values = self._rows(component)
        present = ~np.isnan(values)
        weights = present.astype(np.float64)
        by = self.signals[weight].component if weight else None
        if by is not None:
            given = self._rows(by)
            present &= ~self.frame.failed[by]  # an average that cannot be weighed is not known
            weights = np.where(present, np.where(given > 0, given, 1.0), 0.0)
        weighted = np.where(present, values, 0.0) * weights
        return (
            self._stack(("sum", component, weight), weighted, 0.0, np.add),
            self._stack(("weight", component, weight), weights, 0.0, np.add),
        )

    def _extremes(self, component: Component) -> Floats:
        choose = np.fmin if component.aggregation == "minimum" else np.fmax
        return self._stack(("extreme", component), self._rows(component), np.nan, choose)

    def _rows(self, component: Component) -> Floats:
        """The minutes that the windows reach; NaN before the frame begins."""
        begin, end = self.first - self.longest + 1, self.first + self.count
        rows = self.frame.values[component][max(begin, 0) : max(end, 0)]
        before = np.full((end - begin - len(rows), self.shape[1]), np.nan)
        return np.concatenate([before, rows])

    def _stack(self, key: _Key, rows: Floats, empty: float, combine: np.ufunc) -> Floats:
        """Windows of 0, 1, 2 ... minutes, each made from the shorter one and the minute before."""
        if key not in self._stacks:
            ends, back = np.arange(self.count) + self.longest - 1, np.arange(self.longest)
            minutes = rows[ends[None, :] - back[:, None]]
            none = np.full((1, *self.shape), empty)
            self._stacks[key] = np.concatenate([none, combine.accumulate(minutes, axis=0)])
        return self._stacks[key]


def take(stack: Floats, lengths: Lengths) -> Floats:
    """From a stack, the window of each cell's own length."""
    taken: Floats = np.take_along_axis(stack, lengths[np.newaxis], axis=0)[0]
    return taken


def divide(left: Floats, right: Floats) -> Floats:
    """The quotient; NaN instead of a division by zero."""
    quotient: Floats = np.divide(left, right, out=np.full(left.shape, np.nan), where=right != 0)
    return quotient


def arithmetic(op: str, left: Floats, right: Floats) -> Floats:
    if op == "+":
        return left + right
    if op == "-":
        return left - right
    return left * right if op == "*" else divide(left, right)
