"""Slots of a frame -> verdicts, alerts, events. Pure; the one engine of live, catch-up and replay.

A span is judged with the same fits throughout: whoever calls makes the fits that are due at its
first slot and ends it before the next are due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from msgspec.structs import replace as but
from numpy.typing import NDArray

from shared.engine.baseline import Fits, applies
from shared.engine.evaluate import (
    Context,
    Reason,
    Setting,
    Verdict,
    key_of,
    offsets,
    reach,
    usable,
)
from shared.engine.evidence import Witness, event_of, farewell
from shared.engine.frame import Bools, Frame
from shared.engine.lifecycle import Ending, Told, end, step
from shared.engine.windows import Windows
from shared.model import (
    EPISODE_MEMORY,
    Account,
    Alert,
    Change,
    Deployment,
    Episode,
    Event,
    Fit,
    Known,
    Slot,
)
from shared.rulebook.catalogue import CACHE_WARMING, PROVISIONED_ONLY, is_cache, touches
from shared.rulebook.rules import Rule, Rulebook

LEAST_LEAD = 60
"""Minutes read before the first slot, at least: charts and a deployment's first sight need them."""

Tally = Mapping[str, Counter[str]]
"""By rule: how often each verdict came out, `unknown` by reason."""


@dataclass(frozen=True)
class Standing:
    """What is remembered of some deployments from slot to slot."""

    known: tuple[Known, ...] = ()
    alerts: tuple[Alert, ...] = ()
    episodes: tuple[Episode, ...] = ()
    fits: Fits = field(default_factory=dict)
    troubles: tuple[Alert, ...] = ()
    """The watchdog's own alerts, one an account at most."""

    def of(self, accounts: Collection[str]) -> Standing:
        """The part that is about some accounts."""
        return Standing(
            tuple(one for one in self.known if one.deployment.account in accounts),
            tuple(one for one in self.alerts if one.deployment.account in accounts),
            tuple(one for one in self.episodes if one.deployment.account in accounts),
            {key: fit for key, fit in self.fits.items() if fit.deployment.account in accounts},
            tuple(one for one in self.troubles if one.deployment.account in accounts),
        )

    def and_(self, other: Standing) -> Standing:
        """Both parts, of different accounts, together."""
        return Standing(
            self.known + other.known,
            self.alerts + other.alerts,
            self.episodes + other.episodes,
            {**self.fits, **other.fits},
            self.troubles + other.troubles,
        )


@dataclass(frozen=True)
class Judged:
    standing: Standing
    events: tuple[Event, ...] = ()
    tally: Tally = field(default_factory=dict)

    def then(self, later: Judged) -> Judged:
        """Both, one after the other."""
        tally = {name: Counter(counts) for name, counts in self.tally.items()}
        for name, counts in later.tally.items():
            tally[name] = tally.get(name, Counter()) + counts
        return Judged(later.standing, self.events + later.events, tally)


@dataclass(frozen=True)
class Case:
    """What is judged: the rules, the frame of some accounts, the changes, and earlier frames for
    `ago` by how many minutes earlier."""

    rulebook: Rulebook
    accounts: Mapping[str, Account]
    frame: Frame
    changes: tuple[Change, ...] = ()
    earlier: Mapping[int, Frame] = field(default_factory=dict)


def lead(rulebook: Rulebook) -> int:
    """Minutes that a frame must begin before its first slot, that slot included."""
    return max([LEAST_LEAD, *(reach(rule) for rule in rulebook.rules)])


def all_offsets(rulebook: Rulebook) -> set[int]:
    """Every distance that a rule looks back with ago(), in minutes."""
    return {minutes for rule in rulebook.rules for minutes in offsets(rule)}


def meet(frame: Frame, standing: Standing, first: Slot) -> Standing:
    """Notes the deployments of a frame that were not known, and the first sign of provisioning."""
    known = {one.deployment.key: one for one in standing.known}
    seen, provisioned = frame.seen(), _provisioned(frame)
    for n, deployment in enumerate(frame.deployments):
        before = known.get(deployment.key)
        if before is None and seen[n] < frame.steps:
            before = Known(deployment, max(first, frame.start + int(seen[n])))
        if before is not None and before.provisioned is None and provisioned[n] < frame.steps:
            before = but(before, provisioned=frame.start + int(provisioned[n]))
        if before is not None:
            known[deployment.key] = before
    return replace(standing, known=tuple(known[key] for key in sorted(known)))


def _provisioned(frame: Frame) -> NDArray[np.int64]:
    only = {c: v for c, v in frame.values.items() if c.metric in PROVISIONED_ONLY}
    return replace(frame, values=only).seen()


def retire(case: Case, standing: Standing, slot: Slot) -> Judged:
    """Ends the alerts of rules that are gone or no longer cover the deployment.

    Nothing counts as removed while any rule file is broken.
    """
    if case.rulebook.errors:
        return Judged(standing)
    rules = {rule.name: rule for rule in case.rulebook.rules}
    gone = []
    for alert in standing.alerts:
        rule, account = rules.get(alert.rule), case.accounts[alert.deployment.account]
        if rule is None or not rule.scope.matches(account, alert.deployment):
            gone.append(alert)
    return dismiss(standing, gone, slot, "rule removed", case.accounts)


def dismiss(
    standing: Standing,
    gone: Collection[Alert],
    slot: Slot,
    reason: Ending,
    accounts: Mapping[str, Account],
) -> Judged:
    """Ends some alerts for a reason of ours; those that were told are told to be over."""
    events = []
    for alert in gone:
        if told := end(alert, slot, reason)[1]:
            account = accounts.get(alert.deployment.account)
            events.append(farewell(told, account.region if account else ""))
    ended = {(alert.rule, alert.deployment.key, alert.since) for alert in gone}
    episodes = tuple(
        but(e, end=slot) if (e.rule, e.deployment.key, e.since) in ended else e
        for e in standing.episodes
    )
    kept = tuple(alert for alert in standing.alerts if alert not in gone)
    return Judged(replace(standing, alerts=kept, episodes=episodes), tuple(events))


def judge(case: Case, standing: Standing, first: Slot, last: Slot) -> Judged:
    """Judges the slots [first, last] with the fits of `standing`."""
    judged, cut = _Span(case, standing, first, last).judge()
    if cut >= last:
        return judged
    # An episode with fits of its own, or with a change that is too old for others, ended midway:
    # from the next slot on the current fits count.
    judged, _ = _Span(case, standing, first, cut).judge()
    return judged.then(judge(case, judged.standing, cut + 1, last))


class _Span:
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
        self.cut = last
        self.told: list[tuple[Told, Event]] = []

    def judge(self) -> tuple[Judged, Slot]:
        """The judgement, and the last slot up to which it holds."""
        tally = {rule.name: self._rule(rule) for rule in self.case.rulebook.rules}
        order = {rule.name: n for n, rule in enumerate(self.case.rulebook.rules)}
        self.told.sort(key=lambda pair: (pair[0].slot, order[pair[1].rule], pair[1].deployment))
        standing = replace(
            self.standing,
            alerts=tuple(self.alerts[key] for key in sorted(self.alerts)),
            episodes=self._episodes(),
        )
        return Judged(standing, tuple(event for _, event in self.told), tally), self.cut

    def _rule(self, rule: Rule) -> Counter[str]:
        context = Context(self.case.rulebook, rule, self.windows, self._setting(rule), self.earlier)
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
        key, fresh = (rule.name, deployment.key), self._fresh(rule, deployment)
        alert = self.alerts.pop(key, None)
        held = any(fit.kind == "before" for fit in alert.pins) if alert else False
        for row in np.flatnonzero(covered):
            slot, before = self.first + int(row), alert
            verdict = Verdict(verdicts[row])
            witness = Witness(context, int(row), column)
            value = witness.leading() if verdict == Verdict.BREACH else None
            alert, told = step(
                rule, alert, deployment, slot, verdict, Reason(reasons[row]), fresh, value
            )
            if told:
                region = self.case.accounts[deployment.account].region
                self.told.append((told, event_of(told, witness, region)))
            if before and alert is None and (before.pins != fresh or held):
                self.cut = min(self.cut, slot)
                break
        if alert:
            self.alerts[key] = alert

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

    def _setting(self, rule: Rule) -> Setting:
        deployments = self.case.frame.deployments
        pins: list[dict[str, Fit]] = []
        for deployment in deployments:
            alert = self.alerts.get((rule.name, deployment.key))
            pins.append({fit.key: fit for fit in alert.pins} if alert else {})
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

    def _episodes(self) -> tuple[Episode, ...]:
        episodes = {(e.rule, e.deployment.key, e.since): e for e in self.standing.episodes}
        for told, _ in self.told:
            alert = told.alert
            key = (alert.rule, alert.deployment.key, alert.since)
            if told.kind == "fired":
                episodes[key] = Episode(alert.rule, alert.deployment, alert.since)
            elif key in episodes:
                episodes[key] = but(episodes[key], end=told.slot)
        oldest = self.first - EPISODE_MEMORY
        return tuple(
            episodes[key]
            for key in sorted(episodes)
            if episodes[key].end is None or (episodes[key].end or 0) >= oldest
        )


def _count(verdicts: NDArray[np.int8], reasons: NDArray[np.int8]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for verdict in (Verdict.BREACH, Verdict.CLEAR, Verdict.BETWEEN):
        counts[verdict.name.lower()] = int((verdicts == verdict).sum())
    for reason in Reason:
        if reason is not Reason.NONE:
            counts[reason.words] = int((reasons == reason).sum())
    return counts


def left_out(
    rulebook: Rulebook, episodes: Sequence[Episode], deployment: Deployment, signal: str
) -> list[tuple[Slot, Slot]]:
    """Slots to leave out of a fit: the first day of each episode that the signal was in."""
    rules = {rule.name: rule for rule in rulebook.rules}
    ranges = []
    for episode in episodes:
        rule = rules.get(episode.rule)
        if episode.deployment.key != deployment.key or (rule and signal not in rule.signals):
            continue
        day_later = episode.since + 1440
        end = day_later if episode.end is None else min(episode.end, day_later)
        ranges.append((episode.since - (rule.longest if rule else 0), end))
    return ranges
