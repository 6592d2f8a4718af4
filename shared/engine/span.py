"""A span of slots -> verdicts, alerts, events, with the same fits throughout. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from msgspec.structs import replace as but
from numpy.typing import NDArray

from shared.engine.case import Case, Judged, Standing
from shared.engine.evaluate import Context, Reason, Verdict
from shared.engine.evidence import Witness, event_of
from shared.engine.frame import Bools
from shared.engine.ground import Ground, Pins
from shared.engine.lifecycle import Sight, Told, step
from shared.engine.muting import Muting
from shared.model import (
    EPISODE_MEMORY,
    LEARNED,
    Alert,
    Deployment,
    Episode,
    Event,
    Slot,
)
from shared.rulebook.rules import Rule


class Span:
    """The slots [first, last] of a case: the alerts that live through them, and what is told."""

    def __init__(self, case: Case, standing: Standing, first: Slot, last: Slot) -> None:
        self.case, self.standing, self.first, self.last = case, standing, first, last
        self.ground = Ground(case, standing, first, last)
        self.alerts = {(alert.rule, alert.deployment.key): alert for alert in standing.alerts}
        self.muting = Muting(case.silences)
        self.episodes = {(e.rule, e.deployment.key, e.since): e for e in standing.episodes}
        self.cut = last
        self.told: list[tuple[Told, Event]] = []
        self.broken: dict[str, str] = {}

    def judge(self) -> tuple[Judged, Slot]:
        """The judgement, and the last slot up to which it holds."""
        tally = {rule.name: self._alone(rule) for rule in self.case.rulebook.judged}
        order = {rule.name: n for n, rule in enumerate(self.case.rulebook.rules)}
        self.told.sort(key=lambda pair: (pair[0].slot, order[pair[1].rule], pair[1].deployment))
        standing = replace(
            self.standing,
            alerts=tuple(self.alerts[key] for key in sorted(self.alerts)),
            episodes=self._recent_episodes(),
        )
        events = tuple(event for _, event in self.told)
        return Judged(standing, events, tally, self.broken), self.cut

    def _alone(self, rule: Rule) -> Counter[str]:
        """Judges a rule; one that cannot be judged, which is a defect, costs no other."""
        alerts, episodes, told = dict(self.alerts), dict(self.episodes), list(self.told)
        try:
            return self._rule(rule)
        except Exception as error:
            self.alerts, self.episodes, self.told = alerts, episodes, told
            self.broken[rule.name] = f"{type(error).__name__}: {error}"
            return Counter()

    def context(self, rule: Rule) -> Context:
        """The rule over the span, its live episodes compared with what they began with."""
        return self.ground.context(rule, self._pins(rule))

    def _rule(self, rule: Rule) -> Counter[str]:
        context = self.context(rule)
        verdicts, reasons = context.verdicts()
        covered = self.ground.covered(rule)
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
        account = self.ground.account(deployment)
        key, fresh = (rule.name, deployment.key), self.ground.fresh(rule, deployment)
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
        alert = told.alert
        if told.reason != "recovered" or told.slot - alert.since < LEARNED or not alert.pins:
            return told
        then = self.ground.context(witness.rule, {alert.deployment.key: alert.pins})
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

    def _pins(self, rule: Rule) -> Pins:
        """By deployment key: what its episode is compared with, for the episode's first day."""
        live = (self.alerts.get((rule.name, d.key)) for d in self.case.frame.deployments)
        young = (alert for alert in live if alert and self.first - alert.since < LEARNED)
        return {alert.deployment.key: alert.pins for alert in young}

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
