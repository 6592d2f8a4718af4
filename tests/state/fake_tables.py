"""A stand-in for Table Storage that gives the unkind answers which Azurite never gives."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

SECRET = "c2VjcmV0LWtleQ=="


@dataclass(frozen=True)
class Answer:
    """One scripted answer; a status of 0 hangs up without one."""

    status: int
    body: str = ""
    headers: dict[str, str] = field(default_factory=dict)


def error(status: int, code: str, **headers: str) -> Answer:
    """An error as Table Storage words it."""
    text = {"lang": "en-US", "value": f"{code}\nRequestId:1\nTime:2026-12-01T00:00:00Z"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, json.dumps({"odata.error": {"code": code, "message": text}}), named)


def html(status: int) -> Answer:
    """What a proxy or gateway in between says."""
    page = "<html><head><title>Sorry</title></head><body><hr>Gateway</body></html>"
    return Answer(status, page, {"Content-Type": "text/html"})


CREATED = Answer(204, "", {"ETag": 'W/"created"'})
EMPTY = Answer(200, '{"value": []}')


@dataclass
class Fake:
    """Gives its answers in turn, the last one for ever, and keeps the requests."""

    port: int
    answers: deque[Answer] = field(default_factory=deque)
    requests: list[tuple[str, str, bytes]] = field(default_factory=list)
    echoes_writer: bool = False
    """Whether a read is answered as if the first write had been done."""

    @property
    def connection_string(self) -> str:
        endpoint = f"http://127.0.0.1:{self.port}/account"
        return f"AccountName=account;AccountKey={SECRET};TableEndpoint={endpoint};"

    def next_answer(self) -> Answer:
        method, _, _ = self.requests[-1]
        if self.echoes_writer and method == "GET":
            writer = json.loads(self.requests[0][2])["writer"]
            return Answer(200, json.dumps({"odata.etag": 'W/"echo"', "writer": writer}))
        return self.answers.popleft() if len(self.answers) > 1 else self.answers[0]

    @property
    def methods(self) -> list[str]:
        return [method for method, _, _ in self.requests]


@contextmanager
def fake_tables() -> Iterator[Fake]:
    """A running Fake."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    fake = _Handler.fakes[server.server_port] = Fake(server.server_port)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    fakes: dict[int, Fake] = {}

    def _answer(self) -> None:
        fake = self.fakes[self.server.server_address[1]]  # type: ignore[index]
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        fake.requests.append((self.command, self.path, body))
        answer = fake.next_answer()
        self.close_connection = True
        if answer.status == 0:
            return
        self.send_response(answer.status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(answer.body))}
        for name, value in (headers | answer.headers).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body.encode())

    do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815  http.server asks for these names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keeps the test's output clean."""
