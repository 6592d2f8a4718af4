"""What every StateStore does; run against SQLite and a real Azurite."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from shared.state.store import MAX_VALUE, Conflict, Exists, StateStore, TooLarge
from tests.state.conftest import OpenStore

AWKWARD = [
    'it\'s "quoted"',
    "a/b\\c#d?e%f%2Fg",
    "tab\tnewline\nnull\0delete\x7f",
    "größe 日本 🙂",
    " spaces ",
    "~tilde ~41",
    "half a pair \udc80",
    "x' or '1' eq '1",
    "k" * 512,
    "",
]


def test_reads_what_was_inserted(store: StateStore) -> None:
    """An inserted entity is read back with the ETag that the insert gave."""
    entity = store.insert("p", "k", b"value")
    assert store.read("p", "k") == entity
    assert entity.value == b"value"


def test_absent_is_none_and_empty(store: StateStore) -> None:
    """A store that has never been written to reads as empty."""
    assert store.read("p", "k") is None
    assert store.partition("p") == []
    assert store.keys("p") == []
    store.delete("p", ["k"])


def test_empty_value(store: StateStore) -> None:
    """An empty value comes back as an empty value."""
    store.insert("p", "k", b"")
    read = store.read("p", "k")
    assert read is not None
    assert read.value == b""


def test_insert_twice(store: StateStore) -> None:
    """A second insert raises Exists and leaves the first value."""
    store.insert("p", "k", b"first")
    with pytest.raises(Exists, match="already there"):
        store.insert("p", "k", b"second")
    assert [entity.value for entity in store.partition("p")] == [b"first"]


def test_replace_takes_the_newest_only(another: OpenStore) -> None:
    """Of two writers who read the same entity the second loses and changes nothing."""
    one, two = another(), another()
    entity = one.insert("p", "k", b"0")
    seen = two.read("p", "k")
    assert seen is not None
    newer = one.replace(entity, b"1")
    assert newer.etag != entity.etag
    with pytest.raises(Conflict):
        two.replace(seen, b"2")
    assert two.read("p", "k") == newer
    assert two.replace(newer, b"3").value == b"3"


def test_replace_of_deleted(store: StateStore) -> None:
    """Replacing a deleted entity raises Conflict, also after it was added anew."""
    entity = store.insert("p", "k", b"0")
    store.delete("p", ["k"])
    with pytest.raises(Conflict):
        store.replace(entity, b"1")
    store.insert("p", "k", b"0")
    with pytest.raises(Conflict):
        store.replace(entity, b"1")


def test_replace_shrinks(store: StateStore) -> None:
    """A shorter value leaves nothing of a longer one, by replace and by write."""
    entity = store.insert("p", "k", bytes(200_000))
    store.replace(entity, b"short")
    store.write("p", {"other": bytes(200_000)})
    store.write("p", {"other": b"short"})
    assert [entity.value for entity in store.partition("p")] == [b"short", b"short"]


def test_range_and_order(store: StateStore) -> None:
    """A range holds low, not high, and is sorted; other partitions stay out."""
    store.write("p", dict.fromkeys(["d", "b", "a", "c", "b.1", "B"], b""))
    store.write("p.q", {"b": b""})
    assert store.keys("p") == ["B", "a", "b", "b.1", "c", "d"]
    assert [entity.key for entity in store.partition("p", "b", "d")] == ["b", "b.1", "c"]
    assert [entity.key for entity in store.partition("p", high="b")] == ["B", "a"]
    assert [entity.key for entity in store.partition("p", low="c")] == ["c", "d"]


def test_write_overwrites(store: StateStore) -> None:
    """A write adds what is new, overwrites what is there, and gives a new ETag."""
    before = store.insert("p", "a", b"old")
    store.write("p", {"a": b"new", "b": b"more"})
    store.write("p", {})
    assert [(entity.key, entity.value) for entity in store.partition("p")] == [
        ("a", b"new"),
        ("b", b"more"),
    ]
    with pytest.raises(Conflict):
        store.replace(before, b"late")


def test_many_rows(store: StateStore) -> None:
    """250 rows are written, read and deleted in one call each, though transactions take 100."""
    rows = {f"{number:03}": str(number).encode() for number in range(250)}
    store.write("p", rows)
    assert {entity.key: entity.value for entity in store.partition("p")} == rows
    store.delete("p", [*rows, "absent"])
    assert store.keys("p") == []


def test_delete_names_only(store: StateStore) -> None:
    """A delete takes what it names, absent ones included, and nothing else."""
    store.write("p", dict.fromkeys(["a", "b", "c"], b""))
    store.delete("p", ["a", "absent", "a", "c"])
    store.delete("p", [])
    assert store.keys("p") == ["b"]


def test_large_values(store: StateStore) -> None:
    """Values of 750 KB come back whole, several of them in one write."""
    values = {f"k{number}": random.Random(number).randbytes(750_000) for number in range(5)}
    store.write("p", values)
    assert {entity.key: entity.value for entity in store.partition("p")} == values
    entity = store.insert("p", "most", bytes(MAX_VALUE))
    assert store.replace(entity, bytes(MAX_VALUE)).value == bytes(MAX_VALUE)


def test_too_large(store: StateStore) -> None:
    """A value over the limit is refused by name and nothing is written."""
    entity = store.insert("p", "there", b"")
    too_large = bytes(MAX_VALUE + 1)
    with pytest.raises(TooLarge, match=r"'big' of partition 'p'.*780,000 fit: watch fewer"):
        store.insert("p", "big", too_large)
    with pytest.raises(TooLarge):
        store.write("p", {"small": b"", "big": too_large})
    with pytest.raises(TooLarge):
        store.replace(entity, too_large)
    assert store.partition("p") == [entity]


@pytest.mark.parametrize("key", AWKWARD, ids=range(len(AWKWARD)))
def test_awkward_keys(store: StateStore, key: str) -> None:
    """Any text up to 512 characters serves as key and as partition."""
    entity = store.insert(key, key, b"1")
    assert store.read(key, key) == entity
    newer = store.replace(entity, b"2")
    assert store.partition(key, key, key + "\0") == [newer]
    store.write(key, {key: b"3"})
    assert store.keys(key) == [key]
    store.delete(key, [key])
    assert store.keys(key) == []


def test_key_too_long(store: StateStore) -> None:
    """A key whose escaped form is over 512 characters is refused."""
    with pytest.raises(TooLarge, match="513 characters once escaped"):
        store.insert("p", "k" * 513, b"")
    with pytest.raises(TooLarge, match="use a shorter name"):
        store.read("p", "ü" * 86)


def test_racing_inserts(another: OpenStore) -> None:
    """Of eight racing inserts exactly one succeeds."""

    def insert(store: StateStore) -> bool:
        try:
            store.insert("p", "k", b"")
        except Exists:
            return False
        return True

    stores = [another() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(insert, stores)) == 1


def test_threads_share_a_store(store: StateStore) -> None:
    """Conditional increments from several threads on one store lose none."""
    store.insert("p", "count", b"0")

    def increment(_: int) -> None:
        while True:
            entity = store.read("p", "count")
            assert entity is not None
            try:
                store.replace(entity, str(int(entity.value) + 1).encode())
            except Conflict:
                continue
            return

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(increment, range(20)))
    read = store.read("p", "count")
    assert read is not None
    assert read.value == b"20"
