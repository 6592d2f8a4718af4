"""`tokenwatch silence` and `silences`: by hand, for some time, kept in the state."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from shared.model import Muted
from tests.cli.process import called
from tests.pipeline.story import START, recording, scene, told
from tests.pipeline.test_deciding import THROTTLED, slots, throttled


def muted(begin: int, end: int, *rules: str) -> Muted:
    return Muted("a1", "load test", "team", START + begin, START + end, rules)


WHO = ("--reason", "load test", "--owner", "ml-platform")


@pytest.fixture
def state(tmp_path: Path) -> str:
    """A state that a watchdog has begun."""
    with scene(recording(throttled(60, 30, 60)), tmp_path) as one:
        one.live([START + 20])
        return one.state


def test_a_silence_is_kept_listed_and_lifted(state: str) -> None:
    """It stands in the list with its reason until it is ended, and then as over."""
    made = called("silence", "--rule", "Latency*", "--deployment", "chat", "--state", state, *WHO)
    assert made.code == 0, made.err
    assert "Latency* on chat" in made.out
    (name,) = re.findall(r"--lift (\w+)", made.out)
    listed = called("silences", "--state", state)
    for part in ("active", "Latency* on chat", "load test", "ml-platform", name):
        assert part in listed.out
    assert called("silences", "--lift", name, "--state", state).code == 0
    again = called("silences", "--state", state)
    assert "over" in again.out
    assert "active" not in again.out
    assert called("silences", "--lift", name, "--state", state).code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--rule '*' is all"),
        (("--rule", "LatencyHihg"), "Did you mean LatencyHigh?"),
        (("--rule", "*", "--for", "soon"), "--for"),
        (("--rule", "*", "--for", "0"), "from 1m to 14 days"),
        (("--rule", "*", "--for", "30d"), "rules/silences.yaml"),
    ],
)
def test_what_cannot_be_meant_is_said(state: str, words: tuple[str, ...], said: str) -> None:
    """Nothing named, a rule that is not there, a time that is none: exit code 2 and the cure."""
    ended = called("silence", *words, "--state", state, *WHO)
    assert ended.code == 2
    assert said in ended.err


def test_a_silence_needs_a_reason(state: str) -> None:
    """Blanks are none."""
    ended = called("silence", "--rule", "*", "--reason", " ", "--owner", "x", "--state", state)
    assert (ended.code, "--reason is empty" in ended.err) == (2, True)


def test_what_is_silenced_by_hand_is_tracked_and_not_told(tmp_path: Path) -> None:
    """The running watchdog reads the silence with the next minute; afterwards it is told."""
    with scene(recording(throttled(60, 30, 60)), tmp_path) as one, one.watchdog() as watch:
        one.tick(watch, START + 25)
        watch.ledger.silence(muted(28, 40, "Provisioned*"))
        silent = [e for slot in slots(26, 40) for e in one.tick(watch, slot).events]
        (head,) = watch.ledger.heads()[0].values()
        later = [e for slot in slots(40, 42) for e in one.tick(watch, slot).events]
    assert [e for e in told(silent) if e[1].startswith("Provisioned")] == []
    alerts = {alert.rule: (alert.state, alert.muted) for alert in head.value.alerts}
    assert alerts["ProvisionedThrottling"] == ("firing", "silenced by team: load test")
    assert (*THROTTLED, 40) in told(later)
