"""Windows that end at a step: totals summed, averages weighted, extremes taken.

A stack holds a component's windows of every length: stack[k] is steps x deployments for windows
of k minutes. Windows are built by adding the older minute to the shorter window, element by
element, so a value never depends on how many steps are judged at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from shared.engine.frame import Floats, Frame
from shared.model import Component
from shared.rulebook.ast import Binary, Node, Number, Signal
from shared.rulebook.rules import SignalDef

Lengths = NDArray[np.int64]
_Longer = Callable[[Floats, int], Floats]
"""Makes a window one minute longer: (the shorter one, how far back the minute lies)."""


class Windows:
    """The windows of a frame that end at the rows [first, first + count)."""

    def __init__(
        self, frame: Frame, signals: Mapping[str, SignalDef], first: int, count: int, longest: int
    ) -> None:
        self.frame, self.signals = frame, signals
        self.first, self.count, self.longest = first, count, longest
        self.shape = (count, len(frame.deployments))
        self._stacks: dict[tuple[object, ...], Floats] = {}

    def lengths(self, minutes: int) -> Lengths:
        return np.full(self.shape, minutes, dtype=np.int64)

    def value(self, name: str, lengths: Lengths) -> Floats:
        """The signal over windows of the given lengths, one each; NaN where there is nothing."""
        signal = self.signals[name]
        if signal.formula is None:
            return self._component(signal, lengths)
        value = self._formula(signal.formula, lengths)
        return value * 100 if signal.percent else value

    def extreme(self, name: str, minutes: int, how: str) -> Floats:
        """The lowest or highest minute of a window."""
        best = np.full(self.shape, np.nan)
        choose = np.fmin if how == "min" else np.fmax
        for back in range(minutes):
            earlier = Windows(self.frame, self.signals, self.first - back, self.count, 1)
            best = choose(best, earlier.value(name, earlier.lengths(1)))
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
        scale = signal.unit.scale
        if component.aggregation == "average":
            total, weight = self._weighted(component, signal.weight)
            return divide(take(total, lengths), take(weight, lengths)) * scale
        if component.aggregation == "total":
            return take(self._sums(component), lengths) * scale
        return take(self._extremes(component), lengths) * scale

    def _rows(self, component: Component, back: int) -> Floats:
        """The component `back` minutes before each step; NaN before the frame begins."""
        values = self.frame.values[component]
        begin = self.first - back
        rows = values[max(begin, 0) : max(begin + self.count, 0)]
        if len(rows) == self.count:
            return rows
        return np.concatenate([np.full((self.count - len(rows), self.shape[1]), np.nan), rows])

    def _sums(self, component: Component) -> Floats:
        def longer(shorter: Floats, back: int) -> Floats:
            older = self._rows(component, back)
            both = np.nan_to_num(shorter) + np.nan_to_num(older)
            return np.where(np.isnan(shorter) & np.isnan(older), np.nan, both)

        return self._stack(("sum", component), np.nan, longer)

    def _extremes(self, component: Component) -> Floats:
        choose = np.fmin if component.aggregation == "minimum" else np.fmax

        def longer(shorter: Floats, back: int) -> Floats:
            return choose(shorter, self._rows(component, back))

        return self._stack(("extreme", component), np.nan, longer)

    def _weighted(self, component: Component, weight: str) -> tuple[Floats, Floats]:
        by = self.signals[weight].component if weight else None

        def weights(back: int) -> Floats:
            values = self._rows(component, back)
            if by is None:
                return np.where(np.isnan(values), 0.0, 1.0)
            given = self._rows(by, back)
            usable = np.where(np.isnan(given) | (given <= 0), 1.0, given)
            return np.where(np.isnan(values), 0.0, usable)

        def longer(shorter: Floats, back: int) -> Floats:
            return shorter + np.nan_to_num(self._rows(component, back)) * weights(back)

        def heavier(shorter: Floats, back: int) -> Floats:
            return shorter + weights(back)

        return (
            self._stack(("weighted", component, weight), 0.0, longer),
            self._stack(("weight", component, weight), 0.0, heavier),
        )

    def _stack(self, key: tuple[object, ...], empty: float, longer: _Longer) -> Floats:
        if key not in self._stacks:
            stack = np.full((self.longest + 1, *self.shape), empty)
            for minutes in range(1, self.longest + 1):
                stack[minutes] = longer(stack[minutes - 1], minutes - 1)
            self._stacks[key] = stack
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
