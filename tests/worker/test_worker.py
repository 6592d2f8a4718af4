"""The functions in the real language worker library: what the host would see of them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from emulator.azurite import KEY, Azurite
from shared.model import iso, slot_of
from tests.pipeline.story import Scene, scene
from tests.worker.app import App, present, running, settings_of
from tests.worker.library import MISSING, is_installed

pytestmark = pytest.mark.skipif(not is_installed(), reason=MISSING)

PAST_DUE = {
    "Schedule": {"AdjustForDST": True},
    "ScheduleStatus": {
        "Last": "2026-12-01T00:54:00+00:00",
        "Next": "2026-12-01T00:55:00+00:00",
        "LastUpdated": "2026-12-01T00:54:00+00:00",
    },
    "IsPastDue": True,
}
UNMONITORED = {"Schedule": {"AdjustForDST": True}, "ScheduleStatus": None, "IsPastDue": False}
JUDGE = "/admin/functions/judge"


@pytest.fixture
def azure(tmp_path: Path) -> Iterator[Scene]:
    """An emulated Azure whose clock shows the present."""
    now = datetime.now(UTC)
    with scene(present(now), tmp_path) as one:
        one.server.clock.set(now)
        yield one


@pytest.fixture
def app(azure: Scene, emulated: Azurite, tmp_path: Path) -> Iterator[App]:
    """The app with state in a table of its own."""
    state = f"table:{emulated.connection_string}/t{secrets.token_hex(8)}"
    with running(tmp_path / "log", settings_of(azure, state)) as app:
        yield app


def test_the_worker_indexes_and_loads_three_functions(tmp_path: Path) -> None:
    """The library finds each function with its trigger, and none is tried again by the host."""
    with running(tmp_path / "log") as app:
        functions = app.get("/admin/functions/").json()
    found = {f["name"]: f["trigger"]["type"] for f in functions}
    assert found == {"judge": "timerTrigger", "changes": "httpTrigger", "health": "httpTrigger"}
    assert not any(function["retried"] for function in functions)


def test_a_late_and_a_doubled_timer_tell_once(app: App, azure: Scene) -> None:
    """A timer past due judges and posts the card; one without ScheduleStatus adds nothing."""
    late = app.post(JUDGE, json.dumps(PAST_DUE))
    assert late.status_code == 202, late.text
    again = app.post(JUDGE, json.dumps(UNMONITORED))
    assert again.status_code == 202, again.text
    assert ["ProvisionedThrottling" in card for card in azure.cards] == [True]
    health = app.get("/api/health")
    assert health.status_code == 200, health.text
    assert health.json()["open_messages"] == {"total": 0}


def test_nothing_secret_reaches_the_log(app: App) -> None:
    """At INFO, the level of the worker, there is neither a key nor a webhook nor the SDKs' chat."""
    app.post(JUDGE, json.dumps(UNMONITORED))
    app.get("/api/health")
    log = app.log.read_text(encoding="utf-8")
    assert "INFO tokenwatch: tick" in log
    assert KEY not in log
    assert "sig=emulated" not in log
    assert "azure.core" not in log


def test_health_before_the_first_tick_is_503(app: App) -> None:
    """Nothing was judged yet, and the answer of the function arrives with its status."""
    health = app.get("/api/health")
    assert health.status_code == 503
    assert health.json()["problems"] == ["nothing was judged yet"]
    assert health.headers["Content-Type"] == "application/json"
    assert health.headers["Cache-Control"] == "no-store"


def test_a_change_is_recorded_once(app: App) -> None:
    """The first request answers 201, the same again 200."""
    time = iso(slot_of(datetime.now(UTC)))
    change = {"kind": "capacity", "account": "story", "reference": "ticket 7", "time": time}
    first = app.post("/api/changes", json.dumps(change), Content_Type="application/json")
    said = {"kind": "capacity", "deployment": "story/*", "reference": "ticket 7", "time": time}
    assert (first.status_code, first.json()) == (201, {"recorded": True, **said})
    again = app.post("/api/changes", json.dumps(change), Content_Type="application/json")
    assert (again.status_code, again.json()) == (200, {"recorded": False, **said})


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"", "application/json", 400),
        (b"kind=capacity", "application/x-www-form-urlencoded", 415),
        (b" " * 9_000, "application/json; charset=utf-8", 413),
    ],
)
def test_a_bad_request_keeps_its_status(app: App, body: bytes, kind: str, status: int) -> None:
    """What the function refuses arrives as JSON with the status that it chose."""
    refused = app.post("/api/changes", body, Content_Type=kind)
    assert refused.status_code == status
    assert len(refused.json()["problems"]) == 1


def test_without_settings_the_functions_are_there_and_say_what_is_wrong(tmp_path: Path) -> None:
    """The timer fails with every missing setting; health is 503 without saying which."""
    with running(tmp_path / "log") as app:
        failed = app.post(JUDGE, json.dumps(UNMONITORED))
        health = app.get("/api/health")
    assert failed.status_code == 500
    for name in ("TOKENWATCH_ACCOUNTS", "TOKENWATCH_STATE", "TEAMS_WEBHOOK_DEFAULT"):
        assert name in failed.text
    assert health.status_code == 503
    assert "TOKENWATCH" not in health.text
