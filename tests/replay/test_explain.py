"""`tokenwatch explain`: every part of a rule with its value, from a recording or from Azure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from cli.commands import app
from emulator.app import create_app
from emulator.server import serve
from replay.explain import Explained, explain
from replay.past import Past
from shared.model import Change, Slot
from shared.rulebook.rules import Rulebook
from shared.rulebook.silences import Silence
from tests.engine.build import ACCOUNT, CHAT, START, minutes, one_rule, shipped
from tests.pipeline import story

STEPS = 600
RECORDING = Path(__file__).parents[2] / "emulator/data/provisioned-deployment-24h.recording.csv"


def past(**columns: object) -> Past:
    found = minutes(STEPS, **{"ok": 9, "tokens": 900, "ttlt": 1000.0, **columns})  # type: ignore[arg-type]
    return Past.of(START, found, shipped().needed)


def looked(book: Rulebook, name: str, at: Slot, data: Past, *changes: Change) -> Explained:
    rule = next(rule for rule in book.rules if rule.name == name)
    return explain(book, ACCOUNT, data, rule, START + 120, START + at, changes)


def slow(first: int) -> np.ndarray:
    ttlt = np.full(STEPS, 1000.0)
    ttlt[first:] = 2500.0
    return ttlt


def test_every_part_of_the_condition_has_its_value() -> None:
    """The line's expectation, the deviation, and the signals below, as the engine judged them."""
    found = looked(shipped(), "TTLTRisingWithoutTokens", 420, past(ttlt=slow(400)))
    values = {line.text: line.value for line in found.when}
    assert (found.verdict, found.window) == ("breach", 10)
    assert values["and"] == values["ttlt > 1.3 * baseline(ttlt given tokens_per_answer)"] == "true"
    assert values["ttlt"] == "2.5 s"
    assert values["baseline(ttlt given tokens_per_answer)"] == "1 s"
    assert values["tokens_per_answer"] == "100 tokens per request"
    assert [line.value for line in found.needs] == ["true", "90 requests"]
    (curve,) = {line.points for line in found.when if line.text == "ttlt"}
    assert curve == (2500.0,) * 10


def test_the_state_before_and_after_is_that_of_the_replay() -> None:
    """A minute in which an alert begins, and the one in which it fires."""
    data = past(ttlt=slow(400))
    rule = "TTLTRisingWithoutTokens"
    states = []
    for at in range(400, 420):
        found = looked(shipped(), rule, at, data)
        states.append((found.before and found.before.state, found.after and found.after.state))
    begins = states.index((None, "pending"))
    assert states[begins : begins + 4] == [
        (None, "pending"),
        ("pending", "pending"),
        ("pending", "firing"),
        ("firing", "firing"),
    ]
    assert looked(shipped(), rule, 400 + begins + 2, data).told == "fired"
    assert looked(shipped(), rule, 400 + begins + 3, data).told == "nothing new"


def test_what_is_unknown_says_why() -> None:
    """Without a recorded change the cache rule is not applicable, and its parts are unknown."""
    found = looked(
        shipped(), "CacheMatchRateDroppedAfterTemplateChange", 300, past(prompt=9000, cached=50.0)
    )
    assert found.verdict == "unknown: not applicable"
    assert found.when[0].value == "unknown"


def test_what_mutes_is_named() -> None:
    """A silence, and a rule of `unless` with its state."""
    book = one_rule(when="ttlt > 2s", over="1m", hold="0")
    silence = Silence("moving", "team", begin=START, end=START + STEPS)
    silenced = replace(book, silences=(silence,))
    assert looked(silenced, "Own", 420, past(ttlt=slow(400))).told == (
        "nothing: silenced by team: moving"
    )
    other = replace(book.rules[0], name="Other")
    both = replace(book, rules=(replace(book.rules[0], unless=("Other",)), other))
    found = looked(both, "Own", 420, past(ttlt=slow(400)))
    assert (found.told, found.others) == ("nothing: Other fires", (("Other", "firing"),))


def test_only_changes_of_the_deployment_are_shown() -> None:
    """A change of another deployment explains nothing here."""
    mine = Change("capacity", START + 300, CHAT.name, "more")
    found = looked(
        shipped(), "LatencyHigh", 310, past(), mine, Change("capacity", START + 300, "other", "x")
    )
    assert found.changes == (mine,)


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["explain", *words])
    return done.exit_code, done.output


def test_a_recording_is_looked_into() -> None:
    """The real day, at a minute with traffic: rule, place, verdict, parts and the fit."""
    code, said = run(
        "TTLTRisingWithoutTokens",
        *("--deployment", "recorded-ptu", "--at", "2024-06-07T13:05"),
        *("--recording", str(RECORDING)),
    )
    assert code == 0, said
    for part in ("recorded-ptu (recorded)", "verdict", "deviation(ttlt", "one request deviates by"):
        assert part in said


@pytest.mark.parametrize(
    ("rule", "deployment", "at", "said"),
    [
        ("LatencyHig", "recorded-ptu", "2024-06-07T13:05", "Did you mean LatencyHigh?"),
        ("LatencyHigh", "nobody", "2024-06-07T13:05", "it has recorded-ptu"),
        ("LatencyHigh", "recorded-ptu", "2025-06-07T13:05", "choose within it"),
    ],
)
def test_what_is_not_there_is_said(rule: str, deployment: str, at: str, said: str) -> None:
    """Unknown rules, deployments and minutes end with exit code 2 and what there is."""
    code, printed = run(rule, "--deployment", deployment, "--at", at, "--recording", str(RECORDING))
    assert (code, said in printed) == (2, True), printed


def test_azure_monitor_is_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a recording the minutes and the history come from Azure Monitor."""
    chat = story.Deployment(400).set("ttlt", 15_000, 300)
    source = story.recording(chat)
    with serve(create_app(source)) as server:
        server.clock.set((story.START + 410) * 60.0)
        (account,) = source.accounts.values()
        monkeypatch.setenv("TOKENWATCH_ACCOUNTS", f"{account.region}={account.id}")
        monkeypatch.setenv("TOKENWATCH_METRICS_ENDPOINT", server.url + "/{region}")
        at = np.datetime64(story.START + 390, "m").item().isoformat()
        code, said = run("LatencyHigh", "--deployment", "CHAT", "--at", at)
        assert code == 0, said
        assert "firing since" in said
        code, said = run("LatencyHigh", "--deployment", "gone", "--at", at)
    assert (code, "there are no points of it" in said) == (2, True)
