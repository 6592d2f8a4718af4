"""Trouble on the way: a clear word that says what to do, nothing lost, nothing else harmed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import requests
from requests.adapters import HTTPAdapter

from emulator.faults import ErrorCode, Fault, Status
from emulator.webhook import Answer
from shared.model import HOLD
from shared.pipeline import Watch
from shared.settings import SettingsError, read_settings
from shared.teams.address import check_url
from shared.teams.sessions import Sessions
from tests.pipeline.story import START, Deployment, recording, rule, rules_folder, scene, told
from tests.pipeline.test_deciding import slots, throttled

HOURS = 3 * 60


def test_a06_throttled_inside_a_200_holds_the_account(tmp_path: Path) -> None:
    """`Throttled` for five minutes: nothing is judged meanwhile, all of it is judged afterwards."""
    with scene(recording(throttled(90, 30, 36)), tmp_path) as one, one.watchdog() as watch:
        quiet = [one.tick(watch, slot) for slot in slots(20, 29)]
        one.server.faults.set(Fault(effect=ErrorCode(code="Throttled")))
        held = [one.tick(watch, slot) for slot in slots(29, 34)]
        one.server.faults.set()
        after = one.tick(watch, START + 34)
    assert not any(report.slots for report in held)
    assert any("Throttled" in failure for report in held for failure in report.failures)
    assert (("fired", "ProvisionedThrottling", 30)) in told(after.events)
    assert after.slots == 6
    assert not quiet[-1].failures


def test_a06_after_ten_minutes_the_slots_are_judged_as_query_failed(tmp_path: Path) -> None:
    """An account is not held for ever: state stays as it was and the verdicts say why."""
    source = recording(throttled(HOURS, 30, 60))
    with scene(source, tmp_path) as one, one.watchdog() as watch:
        fired = [e for s in slots(20, 40) for e in one.tick(watch, s).events]
        one.server.faults.set(Fault(effect=ErrorCode(code="Throttled")))
        reports = [one.tick(watch, slot) for slot in slots(40, 60)]
        (head,) = watch.ledger.heads()[0].values()
    assert ("fired", "ProvisionedThrottling", 30) in told(fired)
    events = [event for report in reports for event in report.events]
    assert told(events) == [("fired", "MonitorQueryFailing", 42)]
    assert set(head.value.watermarks.values()) == {START + 59 - HOLD}
    assert reports[-1].tally["ProvisionedThrottling"]["query failed"] == 1
    assert {alert.state for alert in head.value.alerts} == {"firing"}


def test_a06_a_permanent_error_code_costs_only_the_rules_that_need_the_metric(
    tmp_path: Path,
) -> None:
    """`Sampling type is not found` of one metric: judged at once, as query failed for its rules."""
    with scene(recording(throttled(60, 30, 40)), tmp_path) as one, one.watchdog() as watch:
        fault = Fault(effect=ErrorCode(code="Sampling type is not found"), metric="*TTLT*")
        one.server.faults.set(fault)
        reports = [one.tick(watch, slot) for slot in slots(25, 32)]
    assert told(reports[5].events) == [("fired", "ProvisionedThrottling", 30)]
    assert reports[-1].tally["LatencyHigh"]["query failed"] == 1
    assert any("Sampling type" in failure for failure in reports[-1].failures)


def test_a22_an_unknown_metric_costs_only_the_rules_that_use_it(tmp_path: Path) -> None:
    """Azure refuses a whole query for one name: it is divided until only that name fails."""
    signals = (
        "  availability:\n    {metric: AzureOpenAIAvailabilityRate, aggregation: average, "
        'unit: "%"}\n'
    )
    rules = rules_folder(
        tmp_path,
        rule("Unavailable", "availability < 90%"),
        rule("Full", "utilization >= 100%", over="1m", for_="0"),
        signals=signals,
    )
    story = recording(throttled(60, 30, 40))
    with scene(story, tmp_path, rules=rules) as one, one.watchdog() as watch:
        refused = Fault(effect=Status(status=400), metric="AzureOpenAIAvailabilityRate")
        one.server.faults.set(refused)
        reports = [one.tick(watch, slot) for slot in slots(25, 32)]
    assert told(reports[5].events) == [("fired", "Full", 30)]
    assert reports[-1].tally["Unavailable"]["query failed"] == 1
    assert any("AzureOpenAIAvailabilityRate" in failure for failure in reports[-1].failures)


def test_a_broken_rule_file_costs_its_own_rules_and_is_told_once(tmp_path: Path) -> None:
    """The other rules are judged on time; the channel hears of the broken file once."""
    rules = rules_folder(tmp_path, rule("Full", "utilization >= 100%", over="1m", for_="0"))
    (rules / "broken.yaml").write_text("rules:\n  - name: [Oops\n", encoding="utf-8")
    with scene(recording(throttled(60, 30, 40)), tmp_path, rules=rules) as one:
        events = one.live(slots(28, 33))
        one.live(slots(33, 36))
        cards = one.cards
    assert told(events) == [("fired", "Full", 30)]
    assert sum("RulesBroken" in card for card in cards) == 1
    assert any(b"rules/broken.yaml:" in bytes(post.body) for post in one.server.inbox.posts)


def test_no_alert_counts_as_removed_while_a_file_is_broken(tmp_path: Path) -> None:
    """A typing error in the file of a firing rule does not end its alert."""
    full = rule("Full", "utilization >= 100%", over="1m", for_="0")
    rules = rules_folder(tmp_path, full, rule("Other", "requests > 1000"))
    with scene(recording(throttled(90, 30, 40)), tmp_path, rules=rules) as one:
        one.live(slots(28, 33))
        (rules / "rules-0.yaml").write_text("rules: [", encoding="utf-8")
        assert [e for e in one.live(slots(33, 80)) if e.kind == "resolved"] == []
        (rules / "rules-0.yaml").unlink()
        ended = one.live(slots(80, 82))
    assert [(event.kind, event.reason) for event in ended] == [("resolved", "rule removed")]


def test_an_unreachable_monitor_is_named_with_its_cure_and_nothing_is_lost(tmp_path: Path) -> None:
    """While no connection opens the account is held; afterwards every slot is judged."""
    nowhere = {"TOKENWATCH_METRICS_ENDPOINT": "http://127.0.0.1:9/{region}"}
    with scene(recording(throttled(60, 30, 33)), tmp_path) as one:
        one.live(slots(25, 29))
        with one.watchdog(**nowhere) as watch:
            report = one.tick(watch, START + 31)
        events = one.live([START + 34])
    assert any("cannot be reached" in failure for failure in report.failures)
    assert any("check the region" in failure for failure in report.failures)
    assert (("fired", "ProvisionedThrottling", 30)) in told(events)


def test_a_webhook_that_is_gone_keeps_the_message_and_says_what_to_do(tmp_path: Path) -> None:
    """404 from Power Automate: no retry, the reason is kept with the message, no secret in it."""
    with scene(recording(throttled(60, 30, 33)), tmp_path) as one, one.watchdog() as watch:
        gone = Answer(404, '{"error":{"code":"WorkflowNotFound","message":"gone"}}')
        one.server.inbox.always("default", gone)
        reports = [one.tick(watch, slot) for slot in slots(29, 33)]
        posted = len(one.server.inbox.posts)
        later = [one.tick(watch, slot) for slot in slots(33, 36)]
    failed = [message for report in reports for message in report.messages]
    assert {message.state for message in failed} == {"failed"}
    assert "emulated" not in failed[0].error
    assert "make it again" in failed[0].error
    assert posted == len(failed)
    assert all(message.attempts == 1 for report in later for message in report.messages)


def test_missing_and_wrong_settings_are_all_named_at_once() -> None:
    """An empty environment and a bad one each give every problem, with a cure and no secret."""
    with pytest.raises(SettingsError) as empty:
        read_settings({}, check_url)
    assert [line.split()[0] for line in empty.value.problems] == [
        "TOKENWATCH_ACCOUNTS",
        "TOKENWATCH_STATE",
        "TEAMS_WEBHOOK_DEFAULT",
    ]
    with pytest.raises(SettingsError) as wrong:
        read_settings(
            {
                "TOKENWATCH_ACCOUNTS": "eastus:/subscriptions/x",
                "TOKENWATCH_STATE": "sqlite:a.db",
                "TOKENWATCH_METRICS_ENDPOINT": "http://example.com",
                "TEAMS_WEBHOOK_DEFAULT": "https://example.com/hook?sig=SECRET",
                "TOKENWATCH_BUILD": "seven",
            },
            check_url,
        )
    assert len(wrong.value.problems) == 4
    assert "SECRET" not in str(wrong.value)


def test_a_corrupt_head_stops_its_shard_alone_and_is_left_as_it_is(tmp_path: Path) -> None:
    """Two regions, one head destroyed: the other is judged, the message names the row."""
    other = throttled(60, 30, 40)
    other.account = other.account.replace("accounts/story", "accounts/other").replace("09/", "08/")
    with scene(recording(throttled(60, 30, 40), other), tmp_path) as one:
        one.live(slots(25, 28))
        with closing(sqlite3.connect(tmp_path / "state.db")) as database:
            _spoil_head(database)
        with one.watchdog() as watch:
            reports = [one.tick(watch, slot) for slot in slots(28, 33)]
    assert len({e.deployment.account for r in reports for e in r.events}) == 1
    assert all("cannot be read" in report.troubles[0] for report in reports)
    with closing(sqlite3.connect(tmp_path / "state.db")) as database:
        assert _spoiled(database) == 1


def _spoil_head(database: sqlite3.Connection) -> None:
    (table,) = database.execute("select name from sqlite_master where type='table'").fetchone()
    key = database.execute(f"select min(key) from {table} where partition='heads'").fetchone()[0]
    database.execute(f"update {table} set value=x'ff00' where partition='heads' and key=?", (key,))
    database.commit()


def _spoiled(database: sqlite3.Connection) -> int:
    (table,) = database.execute("select name from sqlite_master where type='table'").fetchone()
    row = database.execute(f"select count(*) from {table} where value=x'ff00'").fetchone()
    return int(row[0])


class Dying(HTTPAdapter):
    """The process dies in the middle of a POST, before anything arrives."""

    def send(self, *args: object, **options: object) -> requests.Response:
        raise KeyboardInterrupt


def dying(watch: Watch) -> Watch:
    def doomed() -> requests.Session:
        session = requests.Session()
        session.mount("http://", Dying())
        return session

    watch.sessions = Sessions(doomed)
    return watch


def test_t22_a_crash_between_storing_and_sending_loses_no_card(tmp_path: Path) -> None:
    """The resolve was stored when the process died: a later process sends it, once."""
    with scene(recording(throttled(90, 30, 36)), tmp_path) as one:
        one.live(slots(25, 46))
        before = len(one.cards)
        with one.watchdog() as watch, pytest.raises(KeyboardInterrupt):
            one.tick(dying(watch), START + 46)
        assert len(one.cards) == before
        one.live(slots(47, 56))
        ends = [card for card in one.cards if "Resolved" in card and "Throttling" in card]
    assert len(ends) == 1


def test_an_account_that_cannot_be_read_raises_an_alert_and_ends_it(tmp_path: Path) -> None:
    """Three failed minutes in a row are told with what Azure said, and so is their end, once."""
    with scene(recording(Deployment(90)), tmp_path) as one, one.watchdog() as watch:
        one.tick(watch, START + 20)
        one.server.faults.set(Fault(effect=Status(status=401)))
        failing = [e for s in slots(21, 30) for e in one.tick(watch, s).events]
        one.server.faults.set()
        ended = [e for s in slots(30, 35) for e in one.tick(watch, s).events]
        cards = [card for card in one.cards if "MonitorQueryFailing" in card]
    assert told(failing) == [("fired", "MonitorQueryFailing", 23)]
    assert "Monitoring Reader" in failing[0].summary
    assert told(ended) == [("resolved", "MonitorQueryFailing", 30)]
    assert len(cards) == 2


def test_two_failed_minutes_are_nobodys_business(tmp_path: Path) -> None:
    """A short spell of throttling is not told, doubled timers included."""
    with scene(recording(Deployment(90)), tmp_path) as one, one.watchdog() as watch:
        one.tick(watch, START + 20)
        one.server.faults.set(Fault(effect=Status(status=529)))
        for slot in (START + 21, START + 21, START + 22, START + 22):
            assert one.tick(watch, slot).events == ()
        one.server.faults.set()
        report = one.tick(watch, START + 23)
    assert report.events == ()
    assert report.slots == 3


AWKWARD = "it's (gpt) [4o] a/b#?%41 ünï-\u202eπ\u202c 🐈"


def test_awkward_names_pass_through_filters_keys_and_cards(tmp_path: Path, table_url: str) -> None:
    """Quotes, brackets, slashes and other scripts: queried by name, stored, fired, shown as is."""
    full = throttled(400, 360, 400)
    full.name = AWKWARD
    with scene(recording(full), tmp_path, state=table_url) as one:
        events = one.live(slots(355, 365))
        with one.watchdog() as watch:
            (head,) = watch.ledger.heads()[0].values()
            fits = watch.ledger.fits(
                "00000000-0000-0000-0000-000000000009.swedencentral", head.value.fits.values()
            )
        bodies = [bytes(post.body).decode() for post in one.server.inbox.posts]
    assert {event.deployment.name for event in events} == {AWKWARD}
    assert fits[0].deployment.name == AWKWARD
    assert fits[0].samples > 10
    assert len(bodies) == len(events)


def test_t21_a_channel_that_is_switched_off_is_told_in_the_other_and_stays_visible(
    tmp_path: Path,
) -> None:
    """400 WorkflowTriggerIsNotEnabled: no retry; the other channel gets the alert and, once, the
    news that this one is down; the undelivered card stays among the open messages."""
    with scene(recording(throttled(60, 30, 33)), tmp_path) as one:
        one.server.inbox.always(
            "default", Answer(400, '{"error":{"code":"WorkflowTriggerIsNotEnabled"}}')
        )
        with one.watchdog(TEAMS_WEBHOOK_OPS=one.server.webhook("ops")) as watch:
            for slot in slots(29, 40):
                one.tick(watch, slot)
            open_states = {m.value.state for m in watch.ledger.open_messages()}
        refused = [bytes(post.body) for post in one.server.inbox.of("default")]
        cards = one.cards
    assert len(refused) == len(set(refused))
    assert sum("firing · ProvisionedThrottling" in card for card in cards) == 1
    assert sum("from the watchdog itself · ChannelDown" in card for card in cards) == 1
    assert open_states == {"failed"}
