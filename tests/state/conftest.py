"""Both stores for the contract suite: SQLite in a file, Table Storage in a real Azurite."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from shared.state.ledger import Ledger
from shared.state.sqlite import SqliteStore
from shared.state.store import StateStore
from shared.state.tables import TableStore, connect

OpenStore = Callable[[], StateStore]
"""Opens the test's store once more, as another worker would."""


@pytest.fixture(params=["sqlite", "table"])
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    """Opens one and the same empty store as often as it is called."""
    opened: list[StateStore] = []
    table = f"t{secrets.token_hex(8)}"
    source = request.getfixturevalue("emulated") if request.param == "table" else None

    def open_one() -> StateStore:
        store: StateStore
        if source is None:
            store = SqliteStore(str(tmp_path / "state.db"))
        else:
            store = TableStore(connect(source.connection_string, table))
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(another: OpenStore) -> StateStore:
    return another()


@pytest.fixture
def ledger(store: StateStore) -> Ledger:
    return Ledger(store)
