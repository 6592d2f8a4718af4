"""A table of its own in a real Azurite."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from emulator.azurite import Azurite, azurite


@pytest.fixture(scope="session")
def emulated() -> Iterator[Azurite]:
    """One Azurite for each worker of the test run."""
    with azurite() as running:
        yield running


@pytest.fixture
def table_url(emulated: Azurite) -> str:
    """A state setting that names a table nobody has used."""
    return f"table:{emulated.connection_string}/t{secrets.token_hex(8)}"
