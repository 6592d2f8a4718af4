"""A watchdog on this machine, with the settings and the state of the command line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from cli.shown import fail
from shared.build import credential, open_watch
from shared.clouds import CLOUDS, PUBLIC
from shared.monitor.client import Client
from shared.pipeline import Watch
from shared.settings import SettingsError, read_settings
from shared.state import open_store
from shared.state.ledger import Ledger
from shared.state.store import StateError
from shared.teams.address import check_url

DEFAULT_STATE = "sqlite:tokenwatch.db"


@contextmanager
def watch_of(variables: Mapping[str, str]) -> Iterator[Watch]:
    """A watchdog for the length of a `with`, or the end of the command with every problem named."""
    try:
        watch = open_watch(read_settings(variables, check_url))
    except SettingsError as error:
        fail(*error.problems)
    except (StateError, ValueError, FileNotFoundError) as error:
        fail(str(error))
    with _ending_well(watch.ledger):
        try:
            yield watch
        finally:
            _hang_up(watch)


def _hang_up(watch: Watch) -> None:
    watch.sessions.close()
    if isinstance(watch.poster, Client):
        watch.poster.close()
    if watch.lister:
        watch.lister.close()


@contextmanager
def ledger_of(variables: Mapping[str, str]) -> Iterator[Ledger]:
    """The state alone, for commands that ask Azure Monitor nothing. It must be there already."""
    try:
        _refuse_absent(variables["TOKENWATCH_STATE"])
        cloud = CLOUDS.get(variables.get("TOKENWATCH_CLOUD", "").casefold(), PUBLIC)
        identity = partial(credential, cloud)
        store = open_store(variables["TOKENWATCH_STATE"], identity, cloud.storage_audience)
        ledger = Ledger(store)
    except (StateError, ValueError) as error:
        fail(str(error))
    with _ending_well(ledger):
        yield ledger


def _refuse_absent(state: str) -> None:
    """A mistyped name must not become a new and empty state."""
    scheme, _, file = state.strip().partition(":")
    if scheme == "sqlite" and file and not Path(file).exists():
        fail(
            f"there is no state at {file}; it is made by `tokenwatch run`: name it with --state "
            "or TOKENWATCH_STATE"
        )


@contextmanager
def _ending_well(ledger: Ledger) -> Iterator[None]:
    try:
        yield
    except StateError as error:
        fail(str(error))
    finally:
        ledger.store.close()


def environment(state: str | None, rules: Path | None) -> dict[str, str]:
    """This process's environment, with what the command line says instead."""
    variables = dict(os.environ)
    if state or "TOKENWATCH_STATE" not in variables:
        variables["TOKENWATCH_STATE"] = state or DEFAULT_STATE
    if rules:
        variables["TOKENWATCH_RULES"] = str(rules)
    return variables
