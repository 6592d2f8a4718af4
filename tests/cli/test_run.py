"""`tokenwatch run` against something that answers, or does not."""

from __future__ import annotations

import re
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cli.playback import accounts_setting
from emulator.app import create_app
from emulator.faults import ErrorCode, Fault
from emulator.recording import Recording
from emulator.server import Running, serve
from emulator.webhook import Answer
from shared.model import SETTLE, slot_of
from tests.cli.process import COMMAND, NORTH, WEST, called, saturated, surroundings
from tests.cli.test_choosing_rules import folder


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which commands run and keep their state."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def azure(here: Path) -> Iterator[Running]:
    """An Azure Monitor in the present: the capacity has been used up for some minutes."""
    source = Recording.load(saturated(here / "day.csv"))
    settled = slot_of(datetime.now(UTC)) - SETTLE - 1
    with serve(create_app(source.moved(settled - 26 - source.start))) as server:
        server.clock.set(datetime.now(UTC))
        yield server


def settings(server: Running) -> dict[str, str]:
    return {
        "TOKENWATCH_ACCOUNTS": accounts_setting(server.emulator.source),
        "TOKENWATCH_METRICS_ENDPOINT": server.url + "/{region}",
        "TOKENWATCH_RESOURCE_MANAGER": server.url,
        "TEAMS_WEBHOOK_DEFAULT": server.webhook("default"),
    }


def unreachable() -> dict[str, str]:
    """Two accounts in regions where nobody answers."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{one.getsockname()[1]}"
    return {
        "TOKENWATCH_ACCOUNTS": f"eastus={NORTH},westus={WEST}",
        "TOKENWATCH_METRICS_ENDPOINT": url + "/{region}",
        "TOKENWATCH_RESOURCE_MANAGER": url,
        "TEAMS_WEBHOOK_DEFAULT": f"{url}/teams/default?sig=SECRET",
    }


def test_a_tick_in_which_all_is_well_is_exit_code_0(azure: Running) -> None:
    """Also if something fires: that is what it is for. Its line has the date."""
    ended = called("run", "--once", **settings(azure))
    assert ended.code == 0, ended.err
    assert ended.err.startswith("rules: ")
    assert ended.err.count("\n") == 1
    (line,) = ended.out.splitlines()
    assert re.match(r"\d\d-\d\d \d\d:\d\d 🔴 critical ProvisionedThrottling on chat ", line)


def test_what_cannot_be_read_is_exit_code_1_and_one_line_an_account(here: Path) -> None:
    """Not one a metric; the line names metrics and the rules that are blind."""
    ended = called("run", "--once", **unreachable())
    assert ended.code == 1
    lines = [line for line in ended.err.splitlines() if "cannot be reached" in line]
    assert [line.split(":")[0] for line in lines] == ["north", "west"]
    assert all("blind)" in line for line in lines)
    assert "SECRET" not in ended.out + ended.err


def test_one_metric_that_fails_is_exit_code_1(azure: Running) -> None:
    """Reading in part is not reading in full."""
    azure.faults.set(Fault(effect=ErrorCode(code="Forbidden"), metric="GeneratedTokens"))
    ended = called("run", "--once", **settings(azure))
    assert ended.code == 1
    assert re.search(r"^north: .*Forbidden.* \(GeneratedTokens; rule.* blind\)$", ended.err, re.M)


def test_a_broken_rule_is_exit_code_1(here: Path, azure: Running) -> None:
    """The others are judged, and whoever runs it in a pipeline is told."""
    ended = called(
        "run", "--once", "--rules", str(folder(here / "mine", "Mine")), **settings(azure)
    )
    assert ended.code == 1
    assert "when of Mine" in ended.err


def test_a_card_that_is_not_taken_is_exit_code_1(azure: Running) -> None:
    """Nobody was told: that is not all well."""
    azure.inbox.always("default", Answer(404))
    ended = called("run", "--once", **settings(azure))
    assert ended.code == 1
    assert "channel default: " in ended.err


def test_a_state_that_cannot_be_read_is_exit_code_1(azure: Running) -> None:
    """Trouble with the watchdog itself counts as well."""
    assert called("run", "--once", **settings(azure)).code == 0
    with closing(sqlite3.connect("tokenwatch.db")) as database:
        database.execute("UPDATE entities SET value = x'ff00' WHERE partition = 'heads'")
        database.commit()
    ended = called("run", "--once", **settings(azure))
    assert ended.code == 1
    assert "cannot be read" in ended.err


@pytest.mark.parametrize(
    "option", [("--from", "2026-01-01"), ("--to", "2026-01-01"), ("--cards", "x")]
)
def test_options_of_a_replay_need_one(here: Path, option: tuple[str, str]) -> None:
    """They mean nothing to a live watch: exit code 2."""
    ended = called("run", "--once", *option)
    assert ended.code == 2
    assert "go with --recording" in ended.err


def test_ctrl_c_ends_a_watch_with_its_own_words(here: Path, azure: Running) -> None:
    """One line that says that nothing is lost, and exit code 130."""
    with subprocess.Popen(
        [*COMMAND, "run"],
        cwd=here,
        env=surroundings(**settings(azure)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert "ProvisionedThrottling" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert said.splitlines()[1:] == ["stopped; the next run catches up"]
