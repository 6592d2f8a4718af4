"""Rows as Table Storage takes them: a value lies in binary properties p0..p12 of one entity."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence

from shared.state.keys import escape, unescape
from shared.state.store import MOST_PIECES, PIECE, Entity, check_size

MOST_OPERATIONS = 100
MOST_BYTES = 4_000_000
"""Of a transaction, whose limit is 4 MiB, as it goes over the wire."""

Record = dict[str, str | bytes]


def identity(partition: str, key: str) -> Record:
    """What names a row."""
    return {"PartitionKey": escape(partition), "RowKey": escape(key)}


def record_of(partition: str, key: str, value: bytes) -> Record:
    """A row to be written. `writer` tells this very write from any other of the same value."""
    check_size(partition, key, value)
    record = identity(partition, key) | {"writer": secrets.token_hex(8)}
    for number, start in enumerate(range(0, max(len(value), 1), PIECE)):
        record[f"p{number}"] = value[start : start + PIECE]
    return record


def entity_of(partition: str, row: Mapping[str, object]) -> Entity:
    """A row that was read."""
    pieces = (row.get(f"p{number}") for number in range(MOST_PIECES))
    value = b"".join(piece for piece in pieces if isinstance(piece, bytes))
    return Entity(partition, unescape(str(row["RowKey"])), value, etag_of(row))


def etag_of(row: Mapping[str, object]) -> str:
    """The ETag of a row that was read, which the SDK keeps beside the properties."""
    metadata: Mapping[str, object] = getattr(row, "metadata", {})
    return str(metadata["etag"])


def batches(records: Sequence[Record]) -> Iterator[list[Record]]:
    """Parts that fit into one transaction each."""
    batch: list[Record] = []
    size = 0
    for record in records:
        # Base64 takes 4 bytes for 3; headers and names of an operation stay below 4 KiB.
        cost = 4096 + sum(len(value) * 4 // 3 for value in record.values())
        if batch and (len(batch) == MOST_OPERATIONS or size + cost > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += cost
    if batch:
        yield batch
