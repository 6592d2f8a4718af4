"""What is decided when data, timers and processes misbehave: the cases D and A of the field."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from emulator.recording import Recording
from shared.model import Slot
from shared.rulebook.ast import Compare, Parameter, Signal
from shared.rulebook.units import MS
from tests.pipeline.story import START, Deployment, recording, rule, rules_folder, scene, told

THROTTLED = ("fired", "ProvisionedThrottling")


def throttled(minutes: int, first: int, last: int) -> Deployment:
    """Full, with callers turned away, over the minutes [first, last)."""
    deployment = Deployment(minutes).set("utilization", 104, first, last)
    return deployment.set("throttled", 3, first, last)


def slots(first: int, last: int) -> range:
    return range(START + first, START + last)


def test_d01_a_firing_alert_without_points_stays_firing_and_says_so(tmp_path: Path) -> None:
    """Requests flow but the metric is silent for three hours: no resolve, marked `no data`."""
    deployment = Deployment(300).set("ttlt", 15_000, 60, 100)
    deployment.set("ttlt", np.nan, 100)
    with scene(recording(deployment), tmp_path) as one:
        events = [e for e in one.live(slots(50, 300)) if e.rule == "LatencyHigh"]
        with one.watchdog() as watch:
            heads, _ = watch.ledger.heads()
    assert [event.kind for event in events] == ["fired"]
    (head,) = heads.values()
    marks = {alert.rule: (alert.state, alert.mark) for alert in head.value.alerts}
    assert marks["LatencyHigh"] == ("firing", "no data")


def test_an_alert_of_a_deployment_that_nobody_calls_ends_as_no_traffic(tmp_path: Path) -> None:
    """Two hours without a call end an alert, and the event says that this was why."""
    deployment = Deployment(260).set("ttlt", 15_000, 20, 80)
    deployment.silent(80)
    with scene(recording(deployment), tmp_path) as one:
        events = [e for e in one.live(slots(10, 260)) if e.rule == "LatencyHigh"]
    assert [(event.kind, event.reason) for event in events] == [
        ("fired", ""),
        ("resolved", "no traffic"),
    ]
    assert events[1].slot - START >= 80 + 120


@pytest.mark.parametrize(("kept", "reason"), [(True, "no traffic"), (False, "vanished")])
def test_d02_one_deployment_vanishes_while_others_report(
    tmp_path: Path, kept: bool, reason: str
) -> None:
    """Two hours after its last call the alert ends; Resource Manager tells whether it is gone."""
    gone = Deployment(260, "gone").set("ttlt", 15_000, 20, 80).silent(80)
    source = recording(gone, Deployment(260, "chat"))
    with scene(source, tmp_path) as one:
        events = one.live(slots(10, 150))
        if not kept:
            one.server.emulator.deleted.add("gone")
        events += one.live(slots(150, 260))
    ended = [e.reason for e in events if e.rule == "LatencyHigh" and e.kind == "resolved"]
    assert ended == [reason]


def test_d05_a_restart_exactly_at_a_slot_loses_nothing(tmp_path: Path) -> None:
    """A process that starts at the very minute of the breach finds it by its own watermark."""
    with scene(recording(throttled(60, 30, 33)), tmp_path) as one:
        one.live([START + 29])
        events = one.live([START + 30])
    assert (*THROTTLED, 30) in told(events)


def test_d07_one_request_that_fails_is_below_the_minimum_traffic(tmp_path: Path) -> None:
    """A success rate of 0 % of one request tells nobody anything."""
    deployment = Deployment(90).set("ok", np.nan).set("failed", np.nan)
    deployment.columns["failed"][45] = 1
    with scene(recording(deployment), tmp_path) as one:
        assert one.live(slots(20, 90)) == []


def test_d08_a_restart_while_firing_sends_the_resolve(tmp_path: Path) -> None:
    """An alert that fired before the restart is still firing after it, and its end is told."""
    with scene(recording(throttled(90, 30, 36)), tmp_path) as one:
        first = one.live(slots(20, 34))
        second = one.live(slots(34, 80))
        cards = one.cards
    assert (*THROTTLED, 30) in told(first)
    assert [e for e in told(second) if e[1] == "ProvisionedThrottling"] == [
        ("resolved", "ProvisionedThrottling", 46)
    ]
    assert sum("ProvisionedThrottling" in card for card in cards) == 2


def test_d09_late_data_does_not_judge_a_minute_again(tmp_path: Path) -> None:
    """The minute that fired turns out clear later: nothing is taken back or resolved by it."""
    source = recording(throttled(60, 30, 31))
    with scene(source, tmp_path) as one, one.watchdog() as watch:
        before = [e for s in slots(20, 31) for e in one.tick(watch, s).events]
        _rewrite(source, "AzureOpenAIProvisionedManagedUtilizationV2", START + 30, 40.0)
        after = [e for s in slots(31, 38) for e in one.tick(watch, s).events]
        (head,) = watch.ledger.heads()[0].values()
    assert told(before) == [(*THROTTLED, 30)]
    assert after == []
    assert [alert.state for alert in head.value.alerts] == ["firing"]


def _rewrite(source: Recording, metric: str, slot: Slot, value: float) -> None:
    """What Azure Monitor does when a late point arrives."""
    for tracks in source.tracks.values():
        for track in tracks:
            for component, values in track.columns.items():
                if component.metric == metric:
                    values[slot - track.begin] = value


def test_d11_minutes_without_data_do_not_shorten_the_wait(tmp_path: Path) -> None:
    """`for: 10m` counts known minutes: a gap of eight in the middle makes the alert eight later."""
    rules = rules_folder(tmp_path, rule("Slow", "ttlt > 10s", over="1m", for_="10m"))
    gap = Deployment(60).set("ttlt", 15_000, 10, 60)
    gap.columns["ttlt"][14:22] = np.nan
    with scene(recording(gap), tmp_path, rules=rules) as one:
        assert told(one.live(slots(5, 40))) == [("fired", "Slow", 28)]


def test_d15_a_restart_makes_no_second_card(tmp_path: Path) -> None:
    """Starting again and again during an episode tells it once."""
    with scene(recording(throttled(60, 30, 50)), tmp_path) as one:
        for slot in slots(28, 45):
            one.live([slot])
        cards = one.cards
    assert sum("ProvisionedThrottling" in card for card in cards) == 1


def test_a08_the_newest_minutes_are_not_judged_before_they_settle(tmp_path: Path) -> None:
    """Partial and missing newest minutes never look like a drop of traffic."""
    drop = rule("TrafficDropped", "requests < 9", over="1m", for_="0")
    rules = rules_folder(tmp_path, drop)
    with scene(recording(Deployment(90)), tmp_path, rules=rules) as one:
        assert one.live(slots(20, 80)) == []


def test_a10_idle_minutes_are_idle_and_no_failure(tmp_path: Path) -> None:
    """Zero requests are `idle`, not a success rate of 0."""
    deployment = Deployment(120).set("ok", 0, 40, 100).set("ttlt", np.nan, 40, 100)
    with scene(recording(deployment), tmp_path) as one, one.watchdog() as watch:
        reports = [one.tick(watch, slot) for slot in slots(35, 100)]
    assert [event for report in reports for event in report.events] == []
    last = reports[-1].tally
    assert last["SuccessRateLow"]["idle"] == 1
    assert last["LatencyHigh"]["idle"] == 1


def test_a11_twelve_deployments_of_an_account_are_all_seen(tmp_path: Path) -> None:
    """More deployments than Azure's default of ten series are judged, every one."""
    many = [Deployment(40, name=f"chat-{n:02d}") for n in range(12)]
    many[11].set("utilization", 104, 30).set("throttled", 2, 30)
    with scene(recording(*many), tmp_path) as one:
        events = one.live(slots(25, 33))
        with one.watchdog() as watch:
            (head,) = watch.ledger.heads()[0].values()
    assert len(head.value.known) == 12
    assert {event.deployment.name for event in events} == {"chat-11"}


def test_a13_provisioned_metrics_do_not_apply_to_pay_as_you_go(tmp_path: Path) -> None:
    """Without a point of utilization the capacity rules are `not applicable`, not at 0 %."""
    deployment = Deployment(60).set("utilization", np.nan).set("cache", np.nan)
    with scene(recording(deployment), tmp_path) as one, one.watchdog() as watch:
        for slot in slots(40, 44):
            tally = one.tick(watch, slot).tally
    assert tally["ProvisionedCapacityUsedUp"]["not applicable"] == 1
    assert tally["LatencyHigh"]["clear"] == 1


def test_a27_an_empty_last_bucket_is_no_anomaly(tmp_path: Path) -> None:
    """The recording ends: minutes without any point do not fire what falls below a threshold."""
    rules = rules_folder(tmp_path, rule("TrafficDropped", "requests < 5", over="1m", for_="0"))
    with scene(recording(Deployment(40)), tmp_path, rules=rules) as one:
        assert one.live(slots(30, 60)) == []


def test_slots_too_far_back_are_named_and_not_judged(tmp_path: Path) -> None:
    """After eight hours away six are judged, one notice says which were not, firing alerts hold."""
    deployment = throttled(600, 30, 100)
    with scene(recording(deployment), tmp_path) as one:
        one.live(slots(25, 40))
        events = one.live([START + 40 + 480])
        cards = one.cards
    notices = [event for event in events if event.kind == "notice"]
    assert len(notices) == 1
    assert "2026" in notices[0].summary
    resolved = {event.rule for event in events if event.kind == "resolved"}
    assert resolved == {"ProvisionedThrottling", "ProvisionedCapacityUsedUp", "SuccessRateLow"}
    assert sum("Unjudged" in card for card in cards) == 1


def test_an_account_that_is_no_longer_watched_takes_its_alerts_with_it(tmp_path: Path) -> None:
    """Taken out of the settings, a firing account is told to be over and forgotten."""
    other = Deployment(90, account=throttled(1, 0, 1).account.replace("/story", "/other"))
    with scene(recording(throttled(90, 30, 80), other), tmp_path) as one:
        one.live(slots(25, 40))
        left = f"swedencentral={other.account}"
        with one.watchdog(TOKENWATCH_ACCOUNTS=left) as watch:
            events = [e for s in slots(40, 42) for e in one.tick(watch, s).events]
            (head,) = watch.ledger.heads()[0].values()
    assert {(event.kind, event.reason) for event in events} == {("resolved", "no longer watched")}
    assert head.value.alerts == ()
    assert list(head.value.watermarks) == [other.account.casefold()]


def test_d17_a_rule_with_a_defect_is_named_once_and_the_others_are_judged(tmp_path: Path) -> None:
    """One rule raises at every minute: the others fire on time, and one notice names it."""
    with scene(recording(throttled(60, 30, 60)), tmp_path) as one, one.watchdog() as watch:
        broken = Compare(">", Signal("ttlt"), Parameter("limit", MS))
        rules = tuple(
            replace(r, when=broken, parameters={}) if r.name == "LatencyHigh" else r
            for r in watch.rulebook.rules
        )
        watch.rulebook = replace(watch.rulebook, rules=rules)
        reports = [one.tick(watch, slot) for slot in slots(28, 36)]
        cards = one.cards
    assert (*THROTTLED, 30) in told(event for report in reports for event in report.events)
    assert all("rule LatencyHigh fails" in report.troubles[0] for report in reports)
    assert sum("RuleFailing" in card and "LatencyHigh" in card for card in cards) == 1
