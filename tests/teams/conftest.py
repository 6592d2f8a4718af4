"""A real HTTP server on loopback that answers as scripted, and a ledger in memory."""

from __future__ import annotations

import contextlib
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import pytest
import requests
from msgspec.structs import replace

from shared.model import Channel, Message
from shared.teams.address import Webhook
from shared.teams.deliver import deliver
from shared.teams.limit import LIMITS, Limits
from shared.teams.run import Run
from shared.teams.sessions import Sessions
from tests.teams.clock import Clock
from tests.teams.samples import LINKS

SIG = "Zx9-SECRET_sig~value0"
TARGET = f"/workflows/abc/triggers/manual/paths/invoke?sp=%2Ftriggers%2Fmanual&sv=1.0&sig={SIG}"


@dataclass(frozen=True)
class Reply:
    """One scripted answer."""

    status: int = 202
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    """Hang up instead of answering."""
    trickle: float = 0.0
    """Seconds before each byte of the body."""


@dataclass
class Hook:
    """The server's script and what came in."""

    url: str
    script: deque[Reply] = field(default_factory=deque)
    paths: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def webhook(self) -> Webhook:
        return Webhook(self.url + TARGET)

    def cards(self) -> list[Any]:
        return [msgspec.json.decode(body) for body in self.bodies]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hook: Hook

    def do_POST(self) -> None:
        hook = self.hook
        hook.paths.append(self.path)
        hook.headers.append(dict(self.headers))
        hook.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        reply = hook.script.popleft() if hook.script else Reply()
        time.sleep(reply.delay)
        if reply.cut:
            self.close_connection = True
            return
        content = reply.body.encode()
        self.send_response(reply.status)
        for name, value in {**reply.headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        for byte in content if reply.trickle else ():
            time.sleep(reply.trickle)
            self.wfile.write(bytes([byte]))
        if not reply.trickle:
            self.wfile.write(content)

    def do_CONNECT(self) -> None:
        self.hook.paths.append(self.path)
        self.send_error(502)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that time out hang up; that is what is tested."""


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def hook() -> Iterator[Hook]:
    with hooked() as hook:
        yield hook


@contextmanager
def hooked(tls: ssl.SSLContext | None = None) -> Iterator[Hook]:
    """A server on a free port of loopback; with a context it talks TLS."""

    class Own(Handler):
        pass

    with QuietServer(("127.0.0.1", 0), Own) as server:
        if tls:
            server.socket = tls.wrap_socket(server.socket, server_side=True)
        Own.hook = Hook(f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield Own.hook
        server.shutdown()
        thread.join()


@pytest.fixture
def session() -> Iterator[requests.Session]:
    with requests.Session() as session:
        yield session


class LostError(Exception):
    """Another worker was first."""


@dataclass(frozen=True)
class Row:
    value: Message
    version: int


class MemoryLedger:
    """Messages with versions and channels, as the table keeps them."""

    def __init__(self, *messages: Message) -> None:
        self.rows = {message.id: Row(message, 0) for message in messages}
        self.sent: dict[str, Message] = {}
        self.remembered: dict[str, Channel] = {}

    def open_messages(self) -> Sequence[Row]:
        return list(self.rows.values())

    def find(self, id_: str, /) -> Message | None:
        return self.rows[id_].value if id_ in self.rows else self.sent.get(id_)

    def add_messages(self, messages: Iterable[Message], /) -> Sequence[Row]:
        new = {m.id: Row(m, 0) for m in messages if self.find(m.id) is None}
        self.rows |= new
        return list(new.values())

    def claim(self, message: Row, until: float, /) -> Row:
        return self._put(message, replace(message.value, state="claimed", claimed_until=until))

    def record(self, message: Row, value: Message, /) -> Row | None:
        row = self._put(message, value)
        if value.state in ("accepted", "delivered"):
            self.finish([value])
            return None
        return row

    def fold(self, messages: Sequence[Row], digest_id: str, until: float, /) -> Sequence[Row]:
        taken = []
        for row in messages:
            folded = replace(row.value, state="folded", digest_id=digest_id, claimed_until=until)
            with contextlib.suppress(LostError):
                taken.append(self._put(row, folded))
        return taken

    def finish(self, messages: Iterable[Message], /) -> None:
        for message in messages:
            self.sent[message.id] = message
            self.rows.pop(message.id, None)

    def channels(self) -> Mapping[str, Channel]:
        return dict(self.remembered)

    def note(self, name: str, change: Callable[[Channel], Channel], /) -> Channel:
        self.remembered[name] = change(self.remembered.get(name, Channel()))
        return self.remembered[name]

    def _put(self, message: Row, value: Message) -> Row:
        if value.id not in self.rows or self.rows[value.id].version != message.version:
            raise LostError
        self.rows[value.id] = Row(value, message.version + 1)
        return self.rows[value.id]

    @property
    def messages(self) -> list[Message]:
        return [row.value for row in self.rows.values()]


@dataclass
class Desk:
    """Delivers from a ledger at times that the test sets."""

    ledger: MemoryLedger
    channels: dict[str, Webhook]
    session: requests.Session
    now: float = 1000.0
    slept: list[float] = field(default_factory=list)
    limits: Limits = LIMITS
    fallbacks: dict[str, str] = field(default_factory=dict)

    def deliver(self, budget: float = 50.0) -> tuple[Message, ...]:
        clock = Clock(0.0)

        def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            clock.sleep(seconds)

        run = Run(
            self.ledger,
            self.channels,
            LINKS,
            Sessions(lambda: self.session),
            lambda: self.now + clock.now(),
            LostError,
            sleep,
            self.limits,
            self.fallbacks,
        )
        done = deliver(run, budget)
        clock.join()
        self.now += clock.start
        return done
