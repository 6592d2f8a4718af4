"""What a tick writes to the log, for people and for log queries."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from emulator.faults import Fault, Status
from tests.pipeline.story import START, recording, scene
from tests.pipeline.test_deciding import throttled


def test_a_tick_is_one_structured_line(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Slots, deployments, queries, verdicts, events, messages and time, as JSON after a word."""
    caplog.set_level(logging.INFO, logger="tokenwatch")
    with scene(recording(throttled(60, 30, 40)), tmp_path) as one, one.watchdog() as watch:
        one.tick(watch, START + 30)
    (line,) = [r.getMessage() for r in caplog.records if r.getMessage().startswith("tick ")]
    told = json.loads(line.removeprefix("tick "))
    assert told["slots"] == 1
    assert told["deployments"] == 1
    assert told["events"] == told["messages"] == 1
    assert told["verdicts"]["breach"] >= 1
    assert told["seconds"] > 0
    assert any(
        "fired ProvisionedThrottling on story/chat" in r.getMessage() for r in caplog.records
    )


def test_every_warning_names_account_and_rules(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A query that fails is logged with the account, the metric and the rules that are blind."""
    with scene(recording(throttled(60, 30, 40)), tmp_path) as one, one.watchdog() as watch:
        one.server.faults.set(Fault(effect=Status(status=400), metric="*TTLT*"))
        one.tick(watch, START + 30)
    warnings = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert any("for story" in line and "correlation id" in line for line in warnings)
    (failed,) = [line for line in warnings if line.startswith("query failed")]
    assert "story: AzureOpenAITTLTInMS" in failed
    assert "TTLTRisingWithoutTokens" in failed
    assert "ProvisionedThrottling" not in failed
