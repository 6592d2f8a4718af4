"""What tests of several folders share: a real Azurite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from emulator.azurite import Azurite, azurite


@pytest.fixture(scope="session")
def emulated() -> Iterator[Azurite]:
    """One Azurite for each worker of the test run."""
    with azurite() as running:
        yield running
