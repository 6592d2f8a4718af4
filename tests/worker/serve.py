"""Serves the app's real functions over HTTP on this machine: `python -m tests.worker.serve`.

The Functions host cannot be had from a package registry; this stands in for the little of it that
translates: HTTP to RpcHttp, routes to functions, `POST /admin/functions/NAME` to a timer's payload;
`GET /admin/functions/` lists what the worker indexed.
Keys are not asked for, and host.json is not read. The language worker library is the real one.
"""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.worker.library import Worker, WorkerError

ROOT = Path(__file__).parents[2]
PREFIX = "/api/"
ADMIN = "/admin/functions/"


class Server(ThreadingHTTPServer):
    """Holds the worker for its handlers."""

    daemon_threads = True

    def __init__(self, port: int, worker: Worker) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.worker = worker

    def routed(self, method: str, path: str) -> str | None:
        """The name of the function that answers, if there is one."""
        for function in self.worker.functions.values():
            trigger = function.trigger
            if path == PREFIX + trigger.get("route", "\0") and method in trigger["methods"]:
                return function.name
        return None


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == ADMIN:
            functions = self.server.worker.functions.values()
            self._say(200, json.dumps([asdict(function) for function in functions]).encode())
        else:
            self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.rfile.read(int(self.headers.get("Content-Length", "0"))))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  its name there
        """The log is the app's alone."""

    def _serve(self, body: bytes) -> None:
        path = urlsplit(self.path).path
        name = self.server.routed(self.command, path)
        try:
            if name:
                self._translate(self.server.worker.invoke(name, self._request(body)).http)
            elif self.command == "POST" and path.startswith(ADMIN):
                data = self.server.worker.protos.TypedData(json=body.decode())
                self.server.worker.invoke(path.removeprefix(ADMIN), data)
                self._say(202, b"")
            else:
                self._say(404, b"")
        except WorkerError as error:
            self._say(500, str(error).encode())

    def _request(self, body: bytes) -> Any:
        protos = self.server.worker.protos
        http = protos.RpcHttp(
            method=self.command,
            url=f"http://{self.headers['Host']}{self.path}",
            headers={name.casefold(): value for name, value in self.headers.items()},
            query=dict(parse_qsl(urlsplit(self.path).query)),
            # The worker says that it takes bytes (RawHttpBodyBytes), so the host sends them.
            body=protos.TypedData(bytes=body) if body else None,
        )
        return protos.TypedData(http=http)

    def _translate(self, http: Any) -> None:
        self._say(int(http.status_code), http.body.bytes, dict(http.headers))

    def _say(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response_only(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    """Says where it listens in the first line of its output, and logs as the worker does: INFO."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    # In Azure the app's folder comes last, so a package with a module of our names would win.
    sys.path[:] = [path for path in sys.path if path not in ("", str(ROOT))] + [str(ROOT)]
    with Server(int(sys.argv[1]) if sys.argv[1:] else 0, Worker(ROOT)) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
