"""What an endpoint says: a status and a JSON object. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
"""No cache tells what was healthy once, and no browser takes a text in JSON for a page."""


@dataclass(frozen=True)
class Answer:
    status: int
    body: Mapping[str, object]


def refused(status: int, error: str, problems: Sequence[str] = ()) -> Answer:
    """An error, and every problem at once where the asker can mend them."""
    listed = {"problems": list(problems)} if problems else {}
    return Answer(status, {"error": error, **listed})


NOT_STARTED = refused(503, "the watchdog cannot start; the log of the app says why")
NO_STATE = refused(503, "the state cannot be used now; the log of the app says why")
