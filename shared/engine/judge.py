"""Slots of a frame -> verdicts, alerts, events. Pure; the one engine of live, catch-up and replay.

A span is judged with the same fits throughout: whoever calls makes the fits that are due at its
first slot and ends it before the next are due.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from msgspec.structs import replace as but
from numpy.typing import NDArray

from shared.engine.case import Case, Judged, Standing
from shared.engine.evidence import farewell
from shared.engine.frame import Frame
from shared.engine.lifecycle import Ending, end
from shared.engine.span import Span
from shared.model import LEARNED, Account, Alert, Deployment, Episode, Known, Slot
from shared.rulebook.catalogue import PROVISIONED_ONLY
from shared.rulebook.rules import Rulebook


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
        if told := end(alert, slot, reason):
            account = accounts.get(alert.deployment.account)
            events.append(farewell(told, account.region if account else ""))
    ended = {(alert.rule, alert.deployment.key, alert.since) for alert in gone}
    episodes = tuple(
        but(e, end=slot) if (e.rule, e.deployment.key, e.since) in ended else e
        for e in standing.episodes
    )
    kept = tuple(alert for alert in standing.alerts if alert not in gone)
    return Judged(replace(standing, alerts=kept, episodes=episodes), tuple(events))


def learned_at(standing: Standing, slot: Slot) -> Slot | None:
    """The next slot from which an episode is compared with what is normal by then."""
    turns = (alert.since + LEARNED for alert in standing.alerts if alert.pins)
    return min((turn for turn in turns if turn > slot), default=None)


def outgrown(case: Case, standing: Standing, slot: Slot) -> Judged:
    """Ends the episodes that compare with the time before a change a day after they began: what
    has stayed so long is how it is now."""
    old = [
        alert
        for alert in standing.alerts
        if slot - alert.since >= LEARNED and any(pin.kind == "before" for pin in alert.pins)
    ]
    return dismiss(standing, old, slot, "new normal", case.accounts)


def judge(case: Case, standing: Standing, first: Slot, last: Slot) -> Judged:
    """Judges the slots [first, last] with the fits of `standing`."""
    judged, cut = Span(case, standing, first, last).judge()
    if cut >= last:
        return judged
    # An episode with fits of its own, or with a change that is too old for others, ended midway:
    # from the next slot on the current fits count.
    judged, _ = Span(case, standing, first, cut).judge()
    return judged.then(judge(case, judged.standing, cut + 1, last))


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
        day_later = episode.since + LEARNED
        end = day_later if episode.end is None else min(episode.end, day_later)
        ranges.append((episode.since - (rule.longest if rule else 0), end))
    return ranges
