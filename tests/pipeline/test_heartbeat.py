"""The dead man's switch: told of each tick, never in the way of one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from shared.pipeline import Watch
from shared.settings import SettingsError, read_settings
from shared.teams.address import Webhook, check_url
from tests.pipeline.story import START, Deployment, Scene, recording, scene
from tests.teams.conftest import Hook, Reply, hooked

SECRET = "0a1b2c3d-secret-uuid"


@contextmanager
def watching(folder: Path, query: str = "") -> Iterator[tuple[Hook, Scene, Watch]]:
    """A switch, an emulated Azure, and a watchdog that knows both."""
    with hooked() as hook, scene(recording(Deployment(60)), folder) as one:
        url = f"{hook.url}/ping/{SECRET}{query}"
        with one.watchdog(TOKENWATCH_HEARTBEAT_URL=url) as watch:
            yield hook, one, watch


def test_each_tick_is_told(tmp_path: Path) -> None:
    """One post a tick at the address, in which nothing is said."""
    with watching(tmp_path, "?rid=1") as (hook, one, watch):
        for slot in (START + 20, START + 21):
            one.tick(watch, slot)
    assert hook.paths == [f"/ping/{SECRET}?rid=1"] * 2
    assert hook.bodies == [b"", b""]


def test_trouble_is_told_as_a_failure(tmp_path: Path) -> None:
    """A row that cannot be read: the address + /fail, with the reason."""
    with watching(tmp_path) as (hook, one, watch):
        one.tick(watch, START + 20)
        (entity,) = watch.ledger.store.partition("heads")
        watch.ledger.store.replace(entity, b"\x01damaged")
        one.tick(watch, START + 21)
    assert hook.paths == [f"/ping/{SECRET}", f"/ping/{SECRET}/fail"]
    assert b"cannot be read" in hook.bodies[1]


@pytest.mark.parametrize("reply", [Reply(500), Reply(404), Reply(cut=True)])
def test_a_switch_that_does_not_answer_costs_nothing(
    tmp_path: Path, reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    """The tick is done, the log says so, and the address appears nowhere, not even at DEBUG."""
    caplog.set_level(logging.DEBUG)
    with watching(tmp_path) as (hook, one, watch):
        hook.script.append(reply)
        assert one.tick(watch, START + 20).slots == 1
        assert SECRET not in repr(watch)
        nobody = replace(watch, heartbeat=Webhook("http://127.0.0.1:9/" + SECRET))
        assert one.tick(nobody, START + 21).slots == 1
    assert caplog.text.count("the heartbeat was not heard") == 2
    assert SECRET not in caplog.text


def test_an_address_that_is_none_is_refused_without_its_value() -> None:
    """Plain http beyond this machine would tell the secret to everybody."""
    with pytest.raises(SettingsError) as caught:
        read_settings({"TOKENWATCH_HEARTBEAT_URL": f"http://example.com/{SECRET}"}, check_url)
    assert "TOKENWATCH_HEARTBEAT_URL: must be an https address" in str(caught.value)
    assert SECRET not in str(caught.value)
