"""Where state is kept: a narrow entity store, and the ledger's semantics over it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from shared.state.address import TABLE, TABLE_NAME, split_table
from shared.state.sqlite import SqliteStore
from shared.state.store import StateStore

if TYPE_CHECKING:
    from azure.core.credentials import TokenCredential

_FORMS = (
    "write sqlite:PATH, table:CONNECTION_STRING or table:https://ACCOUNT.table.core.windows.net, "
    "the last two followed by /TABLENAME if the table is not to be called "
    f"{TABLE} (3 to 63 letters and digits, a letter first)"
)


def open_store(
    url: str,
    credential_factory: Callable[[], TokenCredential],
    audience: str = "https://storage.azure.com",
) -> StateStore:
    """The store that a setting names. Raises ValueError for a setting that is none.

    The factory is called only if the store needs a credential, for a token of the audience. No
    text quotes the setting, which may hold a key.
    """
    scheme, _, target = url.strip().partition(":")
    if scheme == "sqlite" and target:
        return SqliteStore(target)
    if scheme == "table" and target:
        return _open_table(target, credential_factory, audience)
    raise ValueError(f"the state setting is not understood: {_FORMS}")


def _open_table(
    target: str, credential_factory: Callable[[], TokenCredential], audience: str
) -> StateStore:
    # Imported here, because a command line on SQLite should not wait for the Azure packages.
    from shared.state.tables import TableStore, connect

    target, table = split_table(target)
    if not TABLE_NAME.fullmatch(table):
        raise ValueError(f"the state setting has a bad table name: {_FORMS}")
    is_endpoint = target.startswith(("https://", "http://"))
    if is_endpoint and "?" in target:
        raise ValueError(
            f"the state setting has a query: put an SAS into a connection string, or {_FORMS}"
        )
    try:
        identity = credential_factory() if is_endpoint else None
        client = connect(target, table, identity, audience)
    except ValueError as error:
        raise ValueError(f"the state setting is wrong, {error}: {_FORMS}") from None
    return TableStore(client)
