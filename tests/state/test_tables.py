"""How the Table Storage store bears unkind answers: the real SDK against a scripted server."""

from __future__ import annotations

import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError

from emulator.azurite import Azurite
from shared.model import Head
from shared.state.calls import TRIES
from shared.state.ledger import Ledger, Versioned
from shared.state.records import batches, record_of
from shared.state.store import (
    MAX_VALUE,
    Conflict,
    Entity,
    Exists,
    StateError,
    StateStore,
    StateUnavailable,
    TooLarge,
)
from shared.state.tables import TableStore, connect
from tests.state.fake_tables import CREATED, EMPTY, SECRET, Answer, Fake, error, fake_tables, html

BUSY = error(503, "ServerBusy")
ENTITY = Entity("p", "k", b"old", 'W/"1"')


@pytest.fixture
def fake() -> Iterator[Fake]:
    with fake_tables() as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    """How long the store waited before each further try."""
    return []


@pytest.fixture
def store(fake: Fake, waits: list[float]) -> Iterator[StateStore]:
    store = TableStore(connect(fake.connection_string, "tokenwatch"), waits.append)
    yield store
    store.close()


OPERATIONS: dict[str, Callable[[StateStore], object]] = {
    "insert": lambda store: store.insert("p", "k", b"v"),
    "replace": lambda store: store.replace(ENTITY, b"v"),
    "write": lambda store: store.write("p", {"k": b"v"}),
    "delete": lambda store: store.delete("p", ["k"]),
    "read": lambda store: store.read("p", "k"),
    "partition": lambda store: store.partition("p"),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    "answer", [error(429, "TooManyRequests"), BUSY, html(502), Answer(0)], ids=lambda a: a.status
)
def test_gives_up_after_a_few_tries(
    fake: Fake, store: StateStore, waits: list[float], operation: str, answer: Answer
) -> None:
    """Every operation is tried again on 429, 5xx and a broken connection, with growing waits."""
    fake.answers.append(answer)
    with pytest.raises(StateUnavailable):
        OPERATIONS[operation](store)
    assert len(fake.requests) == TRIES
    assert waits == [0.5, 1.0, 2.0]


def test_passing_trouble_is_not_seen(fake: Fake, store: StateStore, waits: list[float]) -> None:
    """An insert that is throttled twice succeeds, after the waits that Azure asked for, capped."""
    fake.answers.extend(
        [
            error(429, "TooManyRequests", Retry_After="3"),
            error(429, "TooManyRequests", Retry_After="900"),
            CREATED,
        ]
    )
    assert store.insert("p", "k", b"v").etag == 'W/"created"'
    assert waits == [3.0, 10.0]


@pytest.mark.parametrize("lost", [BUSY, Answer(0)], ids=["503", "hung up"])
@pytest.mark.parametrize(
    ("operation", "refusal"),
    [("insert", error(409, "EntityAlreadyExists")), ("replace", error(412, "ConditionNotMet"))],
    ids=["insert", "replace"],
)
def test_write_that_meets_itself(
    fake: Fake, store: StateStore, lost: Answer, operation: str, refusal: Answer
) -> None:
    """A write that was done but whose answer was lost is not taken for another worker's."""
    fake.answers.extend([lost, refusal])
    fake.echoes_writer = True
    entity = OPERATIONS[operation](store)
    assert entity == Entity("p", "k", b"v", 'W/"echo"')
    assert fake.methods[-1] == "GET"


def test_write_of_another(fake: Fake, store: StateStore) -> None:
    """A row that another wrote is a Conflict on replace and Exists on insert."""
    other = Answer(200, '{"odata.etag": "W/\\"2\\"", "writer": "0123456789abcdef"}')
    fake.answers.extend([error(412, "UpdateConditionNotSatisfied"), other])
    with pytest.raises(Conflict, match="changed or deleted by another"):
        store.replace(ENTITY, b"v")
    fake.answers.clear()
    fake.answers.extend([error(409, "EntityAlreadyExists"), other])
    with pytest.raises(Exists):
        store.insert("p", "k", b"v")


def test_missing_table_is_made_once(fake: Fake, store: StateStore) -> None:
    """The table is made when it is found to be missing, and the call is then repeated."""
    fake.answers.extend([error(404, "TableNotFound"), error(409, "TableAlreadyExists"), EMPTY])
    assert store.partition("p") == []
    assert fake.methods == ["GET", "POST", "GET"]
    assert store.partition("p") == []
    assert fake.methods == ["GET", "POST", "GET", "GET"]


def test_table_being_deleted(fake: Fake, store: StateStore) -> None:
    """A table that somebody is deleting is reported as that."""
    fake.answers.extend([error(404, "TableNotFound"), error(409, "TableBeingDeleted")])
    with pytest.raises(StateUnavailable, match="somebody deleted the table"):
        store.partition("p")


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("AuthorizationPermissionMismatch", "give the identity the role Storage Table Data"),
        ("AuthorizationFailure", "firewall.*Storage Table Data Contributor"),
        ("AuthenticationFailed", "account key or SAS is wrong or has run out"),
    ],
)
def test_refused(fake: Fake, store: StateStore, operation: str, code: str, text: str) -> None:
    """A 403 is not tried again and says which role, firewall or key to look at."""
    fake.answers.append(error(403, code))
    with pytest.raises(StateUnavailable, match=f"answered 403 {code}: .*{text}"):
        OPERATIONS[operation](store)
    assert len(fake.requests) == 1


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("status", [200, 202, 404])
def test_not_table_storage(fake: Fake, store: StateStore, operation: str, status: int) -> None:
    """A web page in place of an answer is an error that says to check the address."""
    fake.answers.append(html(status))
    with pytest.raises(StateUnavailable, match="check the address"):
        OPERATIONS[operation](store)


def test_too_large_for_azure(fake: Fake, store: StateStore) -> None:
    """Should Azure find an entity too large after all, that is TooLarge as well."""
    fake.answers.append(error(413, "RequestBodyTooLarge"))
    with pytest.raises(TooLarge):
        store.write("p", {"k": b"v"})
    fake.answers[0] = error(400, "EntityTooLarge")
    with pytest.raises(TooLarge):
        store.insert("p", "k", b"v")


def test_transactions_keep_the_limits() -> None:
    """Transactions hold at most 100 rows and stay below 4 MiB as they are sent."""
    records = [
        record_of("p", f"{n:04}", bytes(MAX_VALUE if n % 100 < 6 else 9)) for n in range(350)
    ]
    found = list(batches(records))
    assert [record for batch in found for record in batch] == records
    for batch in found:
        values = [value for record in batch for value in record.values()]
        sent = sum(len(b64encode(v)) if isinstance(v, bytes) else len(v) for v in values)
        assert len(batch) <= 100
        assert sent < 4 * 1024 * 1024


def test_a_quiet_tick_is_four_calls(fake: Fake, store: StateStore) -> None:
    """Heads, changes, open messages and the commit of a shard take one request each."""
    fake.answers.extend([EMPTY, EMPTY, EMPTY, CREATED])
    ledger = Ledger(store)
    ledger.heads()
    ledger.changes()
    ledger.open_messages()
    prior = Versioned(Head(), Entity("heads", "s.r", b"", 'W/"1"'))
    ledger.commit("s.r", prior, Head(build=1), {})
    assert fake.methods == ["GET", "GET", "GET", "PUT"]


def test_unreachable_without_secrets(waits: list[float]) -> None:
    """Where nothing listens, the whole trace holds no key and no SAS."""
    with fake_tables() as gone:
        port = gone.port
    texts = []
    for secret in (f"AccountKey={SECRET}", "SharedAccessSignature=sv=2020&sig=c2VjcmV0"):
        target = f"AccountName=a;{secret};TableEndpoint=http://127.0.0.1:{port}/a"
        store = TableStore(connect(target, "tokenwatch"), waits.append)
        with pytest.raises(StateError, match="cannot be reached") as caught:
            store.read("p", "k")
        texts.append("".join(traceback.format_exception(caught.value)))
        store.close()
    assert "c2VjcmV0" not in "".join(texts)


def test_no_token() -> None:
    """A credential that cannot sign in is told apart from a refusal."""

    class NoCredential:
        def get_token(self, *scopes: str, **options: object) -> AccessToken:
            raise ClientAuthenticationError("no account; secret-hint")

    target = "https://account.table.core.windows.net"
    store = TableStore(connect(target, "tokenwatch", NoCredential()))
    with pytest.raises(StateUnavailable, match="no token could be had: sign in with `az login`"):
        store.read("p", "k")
    store.close()


def test_two_stores_make_one_table(emulated: Azurite) -> None:
    """A table that several workers find missing at once serves them all."""
    stores = [TableStore(connect(emulated.connection_string, "shared1")) for _ in range(2)]
    stores[0].insert("p", "a", b"")
    stores[1].insert("p", "b", b"")
    assert stores[0].keys("p") == ["a", "b"]
    for store in stores:
        store.close()
