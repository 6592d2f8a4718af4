"""`POST /api/changes`: what is asked, checked in full before anything is recorded. Pure."""

from __future__ import annotations

from datetime import datetime

import msgspec

from shared.endpoints.answer import Answer, refused
from shared.endpoints.fields import Reader
from shared.model import Change, iso

MOST_BYTES = 8 * 1024
_ORDER = (415, 413)
"""Which status stands for several problems."""


def asked(content_type: str, body: bytes, now: datetime) -> Change | Answer:
    """The change that a request asks to record, or the answer that names all that is wrong."""
    if problems := _unreadable(content_type, body):
        return _refusal(min(problems, key=_ORDER.index), list(problems.values()))
    try:
        sent = msgspec.json.decode(body)
    # What is nested too deeply, or is no UTF-8, is no JSON to us either.
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _refusal(400, ["the body is not valid JSON"])
    if not isinstance(sent, dict):
        return _refusal(400, ["the body must be a JSON object"])
    reader = Reader(sent)
    change = reader.change(now)
    wrong = reader.unknown() + reader.problems
    return _refusal(400, wrong) if wrong else change


def recorded(change: Change, new: bool) -> Answer:
    """What is said of a change that is in the state now; `new` if it was not there before."""
    body = {
        "recorded": new,
        "kind": change.kind,
        "deployment": change.deployment,
        "reference": change.reference,
        "time": iso(change.slot),
    }
    return Answer(201 if new else 200, body)


def _unreadable(content_type: str, body: bytes) -> dict[int, str]:
    problems = {}
    if content_type.partition(";")[0].strip().casefold() != "application/json":
        problems[415] = "the content type must be application/json"
    if len(body) > MOST_BYTES:
        problems[413] = f"the body has {len(body):,} bytes, and at most {MOST_BYTES:,} are taken"
    return problems


def _refusal(status: int, problems: list[str]) -> Answer:
    return refused(status, "the change was not recorded", problems)
