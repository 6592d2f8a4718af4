"""A span of slots -> verdicts, alerts, events, with the same fits throughout. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from msgspec.structs import replace as but
from numpy.typing import NDArray

from shared.engine.baseline import applies
from shared.engine.case import Case, Judged, Standing
from shared.engine.evaluate import Context, Reason, Setting, Verdict, key_of, reach, usable
from shared.engine.evidence import Witness, event_of
from shared.engine.frame import Bools
from shared.engine.lifecycle import Sight, Told, step
from shared.engine.muting import Muting
from shared.engine.windows import Windows
from shared.model import (
    EPISODE_MEMORY,
    LEARNED,
    Account,
    Alert,
    Deployment,
    Episode,
    Event,
    Fit,
    Known,
    Slot,
)
from shared.rulebook.catalogue import CACHE_WARMING, is_cache, touches
from shared.rulebook.rules import Rule


class Span:
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
        self.alerts = {(alert.rule, alert.deployment.key): alert for alert in standing.alerts}
        self.muting = Muting(case.silences)
        self.episodes = {(e.rule, e.deployment.key, e.since): e for e in standing.episodes}
        self.cut = last
        self.told: list[tuple[Told, Event]] = []

    def judge(self) -> tuple[Judged, Slot]:
        """The judgement, and the last slot up to which it holds."""
        tally = {rule.name: self._rule(rule) for rule in self.case.rulebook.judged}
        order = {rule.name: n for n, rule in enumerate(self.case.rulebook.rules)}
        self.told.sort(key=lambda pair: (pair[0].slot, order[pair[1].rule], pair[1].deployment))
        standing = replace(
            self.standing,
            alerts=tuple(self.alerts[key] for key in sorted(self.alerts)),
            episodes=self._recent_episodes(),
        )
        return Judged(standing, tuple(event for _, event in self.told), tally), self.cut

    def _rule(self, rule: Rule) -> Counter[str]:
        context = Context(
            self.case.rulebook,
            rule,
            self.windows,
            self._setting(rule, self._pins(rule)),
            self.earlier,
        )
        verdicts, reasons = context.verdicts()
        covered = self._covered(rule)
        for n, deployment in enumerate(self.case.frame.deployments):
            live = (rule.name, deployment.key) in self.alerts
            breached = (verdicts[:, n] == Verdict.BREACH) & covered[:, n]
            if live or breached.any():
                self._deployment(context, n, verdicts[:, n], reasons[:, n], covered[:, n])
        return _count(verdicts[covered], reasons[covered])

    def _deployment(
        self,
        context: Context,
        column: int,
        verdicts: NDArray[np.int8],
        reasons: NDArray[np.int8],
        covered: Bools,
    ) -> None:
        """Walks one deployment's alert of one rule through the slots."""
        rule, deployment = context.rule, self.case.frame.deployments[column]
        account = self._account(deployment)
        key, fresh = (rule.name, deployment.key), self._fresh(rule, deployment)
        silences = self.muting.silences_of(rule, account, deployment)
        gone = deployment.key in self.case.gone
        alert = self.alerts.pop(key, None)
        held = any(fit.kind == "before" for fit in alert.pins) if alert else False
        for row in np.flatnonzero(covered):
            slot, before = self.first + int(row), alert
            verdict = Verdict(verdicts[row])
            witness = Witness(context, int(row), column)
            value = witness.leading() if verdict == Verdict.BREACH else None
            muted = self.muting.reason(rule, deployment, slot, silences)
            sight = Sight(slot, verdict, Reason(reasons[row]), value, muted, gone)
            alert, told = step(rule, alert, deployment, sight, fresh)
            if alert and alert.state == "firing":
                self.muting.note(rule, deployment, slot)
            if told:
                told = self._learned(told, witness)
                self.told.append((told, event_of(told, witness, account.region)))
            self._remember(rule, deployment, slot, before, alert)
            if before and alert is None and (before.pins != fresh or held):
                self.cut = min(self.cut, slot)
                break
        if alert:
            self.alerts[key] = alert

    def _learned(self, told: Told, witness: Witness) -> Told:
        """A recovery is a new normal if it is none by what was normal when the episode began."""
        alert, rule = told.alert, witness.rule
        if told.reason != "recovered" or told.slot - alert.since < LEARNED or not alert.pins:
            return told
        column = {alert.deployment.key: alert.pins}
        setting = self._setting(rule, column)
        then = Context(self.case.rulebook, rule, self.windows, setting, self.earlier)
        verdict = then.verdicts()[0][witness.row, witness.column]
        return told if verdict == Verdict.CLEAR else replace(told, reason="new normal")

    def _remember(
        self,
        rule: Rule,
        deployment: Deployment,
        slot: Slot,
        before: Alert | None,
        alert: Alert | None,
    ) -> None:
        """Keeps the beginnings and ends of episodes, told or not."""
        fired = alert is not None and alert.fired == slot
        if alert and fired:
            key = (rule.name, deployment.key, alert.since)
            self.episodes[key] = Episode(rule.name, deployment, alert.since)
        if before and before.state == "firing" and alert is None:
            key = (rule.name, deployment.key, before.since)
            if key in self.episodes:
                self.episodes[key] = but(self.episodes[key], end=slot)

    def _covered(self, rule: Rule) -> Bools:
        """By cell: the deployment is known by then and the rule is about it."""
        never = self.last + 1
        since = [one.since if one and self._about(rule, one) else never for one in self.known]
        covered: Bools = self.slots[:, None] >= np.array(since, dtype=np.int64)[None, :]
        return covered

    def _about(self, rule: Rule, one: Known) -> bool:
        if one.deployment.unattributed and rule.fits:
            return False
        return rule.scope.matches(self._account(one.deployment), one.deployment)

    def _account(self, deployment: Deployment) -> Account:
        return self.case.accounts[deployment.account]

    def _fresh(self, rule: Rule, deployment: Deployment) -> tuple[Fit, ...]:
        """The fits that an episode beginning now is compared with."""
        keys = dict.fromkeys(key_of(node) for node in rule.fits)
        found = (self.standing.fits.get((deployment.key, key)) for key in keys)
        return tuple(fit for fit in found if fit is not None and usable(fit))

    def _pins(self, rule: Rule) -> dict[str, tuple[Fit, ...]]:
        """By deployment key: what its episode is compared with, for the episode's first day."""
        live = (self.alerts.get((rule.name, d.key)) for d in self.case.frame.deployments)
        young = (alert for alert in live if alert and self.first - alert.since < LEARNED)
        return {alert.deployment.key: alert.pins for alert in young}

    def _setting(self, rule: Rule, held: Mapping[str, tuple[Fit, ...]]) -> Setting:
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
                    [rule.parameter(name, self._account(d), d) for d in deployments], dtype=float
                )
                for name in rule.parameters
            },
            begin=self._begin(rule),
            provisioned=self.slots[:, None] >= provisioned[None, :],
            pinned=np.array([bool(pinned) for pinned in pins], dtype=bool),
        )

    def _begin(self, rule: Rule) -> NDArray[np.int64]:
        """By cell: the slot of the last change that touches the rule, or long ago."""
        begin = np.zeros(self.windows.shape, dtype=np.int64)
        metrics = {c.metric for c in self.case.rulebook.components(*rule.signals)}
        warming = CACHE_WARMING if any(is_cache(metric) for metric in metrics) else 0
        for change in self.case.changes:
            if not any(touches(change.kind, metric) for metric in metrics):
                continue
            for n, deployment in enumerate(self.case.frame.deployments):
                if applies(change, deployment):
                    after = self.slots >= change.slot
                    begin[after, n] = np.maximum(begin[after, n], change.slot + warming)
        return begin

    def _recent_episodes(self) -> tuple[Episode, ...]:
        oldest = self.first - EPISODE_MEMORY
        found = (self.episodes[key] for key in sorted(self.episodes))
        return tuple(e for e in found if e.end is None or e.end >= oldest)


def _count(verdicts: NDArray[np.int8], reasons: NDArray[np.int8]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for verdict in (Verdict.BREACH, Verdict.CLEAR, Verdict.BETWEEN):
        counts[verdict.name.lower()] = int((verdicts == verdict).sum())
    for reason in Reason:
        if reason is not Reason.NONE:
            counts[reason.words] = int((reasons == reason).sum())
    return counts
