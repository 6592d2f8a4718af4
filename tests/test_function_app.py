"""The Functions app: listed with an empty environment, one real tick, and its two endpoints."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from emulator.azurite import KEY, Azurite
from shared.endpoints.answer import Answer
from shared.endpoints.changes import MOST_BYTES, asked, recorded
from shared.endpoints.health import Watched, health
from shared.engine.trouble import FAILED_MINUTES, after_reading
from shared.model import SETTLE, Account, Change, Head, Message, iso, slot_of, time_of
from shared.state import open_store
from shared.state.ledger import Ledger
from tests.pipeline.story import ACCOUNT, START, Deployment, recording, scene

ROOT = Path(__file__).parents[1]
LIST = """
import json, function_app
functions = function_app.app.get_functions()
listed = {f.get_function_name(): f.get_trigger().get_dict_repr() for f in functions}
print(json.dumps(listed, default=str))
"""
THEN = """
import datetime, json, sys
import azure.functions as func
from azure.functions.timer import TimerRequest
import function_app
from shared import deployed

class Then(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(float(sys.argv[1]), tz)

deployed.datetime = Then  # only time is stood in for
called = {f.get_function_name(): f.get_user_function() for f in function_app.app.get_functions()}
"""
TICK = THEN + "called['judge'](TimerRequest(past_due=True))"
ASK = (
    THEN
    + """
for name, headers, body in json.loads(sys.argv[2]):
    url = "http://app/api/" + name
    answer = called[name](func.HttpRequest("POST", url, headers=headers, body=body.encode()))
    print(json.dumps([answer.status_code, answer.mimetype, answer.get_body().decode()]))
"""
)
NOW = time_of(START + 60)
JSON = {"Content-Type": "application/json"}
SECRET = "c2VjcmV0LXNpZ25hdHVyZQ"
WATCHED = Account(ACCOUNT.casefold(), "swedencentral")
OTHER = Account(WATCHED.id + "-two", "swedencentral")
GOOD = {"kind": "prompt_template", "deployment": "chat-*", "reference": "pull request 118"}


def run(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A process of its own, with nothing but this environment."""
    needed = {"PATH": os.environ["PATH"], **environment}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=needed, capture_output=True, text=True, timeout=60, check=False
    )


def test_the_functions_are_listed_with_an_empty_environment() -> None:
    """Importing the app needs no setting; otherwise the host would show no functions at all."""
    listed = run(LIST)
    assert listed.returncode == 0, listed.stderr
    assert set(json.loads(listed.stdout)) == {"judge", "changes", "health"}


def test_the_bindings_are_as_meant() -> None:
    """Changes take a key and a POST, health anybody's GET; the timer keeps no record."""
    listed = json.loads(run(LIST).stdout)
    changes, health, judge = listed["changes"], listed["health"], listed["judge"]
    assert (changes["route"], changes["methods"]) == ("changes", ["POST"])
    assert (health["route"], health["methods"]) == ("health", ["GET"])
    assert "FUNCTION" in changes["authLevel"].upper()
    assert "ANONYMOUS" in health["authLevel"].upper()
    assert judge["useMonitor"] is False


def test_the_host_leaves_a_thread_to_the_timer_and_tries_nothing_again() -> None:
    """Fewer requests at once than a worker on one core has threads (5), and no retry policy."""
    host = json.loads((ROOT / "host.json").read_text(encoding="utf-8"))
    assert host["extensions"]["http"]["maxConcurrentRequests"] < 5
    assert host["extensions"]["http"]["routePrefix"] == "api"
    assert host["functionTimeout"] == "00:02:00"
    assert "retry" not in host


def test_a_tick_without_settings_names_all_that_are_missing() -> None:
    """The invocation fails with every missing setting and what to put there."""
    failed = run(TICK, "1770000000")
    assert failed.returncode != 0
    for name in ("TOKENWATCH_ACCOUNTS", "TOKENWATCH_STATE", "TEAMS_WEBHOOK_DEFAULT"):
        assert name in failed.stderr


def test_one_tick_of_the_app_against_emulator_and_azurite(
    tmp_path: Path, emulated: Azurite
) -> None:
    """The timer's function judges a slot, commits it to Table Storage and posts the card."""
    full = Deployment(60).set("utilization", 104, 30).set("throttled", 3, 30)
    storage = emulated
    with scene(recording(full), tmp_path) as one:
        now = time_of(START + 30 + SETTLE + 1)
        one.server.clock.set(now)
        (account,) = one.source.accounts.values()
        done = run(
            TICK,
            str(now.timestamp()),
            AzureWebJobsStorage=storage.connection_string,
            TOKENWATCH_ACCOUNTS=f"{account.region}={account.id}",
            TOKENWATCH_METRICS_ENDPOINT=one.server.url + "/{region}",
            TOKENWATCH_RESOURCE_MANAGER=one.server.url,
            TEAMS_WEBHOOK_DEFAULT=one.server.webhook("default"),
        )
        assert done.returncode == 0, done.stderr
        store = open_store(f"table:{storage.connection_string}", pytest.fail)
        (head,) = Ledger(store).heads()[0].values()
        store.close()
        cards = one.cards
    assert set(head.value.watermarks.values()) == {START + 30}
    assert len(cards) == 1
    assert "ProvisionedThrottling" in cards[0]


def test_the_schedule_is_a_setting_with_an_example() -> None:
    """The timer follows TOKENWATCH_SCHEDULE, which the example sets to each minute."""
    example = json.loads((ROOT / "local.settings.json.example").read_text(encoding="utf-8"))
    assert example["Values"]["TOKENWATCH_SCHEDULE"] == "0 * * * * *"
    assert "%TOKENWATCH_SCHEDULE%" in (ROOT / "function_app.py").read_text(encoding="utf-8")
    assert msgspec.json.decode((ROOT / "host.json").read_bytes())["version"] == "2.0"


def refusal(body: object, content_type: str = "application/json", now: datetime = NOW) -> Answer:
    """The answer to what must be refused."""
    raw = body if isinstance(body, bytes) else msgspec.json.encode(body)
    answer = asked(content_type, raw, now)
    assert isinstance(answer, Answer)
    return answer


def problems(answer: Answer) -> list[str]:
    return cast(list[str], answer.body["problems"])


def test_a_change_is_read_as_it_was_sent() -> None:
    """Kind, glob and reference are taken over; without a time the change is now."""
    change = asked("Application/JSON; charset=utf-8", msgspec.json.encode(GOOD), NOW)
    slot = slot_of(NOW)
    assert change == Change("prompt_template", slot, "chat-*", "pull request 118", slot)


def test_an_account_stands_for_all_its_deployments() -> None:
    """`account` becomes the glob ACCOUNT/*."""
    sent = {"kind": "capacity", "account": "story", "reference": "more PTUs"}
    change = asked("application/json", msgspec.json.encode(sent), NOW)
    assert isinstance(change, Change)
    assert change.deployment == "story/*"


@pytest.mark.parametrize(
    ("time", "minutes"),
    [
        (iso(START), 60),
        ("2026-02-02T02:00:00+01:00", None),
        (iso(START + 61), -1),
        (iso(START + 60 - 93 * 24 * 60), 93 * 24 * 60),
    ],
)
def test_a_time_may_have_any_offset_within_93_days(time: str, minutes: int | None) -> None:
    """From 93 days back to a minute ahead, for clocks that differ."""
    change = asked("application/json", msgspec.json.encode({**GOOD, "time": time}), NOW)
    assert isinstance(change, Change)
    expected = slot_of(datetime.fromisoformat(time)) if minutes is None else START + 60 - minutes
    assert change.slot == expected


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"kind": "template"}, "kind is unknown"),
        ({"kind": 7}, "kind must be text"),
        ({"kind": None}, "kind must be text"),
        ({"reference": ""}, "reference must have 1 to 200 characters"),
        ({"reference": " \t "}, "reference must have 1 to 200 characters"),
        ({"reference": "x" * 201}, "reference must have 1 to 200 characters"),
        ({"reference": "one\ntwo"}, "reference must be one line"),
        ({"reference": "left\u202eright"}, "reference must be one line"),
        ({"reference": ["x"]}, "reference must be text"),
        ({"deployment": "a/b/c"}, "deployment must be a name or glob"),
        ({"deployment": "<script>"}, "deployment must be a name or glob"),
        ({"deployment": {}}, "deployment must be text"),
        ({"account": "story"}, "give one of deployment and account"),
        ({"time": "yesterday"}, "time must be ISO 8601"),
        ({"time": "2026-02-02T01:00:00"}, "time must be ISO 8601"),
        ({"time": 1770000000}, "time must be text"),
        ({"time": iso(START + 62)}, "time lies in the future"),
        ({"time": "9999-12-31T23:59:59-23:59"}, "time lies in the future"),
        ({"time": "0001-01-01T00:00:00+23:59"}, "time lies back further than 93 days"),
        ({"time": iso(START + 59 - 93 * 24 * 60)}, "time lies back further than 93 days"),
        ({"who": "me"}, "unknown field 'who'"),
    ],
)
def test_each_field_is_checked(change: Mapping[str, object], problem: str) -> None:
    """One wrong field is one problem, named first, and nothing is recorded."""
    answer = refusal({**GOOD, **change})
    assert answer.status == 400
    assert len(problems(answer)) == 1
    assert problems(answer)[0].startswith(problem)


def test_all_problems_are_named_at_once() -> None:
    """An answer lists every field that is wrong or missing, and the unknown ones cut short."""
    answer = refusal({"kind": "x", "account": "a b", "time": "?", "n" * 90: 1, "reference": 3})
    assert answer.status == 400
    assert [text.split(" ")[0] for text in problems(answer)] == [
        *("unknown", "kind", "account", "reference", "time")
    ]
    assert "n" * 31 not in str(answer.body)


def test_what_was_sent_is_not_repeated() -> None:
    """Values of a refused change stay out of the answer, and of unknown fields five are named."""
    many = {f"field-{n}": "value" for n in range(9)}
    answer = refusal({"kind": "<b>kind</b>", "deployment": "<i>", "reference": "r\0", **many})
    text = msgspec.json.encode(answer.body).decode()
    assert not [sent for sent in ("<b>", "<i>", "value", "\\u0000", "field-5") if sent in text]
    assert "and 4 more unknown fields" in problems(answer)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b'{"kind": "\\ud800"}', b"[" * 8_000, b"NaN", b"{'kind': 1}"],
)
def test_what_is_no_json_is_400(body: bytes) -> None:
    """Nothing that a parser can be fed brings down the function."""
    assert (refusal(body).status, problems(refusal(body))) == (400, ["the body is not valid JSON"])


@pytest.mark.parametrize("body", [[], "text", 7, None])
def test_json_that_is_no_object_is_400(body: object) -> None:
    """The body must be an object."""
    answer = refusal(body)
    assert (answer.status, problems(answer)) == (400, ["the body must be a JSON object"])


@pytest.mark.parametrize("kind", ["", "text/plain", "application/jsonp", "multipart/form-data"])
def test_another_content_type_is_415(kind: str) -> None:
    """Only application/json is read; what is too large as well is said at once."""
    assert refusal(GOOD, kind).status == 415
    both = refusal(b" " * (MOST_BYTES + 1), kind)
    assert (both.status, len(problems(both))) == (415, 2)


def test_a_body_above_8_kib_is_413() -> None:
    """8 KiB are taken, a byte more is not, whatever it says."""
    good = msgspec.json.encode(GOOD)
    assert isinstance(asked("application/json", good.ljust(MOST_BYTES), NOW), Change)
    assert refusal(good.ljust(MOST_BYTES + 1)).status == 413


def test_a_recorded_change_is_shown_with_whether_it_is_new() -> None:
    """201 for a new change, 200 for one that was there."""
    change = Change("capacity", START, "story/*", "more PTUs", START)
    assert (recorded(change, True).status, recorded(change, False).status) == (201, 200)
    assert recorded(change, False).body["recorded"] is False
    assert recorded(change, True).body["time"] == iso(START)


def watched(*ages: int, **more: Any) -> Watched:
    """Two accounts, the first of which were judged up to so many seconds before NOW."""
    accounts = (WATCHED, OTHER)
    ends = [slot_of(NOW) - age // 60 - 1 for age in ages]
    marks = dict(zip((account.id for account in accounts), ends, strict=False))
    head = Head(watermarks=marks, troubles=more.pop("troubles", ()))
    return Watched(accounts, {WATCHED.shard: head}, **more)


def shown(answer: Answer) -> dict[str, Any]:
    """The answer as a client reads it."""
    return cast(dict[str, Any], msgspec.json.decode(msgspec.json.encode(answer.body)))


@pytest.mark.parametrize(
    ("ages", "late", "status"),
    [
        ((180, 180), 0, 200),
        ((180, 600), 0, 200),
        ((180, 600), 1, 503),
        ((660, 660), 0, 503),
        ((180,), 0, 503),
        ((), 0, 503),
    ],
)
def test_health_is_the_age_of_the_oldest_account(
    ages: tuple[int, ...], late: int, status: int
) -> None:
    """At most ten minutes since the end of what was judged last, for every account."""
    answer = health(watched(*ages), NOW + timedelta(seconds=late))
    assert answer.status == status
    assert shown(answer)["healthy"] is (status == 200)
    assert shown(answer)["age_seconds"] == (max(ages) + late if ages else None)


def test_health_names_accounts_that_lag_or_fail() -> None:
    """Minutes behind the newest settled one, accounts never judged, and those failing."""
    alert = None
    for minute in range(FAILED_MINUTES):
        alert, _ = after_reading(alert, OTHER, START + minute, (SECRET,))
    assert alert
    body = shown(health(watched(180, 540, troubles=(alert,)), NOW))
    assert body["accounts"] == {
        "watched": 2,
        "never_judged": [],
        "behind_minutes": {"story-two": 6},
        "failing": ["story-two"],
    }
    assert SECRET not in str(body)
    assert shown(health(watched(180), NOW))["accounts"]["never_judged"] == ["story-two"]


def test_health_counts_open_messages_and_broken_rules() -> None:
    """What is not delivered, by state; the build of the rules and how many errors they have."""
    more: dict[str, Any] = {"messages": ("pending", "claimed", "pending"), "rule_errors": 2}
    body = shown(health(watched(180, 180, build=7, **more), NOW))
    assert body["open_messages"] == {"total": 3, "pending": 2, "claimed": 1}
    assert body["rules"] == {"build": 7, "errors": 2}


def settings(state: str) -> dict[str, str]:
    """App settings with a secret webhook."""
    return {
        "TOKENWATCH_STATE": state,
        "TOKENWATCH_ACCOUNTS": f"{WATCHED.region}={WATCHED.id}",
        "TEAMS_WEBHOOK_DEFAULT": f"http://127.0.0.1:9/teams/default?sig={SECRET}",
    }


def ask(environment: Mapping[str, str], *requests: tuple[str, object]) -> list[list[Any]]:
    """Status, type and body of the answers of one process; nothing it says holds a secret."""
    sent = [
        (name, JSON, body if isinstance(body, str) else json.dumps(body)) for name, body in requests
    ]
    done = run(ASK, str(NOW.timestamp()), json.dumps(sent), **environment)
    assert done.returncode == 0, done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert KEY not in done.stdout + done.stderr
    return [[*json.loads(line)[:2], json.loads(json.loads(line)[2])] for line in lines(done.stdout)]


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("[")]


@pytest.mark.parametrize("store", ["sqlite", "table"])
def test_a_change_is_in_the_state_once(store: str, tmp_path: Path, emulated: Azurite) -> None:
    """201, then 200 for the same, and bad ones leave nothing, over SQLite and Azurite alike."""
    state = f"sqlite:{tmp_path}/state.db"
    if store == "table":
        state = f"table:{emulated.connection_string}/t{secrets.token_hex(8)}"
    again = {**GOOD, "deployment": "CHAT-*"}
    bad = [("changes", {**GOOD, "kind": "x"}), ("changes", "{")]
    answers = ask(settings(state), ("changes", GOOD), ("changes", again), *bad)
    assert [answer[0] for answer in answers] == [201, 200, 400, 400]
    assert {answer[1] for answer in answers} == {"application/json"}
    opened = open_store(state, pytest.fail)
    slot = slot_of(NOW)
    assert Ledger(opened).changes() == (
        Change("prompt_template", slot, "chat-*", "pull request 118", slot),
    )
    opened.close()


def test_health_is_read_from_the_state(tmp_path: Path) -> None:
    """503 before anything was judged, 200 once it was, with the messages that are still open."""
    state = f"sqlite:{tmp_path}/state.db"
    assert ask(settings(state), ("health", ""))[0][0] == 503
    opened = open_store(state, pytest.fail)
    ledger = Ledger(opened)
    marks = {WATCHED.id: slot_of(NOW) - SETTLE - 1}
    ledger.commit(WATCHED.shard, None, Head(attempt="a", watermarks=marks), {})
    ledger.add_messages([Message("m", "default", ())])
    opened.close()
    status, kind, body = ask(settings(state), ("health", ""))[0]
    assert (status, kind) == (200, "application/json")
    assert (body["age_seconds"], body["open_messages"]) == (180, {"total": 1, "pending": 1})


def test_health_is_read_once_in_some_seconds(tmp_path: Path) -> None:
    """Whoever asks again at once gets the same answer, without a query of the state."""
    first, again = ask(settings(f"sqlite:{tmp_path}/state.db"), ("health", ""), ("health", ""))
    assert first == again


def test_state_out_of_reach_is_503_without_its_address() -> None:
    """Neither endpoint says where the state lies or what key opens it; the log says what to do."""
    gone = f"DefaultEndpointsProtocol=http;AccountName=a;AccountKey={KEY};"
    gone += "TableEndpoint=http://127.0.0.1:9/a;"
    answers = ask(settings(f"table:{gone}"), ("changes", GOOD), ("health", ""))
    assert [answer[0] for answer in answers] == [503, 503]
    text = "the state cannot be used now; the log of the app says why"
    assert [answer[2] for answer in answers] == [{"error": text}] * 2


def test_wrong_settings_are_503_without_their_names() -> None:
    """Endpoints say that the watchdog cannot start; which setting is wrong is for the log."""
    answers = ask({}, ("changes", GOOD), ("health", ""))
    text = "the watchdog cannot start; the log of the app says why"
    assert [(answer[0], answer[2]) for answer in answers] == [(503, {"error": text})] * 2


def test_a_head_that_cannot_be_read_is_an_account_that_nobody_judges(tmp_path: Path) -> None:
    """A damaged row does not pass for health, and its text is not shown."""
    state = f"sqlite:{tmp_path}/state.db"
    opened = open_store(state, pytest.fail)
    opened.insert("heads", WATCHED.shard, b"\x01damaged")
    opened.close()
    status, _, body = ask(settings(state), ("health", ""))[0]
    assert status == 503
    assert body["accounts"]["never_judged"] == ["story"]
