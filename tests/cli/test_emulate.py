"""`tokenwatch emulate` and `demo`: what is asked for wrongly, and advice that works."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import requests

from tests.cli.process import COMMAND, DAY, ROOT, called, recorded, surroundings, tokenwatch


@pytest.mark.parametrize("port", ["-1", "65536", "99999", "http"])
def test_a_port_that_is_none_is_refused(port: str) -> None:
    """Before anything is read or served."""
    ended = called("emulate", "--port", port)
    assert ended.code == 2
    assert "--port" in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("command", ["emulate", "demo"])
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file"),
        ("", "Is a directory"),
        ("\0", "special characters"),
        ("start: 2026-02-30T00:00:00Z\n", "day is out of range"),
        ("start: 2026-01-01T00:00:00Z\nfor: 1h\naccounts: []\n", "accounts"),
    ],
)
def test_a_broken_world_is_one_error(
    tmp_path: Path, command: str, content: str | None, said: str
) -> None:
    """Missing, a folder, no text, no day of the calendar, nobody in it."""
    path = tmp_path / "world.yaml"
    if content:
        path.write_text(content, encoding="utf-8")
    elif content is not None:
        path.mkdir()
    ended = called(command, "--world", str(path))
    assert ended.code == 2
    assert ended.err.startswith("error: ")
    assert said in ended.err


def test_a_world_and_a_recording_are_two() -> None:
    """One of them would be left out without a word."""
    ended = called("emulate", "--world", "x", "--recording", "y")
    assert ended.code == 2
    assert "choose one" in ended.err


@pytest.mark.parametrize("name", ["file", "file/out"])
def test_the_demo_looks_where_cards_are_to_go_before_it_begins(tmp_path: Path, name: str) -> None:
    """Not after a minute."""
    (tmp_path / "file").touch()
    ended = called("demo", "--out", str(tmp_path / name))
    assert ended.code == 2
    assert "--out" in ended.err
    assert ended.out == ""


@contextmanager
def emulating(*options: str) -> Iterator[list[str]]:
    """What a running emulator has printed when it is ready; Ctrl-C ends it."""
    command = [*COMMAND, "emulate", "--port", "0", *options]
    with subprocess.Popen(
        command, cwd=ROOT, env=surroundings(TZ="UTC"), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        lines: list[str] = []
        while not lines or "Ctrl-C" not in lines[-1]:
            lines.append(process.stdout.readline().rstrip("\n"))
            assert lines[-1], lines
        try:
            yield lines
        finally:
            process.send_signal(signal.SIGINT)
            assert process.stdout.read().endswith("stopped\n")
            assert process.wait(timeout=20) == 130


def exported(lines: list[str]) -> dict[str, str]:
    found = [re.fullmatch(r"  export (\w+)='(.*)'", line) for line in lines]
    return {one[1]: one[2] for one in found if one}


def test_a_world_says_what_is_to_come() -> None:
    """The first happenings with their times, and the change that somebody has to record."""
    with emulating() as lines:
        now = datetime.now(UTC)
    text = "\n".join(lines)
    soon = (now + timedelta(minutes=45)).strftime("%H:%M")
    before = (now + timedelta(minutes=44)).strftime("%H:%M")
    assert re.search(rf"({soon}|{before})  slower decode on chat-ptu for 40 min", text)
    assert "incidents to come (local time)" in text
    assert "  and 5 more until" in text
    assert "tokenwatch change record --kind prompt_template --deployment chat-ptu" in text


def test_a_recording_in_the_present_can_be_watched(tmp_path: Path) -> None:
    """Its middle is now, so that `run` with the printed settings finds history and traffic."""
    with emulating("--recording", str(DAY)) as lines:
        watched = tokenwatch("run", "--once", "-v", cwd=tmp_path, **exported(lines))
    assert watched.returncode == 0, watched.stderr
    (tick,) = [line for line in watched.stderr.splitlines() if line.startswith("tick ")]
    assert '"deployments": 1' in tick
    assert any("tokenwatch run --recording" in line for line in lines)


def test_the_end_of_a_recording_unfolds(tmp_path: Path) -> None:
    """The middle minute is the present one."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    rows = [f"{start + timedelta(minutes=n):%Y-%m-%dT%H:%M:%SZ},{n}" for n in range(101)]
    path = recorded(tmp_path / "count.csv", rows, "GeneratedTokens:total")
    now = datetime.now(UTC)
    with emulating("--recording", str(path)) as lines:
        settings = exported(lines)
        region, _, account = settings["TOKENWATCH_ACCOUNTS"].partition("=")
        endpoint = settings["TOKENWATCH_METRICS_ENDPOINT"].replace("{region}", region)
        answer = requests.post(
            f"{endpoint}/subscriptions/s/metrics:getBatch",
            params={
                "api-version": "2024-02-01",
                "metricnamespace": "Microsoft.CognitiveServices/accounts",
                "metricnames": "GeneratedTokens",
                "aggregation": "total",
                "interval": "PT1M",
                "starttime": f"{now - timedelta(minutes=20):%Y-%m-%dT%H:%M:00Z}",
                "endtime": f"{now - timedelta(minutes=10):%Y-%m-%dT%H:%M:00Z}",
            },
            json={"resourceids": [account]},
            headers={"Authorization": "Bearer x"},
            timeout=10,
        )
    (series,) = answer.json()["values"][0]["value"][0]["timeseries"]
    assert series["data"][0]["total"] in (29, 30, 31)
    assert len(series["data"]) == 10


def test_ctrl_c_is_one_line_and_130_whenever_it_comes(tmp_path: Path) -> None:
    """In the middle of the imports too, and with nothing printed yet."""
    for wait in (0.05, 0.15, 0.3, 0.5, 0.8, 1.2):
        command = [*COMMAND[:2], "import sys; print(flush=True); " + COMMAND[2]]
        process = subprocess.Popen(
            [*command, "demo", "--out", str(tmp_path / "out")],
            env=surroundings(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        process.stdout.readline()
        time.sleep(wait)
        os.kill(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert (process.returncode, said) == (130, "stopped\n"), wait
