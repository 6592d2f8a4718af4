"""A table of its own in a real Azurite."""

from __future__ import annotations

import secrets

import pytest

from emulator.azurite import Azurite


@pytest.fixture
def table_url(emulated: Azurite) -> str:
    """A state setting that names a table nobody has used."""
    return f"table:{emulated.connection_string}/t{secrets.token_hex(8)}"
