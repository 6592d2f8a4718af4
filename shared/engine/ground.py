"""What rules are judged on in a span of slots: windows, fits, parameters, changes. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from shared.engine.baseline import applies
from shared.engine.case import Case, Standing, lead
from shared.engine.evaluate import Context, Setting, key_of, reach, usable
from shared.engine.frame import Bools
from shared.engine.windows import Windows
from shared.model import Account, Deployment, Fit, Known, Slot
from shared.rulebook.catalogue import CACHE_KEPT, CACHE_WARMING, is_cache, touches
from shared.rulebook.rules import TRAFFIC, Rule

Pins = Mapping[str, tuple[Fit, ...]]
"""By deployment key: the fits that its episode is compared with."""


class Ground:
    """The slots [first, last] of a case, with the fits of one moment."""

    def __init__(self, case: Case, standing: Standing, first: Slot, last: Slot) -> None:
        self.case, self.standing, self.first, self.last = case, standing, first, last
        frame, signals = case.frame, case.rulebook.signals
        row, count = frame.row(first), last - first + 1
        longest = max([1, *(reach(rule) for rule in case.rulebook.rules)])
        self.slots = np.arange(first, last + 1)
        self.windows = Windows(frame, signals, row, count, longest)
        self.earlier = {
            minutes: Windows(earlier, signals, row, count, longest)
            for minutes, earlier in case.earlier.items()
        }
        known = {one.deployment.key: one for one in standing.known}
        self.known = [known.get(d.key) for d in frame.deployments]

    def context(self, rule: Rule, pins: Pins) -> Context:
        """The rule over the cells; deployments without pins are compared with the present fits."""
        setting = self._setting(rule, pins)
        return Context(self.case.rulebook, rule, self.windows, setting, self.earlier)

    def covered(self, rule: Rule) -> Bools:
        """By cell: the deployment is known by then and the rule is about it."""
        never = self.last + 1
        since = [one.since if one and self._about(rule, one) else never for one in self.known]
        covered: Bools = self.slots[:, None] >= np.array(since, dtype=np.int64)[None, :]
        return covered

    def _about(self, rule: Rule, one: Known) -> bool:
        if one.deployment.unattributed and rule.fits:
            return False
        return rule.scope.matches(self.account(one.deployment), one.deployment)

    def account(self, deployment: Deployment) -> Account:
        return self.case.accounts[deployment.account]

    def fresh(self, rule: Rule, deployment: Deployment) -> tuple[Fit, ...]:
        """The fits that an episode beginning now is compared with."""
        keys = dict.fromkeys(key_of(node) for node in rule.fits)
        found = (self.standing.fits.get((deployment.key, key)) for key in keys)
        return tuple(fit for fit in found if fit is not None and usable(fit))

    def _setting(self, rule: Rule, held: Pins) -> Setting:
        deployments = self.case.frame.deployments
        pins = [{fit.key: fit for fit in held.get(d.key, ())} for d in deployments]
        fits = {
            key: tuple(
                pinned.get(key) or self.standing.fits.get((d.key, key))
                for d, pinned in zip(deployments, pins, strict=True)
            )
            for key in {key_of(node) for node in rule.asked}
        }
        provisioned = np.array(
            [
                one.provisioned if one and one.provisioned is not None else self.last + 1
                for one in self.known
            ],
            dtype=np.int64,
        )
        return Setting(
            fits=fits,
            parameters={
                name: np.array(
                    [rule.parameter(name, self.account(d), d) for d in deployments], dtype=float
                )
                for name in rule.parameters
            },
            begin=self._begin(rule),
            provisioned=self.slots[:, None] >= provisioned[None, :],
            pinned=np.array([bool(pinned) for pinned in pins], dtype=bool),
        )

    def _used_again(self) -> NDArray[np.int64]:
        """By cell: the slot of the first request after the last CACHE_KEPT minutes without any."""
        first, count = self.windows.first, self.windows.count
        before = min(first, lead(self.case.rulebook) - 1)
        alone = Windows(
            self.case.frame, self.case.rulebook.signals, first - before, before + count, CACHE_KEPT
        )
        requests = alone.value(TRAFFIC, alone.lengths(1))
        used = alone.value(TRAFFIC, alone.lengths(CACHE_KEPT))
        failed = self._failed(TRAFFIC)
        idle = ~(used > 0) & ~failed  # the CACHE_KEPT minutes that end here had no request
        again = (requests > 0) & np.vstack([np.zeros_like(idle[:1]), idle[:-1]])
        slots = self.first - before + np.arange(before + count)
        at = np.where(again, slots[:, None], 0)
        return np.maximum.accumulate(at, axis=0)[before:]

    def _failed(self, *signals: str) -> Bools:
        """By deployment: whether a part of the signals could not be read."""
        components = self.case.rulebook.components(*signals)
        failed: Bools = np.logical_or.reduce([self.case.frame.failed[c] for c in components])
        return failed

    def _begin(self, rule: Rule) -> NDArray[np.int64]:
        """By cell: the first slot that windows may reach back to, or long ago.

        That is the last change that touches the rule; caches have to fill first, after a change as
        after minutes without use.
        """
        begin = np.zeros(self.windows.shape, dtype=np.int64)
        metrics = {c.metric for c in self.case.rulebook.components(*rule.signals)}
        warming = CACHE_WARMING if any(is_cache(metric) for metric in metrics) else 0
        if warming:
            begin = self._used_again() + warming
        for change in self.case.changes:
            if not any(touches(change.kind, metric) for metric in metrics):
                continue
            for n, deployment in enumerate(self.case.frame.deployments):
                if applies(change, deployment):
                    after = self.slots >= change.slot
                    begin[after, n] = np.maximum(begin[after, n], change.slot + warming)
        return begin
