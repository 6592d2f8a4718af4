"""Runs the app on a free port of this machine, in a thread, for as long as a `with` lasts."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn
from starlette.applications import Starlette

from emulator.faults import Faults
from emulator.state import Emulator, Logged
from emulator.times import Clock
from emulator.webhook import Inbox

KEEP_ALIVE = 75
"""Seconds; long, so that a client's idle connection is not closed under its hands."""


@dataclass(frozen=True, slots=True)
class Running:
    """A running emulator."""

    url: str
    emulator: Emulator

    @property
    def clock(self) -> Clock:
        return self.emulator.clock

    @property
    def inbox(self) -> Inbox:
        return self.emulator.inbox

    @property
    def faults(self) -> Faults:
        return self.emulator.faults

    @property
    def log(self) -> list[Logged]:
        """The latest requests to getBatch and to webhooks."""
        return list(self.emulator.log)

    def webhook(self, channel: str) -> str:
        return f"{self.url}/teams/{channel}?sig=emulated"


@contextmanager
def serve(app: Starlette, port: int = 0) -> Iterator[Running]:
    """Serve an app from `create_app` on 127.0.0.1; port 0 takes a free one."""
    # The protocol is named because asyncio sends small answers at once only then.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        server = _server(app)
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.002)
        try:
            yield Running(f"http://127.0.0.1:{listener.getsockname()[1]}", app.state.emulator)
        finally:
            server.should_exit = True
            # Requests that hang on purpose are not waited for.
            server.force_exit = True
            thread.join()


def _server(app: Starlette) -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        timeout_keep_alive=KEEP_ALIVE,
    )
    return uvicorn.Server(config)
