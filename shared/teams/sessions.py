"""HTTP sessions, one for each channel: no channel waits for a connection of another."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import requests


class Sessions:
    """Sessions that live as long as the process; safe for several threads."""

    def __init__(self, make: Callable[[], requests.Session] = requests.Session) -> None:
        self._make = make
        self._lock = Lock()
        self._sessions: dict[str, requests.Session] = {}

    def of(self, channel: str) -> requests.Session:
        with self._lock:
            if channel not in self._sessions:
                self._sessions[channel] = self._make()
            return self._sessions[channel]

    def close(self) -> None:
        with self._lock:
            for session in self._sessions.values():
                session.close()
            self._sessions.clear()
