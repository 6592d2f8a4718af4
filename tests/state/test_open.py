"""The setting that says where state is kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from azure.core.credentials import AccessToken, TokenCredential

import emulator.azurite
from emulator.azurite import Azurite, azurite
from shared.state import open_store
from shared.state.address import split_table
from shared.state.sqlite import SqliteStore
from shared.state.store import StateStore
from shared.state.tables import TableStore

KEY = "c2Vj/cmV0+LWtleQ=="
ROOT = Path(__file__).parents[2]


class _Credential:
    def get_token(self, *scopes: str, **options: object) -> AccessToken:
        return AccessToken("token", 2**33)


def credential() -> TokenCredential:
    return _Credential()


def no_credential() -> TokenCredential:
    raise AssertionError("no credential is needed")


def _address(store: StateStore) -> tuple[str, str]:
    assert isinstance(store, TableStore)
    client = store._client
    store.close()
    return client.url, client.table_name


def test_sqlite(tmp_path: Path) -> None:
    """sqlite:PATH opens a file without asking for a credential."""
    store = open_store(f"sqlite:{tmp_path}/state.db", no_credential)
    assert isinstance(store, SqliteStore)
    store.close()


def test_sqlite_needs_no_azure(tmp_path: Path) -> None:
    """Opening SQLite loads no Azure package."""
    code = (
        "import sys; from shared.state import open_store; from shared.state.ledger import Ledger; "
        f"open_store('sqlite:{tmp_path}/s.db', None).close(); "
        "sys.exit(any(name.split('.')[0] == 'azure' for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_azurite_end_to_end(emulated: Azurite) -> None:
    """A connection string with a table name behind it opens a store that works."""
    store = open_store(f"table:{emulated.connection_string}/opened", no_credential)
    store.insert("p", "k", b"v")
    assert store.keys("p") == ["k"]
    assert _address(store)[1] == "opened"


def test_development_storage() -> None:
    """UseDevelopmentStorage=true means Azurite's usual port."""
    store = open_store("table:UseDevelopmentStorage=true", no_credential)
    assert _address(store) == ("http://127.0.0.1:10002/devstoreaccount1", "tokenwatch")


@pytest.mark.parametrize("suffix", ["", "/"])
def test_endpoint(suffix: str) -> None:
    """An https endpoint is opened with the credential of the factory."""
    url = "https://acc.table.core.windows.net"
    assert _address(open_store(f"table:{url}{suffix}", credential)) == (url, "tokenwatch")
    assert _address(open_store(f"table:{url}/Other1", credential)) == (url, "Other1")


ENDPOINT = "http://127.0.0.1:10002/devstoreaccount1"
CONNECTIONS = [
    "UseDevelopmentStorage=true",
    f"AccountName=a;AccountKey={KEY}",
    f"AccountName=a;AccountKey={KEY};EndpointSuffix=core.windows.net",
    f"AccountName=a;AccountKey={KEY};TableEndpoint={ENDPOINT}",
    f"AccountName=a;AccountKey={KEY};TableEndpoint={ENDPOINT};",
    f"TableEndpoint={ENDPOINT};AccountName=a;AccountKey={KEY}",
    f"AccountName=a;AccountKey={KEY};TableEndpoint=https://a.table.core.windows.net",
    "TableEndpoint=https://a.table.core.windows.net/;SharedAccessSignature=sv=1&sig=a%2Fb%3D",
    "https://a.table.core.windows.net",
    ENDPOINT,
]


@pytest.mark.parametrize("target", CONNECTIONS, ids=range(len(CONNECTIONS)))
def test_table_name_behind_any_form(target: str) -> None:
    """A table name is told from the slashes of addresses, keys and signatures."""
    assert split_table(target) == (target, "tokenwatch")
    assert split_table(f"{target}/alerts2") == (target, "alerts2")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "sqlite:",
        "table:",
        "state.db",
        "redis://:c2Vj@host",
        "table:nonsense c2Vj",
        "table:UseDevelopmentStorage=true/a-b",
        "table:UseDevelopmentStorage=true/ab",
        f"table:AccountName=a;AccountKey={KEY};TableEndpoint=http://a.table.core.windows.net",
        f"table:DefaultEndpointsProtocol=http;AccountName=a;AccountKey={KEY};"
        "EndpointSuffix=core.windows.net",
        f"table:AccountKey={KEY}",
        "table:http://acc.table.core.windows.net",
        "table:https://acc.table.core.windows.net?sv=1&sig=c2Vj",
        "table:https://",
    ],
)
def test_wrong_settings(url: str) -> None:
    """A wrong setting names the forms that are allowed, and quotes nothing that may be secret."""
    with pytest.raises(ValueError, match="write sqlite:PATH, table:CONNECTION_STRING or") as caught:
        open_store(url, credential)
    assert "c2Vj" not in str(caught.value)


def test_azurite_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without node_modules the tests fail with what to run."""
    monkeypatch.setattr(emulator.azurite, "SCRIPT", tmp_path / "absent.js")
    with pytest.raises(RuntimeError, match="run `make setup`"), azurite():
        pass
