"""Time that tests set."""

from __future__ import annotations

import threading


class Clock:
    """Waiting takes none of the real one, and moves only the time of the
    thread that waits: channels are served side by side."""

    def __init__(self, start: float) -> None:
        self.start = start
        self.waited: dict[str, float] = {}

    def now(self) -> float:
        return self.start + self.waited.get(threading.current_thread().name, 0.0)

    def sleep(self, seconds: float) -> None:
        thread = threading.current_thread().name
        self.waited[thread] = self.waited.get(thread, 0.0) + seconds

    def join(self) -> None:
        """All threads are done: it is as late as it is for the last of them."""
        self.start += max(self.waited.values(), default=0.0)
        self.waited.clear()
