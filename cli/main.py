"""The script `tokenwatch`. Whenever Ctrl-C comes, it ends with one line and no traceback."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

STOPPED = 130
"""The exit code after Ctrl-C, as shells have it."""


class Told(SystemExit):
    """The end of a command that Ctrl-C stopped and that has said so."""


def main() -> None:
    # Imports take a second. An exception in the middle of one may be caught by whoever tries an
    # optional package, so the process ends without one. In the background Ctrl-C is ignored.
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda _signal, _frame: _leave("stopped"))
    from cli.commands import app

    signal.signal(signal.SIGINT, usual)
    try:
        app()
    except KeyboardInterrupt:
        _leave("stopped")
    except SystemExit as end:
        if end.code == STOPPED:
            _leave("" if isinstance(end, Told) else "stopped")
        raise


def _leave(word: str) -> NoReturn:
    """Ends at once: threads that still wait for an answer are not waited for."""
    if word:
        os.write(2, f"{word}\n".encode())
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            continue
    os._exit(STOPPED)
