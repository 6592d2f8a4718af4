"""Rules -> verdicts, for all deployments and slots at once. Pure.

Truth is Kleene's: 1 true, -1 false, 0 unknown; so `and` is the minimum, `or` the maximum and `not`
the negation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from shared.engine.expectation import HOURS, by_hour, deviation, mean_of_minutes, on_line
from shared.engine.frame import Bools, Floats
from shared.engine.windows import Windows, arithmetic
from shared.model import Fit, fit_key
from shared.rulebook.ast import (
    Ago,
    Baseline,
    BeforeChange,
    Binary,
    Compare,
    Deviation,
    Logic,
    Node,
    Number,
    Parameter,
    Signal,
    Window,
    walk,
)
from shared.rulebook.catalogue import PROVISIONED_ONLY
from shared.rulebook.compile import extensive
from shared.rulebook.rules import TRAFFIC, Rule, Rulebook

Truth = NDArray[np.int8]
FLOOR = 0.05
"""The least relative spread of a window, however many requests it has (facts on detection)."""
HORIZON = 120
"""Minutes after a change within which a drop is put down to it."""


class Verdict(IntEnum):
    CLEAR = -1
    BETWEEN = 0
    BREACH = 1
    UNKNOWN = 2


class Reason(IntEnum):
    """Why a verdict is unknown, most telling first."""

    NONE = 0
    QUERY_FAILED = 1
    IDLE = 2
    NOT_APPLICABLE = 3
    TOO_LITTLE_TRAFFIC = 4
    LEARNING = 5
    NO_DATA = 6

    @property
    def words(self) -> str:
        return self.name.lower().replace("_", " ")


@dataclass(frozen=True)
class Setting:
    """What a rule is judged with, a value a deployment or a cell."""

    fits: Mapping[str, tuple[Fit | None, ...]]
    """By fit key: the fit of each deployment."""
    parameters: Mapping[str, Floats]
    begin: NDArray[np.int64]
    """First slot that a window may reach back to, by cell (the last change, or long ago)."""
    provisioned: Bools
    """By cell: whether the deployment has ever shown a metric that only provisioned ones have."""
    pinned: Bools
    """By deployment: an episode holds its fits, so they do not expire."""


class Context:
    """One rule over the cells (slots x deployments) of some windows."""

    def __init__(
        self,
        rulebook: Rulebook,
        rule: Rule,
        windows: Windows,
        setting: Setting,
        earlier: Mapping[int, Windows],
    ) -> None:
        self.rulebook, self.rule, self.windows = rulebook, rule, windows
        self.setting, self.earlier = setting, earlier
        self.slots = windows.frame.start + windows.first + np.arange(windows.count)
        self._values: dict[Node, Floats] = {}
        self.available = np.maximum(self.slots[:, None] - setting.begin + 1, 0)
        self.lengths = np.minimum(windows.lengths(rule.longest), self.available)
        self.scarce = np.zeros(windows.shape, dtype=bool)
        """Where `needs` is false, not merely unknown, in the longest window."""
        self.enough = self._grow() if rule.needs else self._fixed()

    def _fixed(self) -> Bools:
        self.lengths = np.minimum(self.windows.lengths(self.rule.shortest), self.available)
        return np.ones(self.windows.shape, dtype=bool)

    def _grow(self) -> Bools:
        """Chooses for each cell the shortest window in which `needs` holds."""
        assert self.rule.needs is not None
        longest, chosen = self.lengths, np.zeros(self.windows.shape, dtype=bool)
        result = longest.copy()
        for minutes in range(self.rule.shortest, self.rule.longest + 1):
            self.lengths = np.minimum(minutes, self.available)
            self._values.clear()
            truth = self.truth(self.rule.needs)
            self.scarce, now = truth == -1, (truth == 1) & ~chosen
            result[now] = self.lengths[now]
            chosen |= now
            if chosen.all():
                break
        self.lengths = result
        self._values.clear()
        return chosen

    def value(self, node: Node) -> Floats:
        """The value of an expression in every cell; NaN where something is missing."""
        if node not in self._values:
            self._values[node] = self._value(node)
        return self._values[node]

    def _value(self, node: Node) -> Floats:
        match node:
            case Number():
                return np.full(self.windows.shape, node.value)
            case Parameter():
                return np.broadcast_to(self.setting.parameters[node.name], self.windows.shape)
            case Signal():
                return self.windows.value(node.name, self.lengths)
            case Window():
                return self._own_window(node)
            case Ago():
                return self.earlier[node.minutes].value(node.signal, self.lengths)
            case Binary():
                return arithmetic(node.op, self.value(node.left), self.value(node.right))
            case Baseline():
                return self._expected(node.signal, node.given)
            case Deviation():
                return self._deviation(node)
            case BeforeChange():
                return self._before(node)
            case _:
                raise TypeError(f"{node} is a condition, not a value")

    def _own_window(self, node: Window) -> Floats:
        lengths = np.minimum(self.windows.lengths(node.minutes), self.available)
        if node.how in ("min", "max"):
            return self.windows.extreme(node.signal, lengths, node.how)
        value = self.windows.value(node.signal, lengths)
        if node.how == "avg" and extensive(Signal(node.signal), self.rulebook.signals):
            return arithmetic("/", value, lengths.astype(np.float64))
        return value

    def _expected(self, signal: str, given: str) -> Floats:
        fits = self.setting.fits[fit_key("line" if given else "level", signal, given)]
        if given:
            return _on_line(fits, self.windows.value(given, self.lengths))
        return by_hour(_field(fits, "level"), _hours(fits), self.slots, self.lengths)

    def _deviation(self, node: Deviation) -> Floats:
        key = fit_key("line" if node.given else "level", node.signal, node.given)
        fits = self.setting.fits[key]
        ratio = (
            self._explained(node, fits)
            if node.given
            else arithmetic("/", self.value(Signal(node.signal)), self.value(Baseline(node.signal)))
        )
        requests = self.windows.value(TRAFFIC, self.lengths)
        return deviation(ratio, _field(fits, "spread"), requests, FLOOR)

    def _explained(self, node: Deviation, fits: tuple[Fit | None, ...]) -> Floats:
        """The mean minute's ratio to what is expected of it, so that each request counts alike.

        In a ratio of sums a long answer counts as much as many short ones, and in a window of five
        requests its luck decides.
        """
        reach = max(1, int(self.lengths.max(initial=1)))
        windows = self.windows
        rows = Windows(
            windows.frame, windows.signals, windows.first - reach + 1, windows.count + reach - 1, 1
        )
        ones = rows.lengths(1)
        expected = _on_line(fits, rows.value(node.given, ones))
        ratio = arithmetic("/", rows.value(node.signal, ones), expected)
        weight = self.rulebook.signals[node.signal].weight or TRAFFIC
        return mean_of_minutes(ratio, rows.value(weight, ones), self.lengths)

    def _before(self, node: BeforeChange) -> Floats:
        fits = self.setting.fits[fit_key("before", node.signal, node.kind)]
        return np.where(self._recent(fits), _field(fits, "level"), np.nan)

    def _recent(self, fits: tuple[Fit | None, ...]) -> Bools:
        """Where a recorded change is near enough, or an episode holds on to it."""
        slot = np.array([fit.slot if fit else np.nan for fit in fits])
        age = self.slots[:, None] - slot[None, :]
        recent: Bools = (age >= 0) & ((age <= HORIZON) | self.setting.pinned[None, :])
        return recent

    def truth(self, node: Node) -> Truth:
        """Kleene truth of a condition in every cell."""
        if isinstance(node, Logic):
            parts = [self.truth(part) for part in node.parts]
            if node.op == "not":
                return -parts[0]
            combine = np.minimum if node.op == "and" else np.maximum
            return combine.reduce(parts)  # type: ignore[no-any-return]
        assert isinstance(node, Compare)
        left, right = self.value(node.left), self.value(node.right)
        true = _COMPARE[node.op](left, right)
        missing = np.isnan(left) | np.isnan(right)
        return np.where(missing, 0, np.where(true, 1, -1)).astype(np.int8)

    def verdicts(self) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
        """Verdict and, where it is unknown, the reason, in every cell."""
        when = self.truth(self.rule.when)
        until = self.truth(self.rule.until) if self.rule.until else -when
        verdict = np.full(self.windows.shape, Verdict.BETWEEN, dtype=np.int8)
        verdict[(when == 0) | (until == 0)] = Verdict.UNKNOWN
        verdict[until == 1] = Verdict.CLEAR
        verdict[when == 1] = Verdict.BREACH
        verdict[~self.enough | (self.lengths == 0)] = Verdict.UNKNOWN
        unknown = verdict == Verdict.UNKNOWN
        reasons = np.zeros(self.windows.shape, dtype=np.int8)
        if unknown.any():
            reasons[unknown] = self._reasons()[unknown]
        return verdict, reasons

    def _reasons(self) -> NDArray[np.int8]:
        components = self.rulebook.components(TRAFFIC, *self.rule.signals)
        frame = self.windows.frame
        failed = np.logical_or.reduce([frame.failed[c] for c in components])
        most = self.windows.lengths(self.rule.longest)
        traffic = np.nan_to_num(self.windows.value(TRAFFIC, most))
        provisioned = any(c.metric in PROVISIONED_ONLY for c in components)
        learning = self.available == 0
        for node in self.rule.fits:
            learning |= _unusable(self.setting.fits[key_of(node)])
        reasons = np.full(self.windows.shape, Reason.NO_DATA, dtype=np.int8)
        reasons[learning] = Reason.LEARNING
        reasons[~self.enough & self.scarce & (self.available > 0)] = Reason.TOO_LITTLE_TRAFFIC
        reasons[self._no_change()] = Reason.NOT_APPLICABLE
        if provisioned:
            reasons[~self.setting.provisioned] = Reason.NOT_APPLICABLE
        reasons[traffic == 0] = Reason.IDLE
        reasons[np.broadcast_to(failed, reasons.shape)] = Reason.QUERY_FAILED
        return reasons

    def _no_change(self) -> Bools:
        """Where the rule asks for the time before a change and none is recorded near."""
        none = np.zeros(self.windows.shape, dtype=bool)
        for node in (n for n in self.rule.fits if isinstance(n, BeforeChange)):
            none |= ~self._recent(self.setting.fits[key_of(node)])
        return none


_COMPARE = {
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


def key_of(node: Node) -> str:
    """The key of the fit that a node compares with."""
    if isinstance(node, BeforeChange):
        return fit_key("before", node.signal, node.kind)
    assert isinstance(node, Baseline | Deviation)
    return fit_key("line" if node.given else "level", node.signal, node.given)


def usable(fit: Fit | None) -> bool:
    """Whether there is a fit and it had history enough."""
    return fit is not None and fit.ready


def _unusable(fits: tuple[Fit | None, ...]) -> Bools:
    return np.array([not usable(fit) for fit in fits], dtype=bool)


def _field(fits: tuple[Fit | None, ...], name: str) -> Floats:
    return np.array(
        [getattr(fit, name) if fit and usable(fit) else np.nan for fit in fits], dtype=np.float64
    )


def _on_line(fits: tuple[Fit | None, ...], at: Floats) -> Floats:
    intercept, slope = _field(fits, "intercept"), _field(fits, "slope")
    return on_line(at, intercept, slope, _field(fits, "low"), _field(fits, "high"))


def _hours(fits: tuple[Fit | None, ...]) -> Floats:
    """By hour of the day and deployment: the level there as a multiple of the whole level."""
    flat = (1.0,) * HOURS
    return np.array([(fit.hours or flat) if fit else flat for fit in fits], dtype=np.float64).T


def offsets(rule: Rule) -> set[int]:
    """How many minutes earlier the rule looks with ago()."""
    roots = (*rule.nodes, *rule.shown)
    return {n.minutes for root in roots for n in walk(root) if isinstance(n, Ago)}


def reach(rule: Rule) -> int:
    """The longest window of the rule, its own windows included, in minutes."""
    roots = (*rule.nodes, *rule.shown)
    own = [n.minutes for root in roots for n in walk(root) if isinstance(n, Window)]
    return max([rule.longest, *own])
