"""The Functions app: listed with an empty environment, and one real tick of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from emulator.azurite import Azurite
from shared.model import SETTLE, time_of
from shared.state import open_store
from shared.state.ledger import Ledger
from tests.pipeline.story import START, Deployment, recording, scene

ROOT = Path(__file__).parents[1]
LIST = """
import json, function_app
functions = function_app.app.get_functions()
print(json.dumps([[f.get_function_name(), f.get_trigger().type] for f in functions]))
"""
TICK = """
import datetime, sys
from azure.functions.timer import TimerRequest
import function_app
from shared import deployed

class Then(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(float(sys.argv[1]), tz)

deployed.datetime = Then  # only time is stood in for
(judge,) = [f for f in function_app.app.get_functions() if f.get_function_name() == "judge"]
judge.get_user_function()(TimerRequest(past_due=True))
"""


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
    assert json.loads(listed.stdout) == [["judge", "timerTrigger"]]


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
