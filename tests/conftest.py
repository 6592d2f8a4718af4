"""What tests of several folders share: a real Azurite, and logging as it was."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator

import pytest

from emulator.azurite import Azurite, azurite


def pytest_configure() -> None:
    """The same for everybody: a wide terminal for what commands print, and commands that Ctrl-C
    stops, which those that are started from the background ignore."""
    os.environ |= {"COLUMNS": "200", "TERM": "xterm"}
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def emulated() -> Iterator[Azurite]:
    """One Azurite for each worker of the test run."""
    with azurite() as running:
        yield running


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    """Commands that run in this process set levels for the whole of it."""
    loggers = [logging.getLogger(name) for name in ("", "tokenwatch", "azure")]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
