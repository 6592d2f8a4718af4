"""State in Azure Table Storage."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlsplit

from azure.core import MatchConditions
from azure.core.credentials import TokenCredential
from azure.core.exceptions import AzureError, HttpResponseError, ResourceExistsError
from azure.data.tables import TableClient, UpdateMode

from shared.state.address import is_loopback
from shared.state.calls import code_of, explain, persist
from shared.state.keys import bound, escape, unescape
from shared.state.records import Record, batches, entity_of, etag_of, identity, record_of
from shared.state.store import Conflict, Entity, Exists

TIMEOUT = 20
"""Seconds to connect, and to wait for an answer; the SDK's own are 300."""

# Without it an insert is answered with all that was sent.
_NO_ECHO: dict[str, Any] = {"response_preference": "return-no-content"}

T = TypeVar("T")


def connect(
    target: str,
    table: str,
    credential: TokenCredential | None = None,
    audience: str = "https://storage.azure.com",
) -> TableClient:
    """A client for a connection string, or for an endpoint if there is a credential.

    Raises ValueError for what is neither, and for plain http to anywhere but this machine.
    """
    options: dict[str, Any] = {
        "retry_total": 0,
        "connection_timeout": TIMEOUT,
        "read_timeout": TIMEOUT,
    }
    try:
        if credential is None:
            client = TableClient.from_connection_string(target, table, **options)
        else:
            options["audience"] = audience
            client = TableClient(target, table, credential=credential, **options)
        address = urlsplit(client.url)
    except ValueError:
        # The SDK's text may quote what it was given, secrets included.
        raise ValueError("not a connection string or endpoint of a storage account") from None
    if address.scheme != "https" and not is_loopback(address.hostname or ""):
        client.close()
        raise ValueError("plain http is for this machine only: use https")
    return client


class TableStore:
    """A StateStore in one table, which is made when it is found to be missing."""

    def __init__(self, client: TableClient, sleep: Callable[[float], None] = time.sleep) -> None:
        self._client = client
        self._sleep = sleep
        self._host = urlsplit(client.url).hostname or ""

    def partition(self, partition: str, low: str = "", high: str = "") -> list[Entity]:
        rows = self._query(partition, low, high)
        return [entity_of(partition, row) for row in rows]

    def keys(self, partition: str) -> list[str]:
        rows = self._query(partition, select=["RowKey"])
        return [unescape(str(row["RowKey"])) for row in rows]

    def read(self, partition: str, key: str) -> Entity | None:
        row = self._get(partition, key)
        return None if row is None else entity_of(partition, row)

    def insert(self, partition: str, key: str, value: bytes) -> Entity:
        record = record_of(partition, key, value)
        try:
            etag = self._call(partial(self._client.create_entity, record, **_NO_ECHO))["etag"]
        except Exists:
            etag = self._own(partition, key, record)
            if etag is None:
                raise
        return Entity(partition, key, value, str(etag))

    def replace(self, entity: Entity, value: bytes) -> Entity:
        partition, key = entity.partition, entity.key
        record = record_of(partition, key, value)
        try:
            answer = self._call(
                lambda: self._client.update_entity(
                    record,
                    mode=UpdateMode.REPLACE,
                    etag=entity.etag,
                    match_condition=MatchConditions.IfNotModified,
                )
            )
            etag = answer["etag"]
        except Conflict:
            etag = self._own(partition, key, record)
            if etag is None:
                raise
        return Entity(partition, key, value, str(etag))

    def write(self, partition: str, values: Mapping[str, bytes]) -> None:
        records = [record_of(partition, key, value) for key, value in values.items()]
        for batch in batches(records):
            operations = [("upsert", record, {"mode": UpdateMode.REPLACE}) for record in batch]
            self._call(partial(self._client.submit_transaction, operations))

    def delete(self, partition: str, keys: Iterable[str]) -> None:
        records = [identity(partition, key) for key in dict.fromkeys(keys)]
        for batch in batches(records):
            operations = [("delete", record) for record in batch]
            try:
                self._call(partial(self._client.submit_transaction, operations))
            except Conflict:
                # One that is absent fails the whole transaction; alone it does not.
                for record in batch:
                    self._call(partial(self._client.delete_entity, record))

    def close(self) -> None:
        self._client.close()

    def _query(
        self, partition: str, low: str = "", high: str = "", select: list[str] | None = None
    ) -> list[Mapping[str, object]]:
        query = "PartitionKey eq @partition"
        values = {"partition": escape(partition), "low": bound(low), "high": bound(high)}
        query += " and RowKey ge @low" if low else ""
        query += " and RowKey lt @high" if high else ""
        rows = self._call(
            lambda: list(self._client.query_entities(query, parameters=values, select=select))
        )
        return sorted(rows, key=lambda row: str(row["RowKey"]))

    def _get(
        self, partition: str, key: str, select: list[str] | None = None
    ) -> Mapping[str, object] | None:
        names = escape(partition), escape(key)
        try:
            return self._call(lambda: self._client.get_entity(*names, select=select))
        except Conflict:
            return None

    def _own(self, partition: str, key: str, record: Record) -> str | None:
        """The ETag of what is stored, if it was this very write that stored it.

        A write whose answer was lost is tried again and then meets itself.
        """
        row = self._get(partition, key, ["writer"])
        return etag_of(row) if row and row.get("writer") == record["writer"] else None

    def _call(self, call: Callable[[], T]) -> T:
        try:
            try:
                return persist(call, self._sleep)
            except HttpResponseError as error:
                if code_of(error) != "TableNotFound":
                    raise
            self._create_table()
            return persist(call, self._sleep)
        # Answers that are not Table Storage's fail somewhere inside the SDK.
        except (AzureError, ValueError, KeyError, AttributeError, TypeError) as error:
            raise explain(error, self._host) from None

    def _create_table(self) -> None:
        try:
            persist(self._client.create_table, self._sleep)
        except ResourceExistsError as error:
            if code_of(error) != "TableAlreadyExists":
                raise
