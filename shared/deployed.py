"""What the triggers call: one watchdog a process, made from the app settings when first needed."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from threading import Lock
from time import monotonic

import azure.functions as func
import msgspec

from shared.build import open_watch
from shared.endpoints.answer import HEADERS, NO_STATE, NOT_STARTED, Answer
from shared.endpoints.changes import asked, recorded
from shared.endpoints.health import Watched, health
from shared.pipeline import Watch, tick
from shared.settings import read_settings
from shared.state.store import StateError
from shared.teams.address import check_url

log = logging.getLogger("tokenwatch")
# The SDKs log each request in ten lines at INFO. host.json cannot tell them from ours: to the host
# both are what the function logs. (`azure.functions` is the worker's own logger, so not all of it.)
for _sdk in ("azure.core", "azure.identity"):
    logging.getLogger(_sdk).setLevel(logging.WARNING)

FRESH = 5.0
"""Seconds for which an answer about health is given again: anybody may ask, and asking costs two
queries of the storage account."""

_OPENING = Lock()
_READING = Lock()
_told: list[tuple[float, Answer]] = []
"""The latest answer about health, and until when it is given again."""


@cache
def _watch() -> Watch:
    opened = open_watch(read_settings(os.environ, check_url))
    for problem in opened.rulebook.problems:
        log.log(logging.WARNING if problem.warning else logging.ERROR, "%s", problem)
    return opened


def watch() -> Watch:
    """The watchdog of this process. Functions run side by side, and one of them makes it.

    Raises:
        SettingsError: naming every app setting that is missing or wrong.
    """
    with _OPENING:
        return _watch()


def run_tick() -> None:
    """Judges and tells whatever is due now. Trouble is logged and fails the invocation."""
    report = tick(watch(), datetime.now(UTC))
    if report.troubles:
        raise RuntimeError("; ".join(report.troubles))


def record_change(request: func.HttpRequest) -> func.HttpResponse:
    """Records the change that a request asks for, if nothing is wrong with it."""
    now = datetime.now(UTC)
    change = asked(request.headers.get("content-type", ""), request.get_body(), now)
    if isinstance(change, Answer):
        return _response(change)
    return _response(_said(lambda w: recorded(change, w.ledger.record_change(change))))


def show_health() -> func.HttpResponse:
    """Reads how far everything was judged; at most once in some seconds, whoever asks."""
    with _READING:
        if not _told or _told[0][0] < monotonic():
            answer = _said(lambda w: health(_watched(w), datetime.now(UTC)))
            _told[:] = [(monotonic() + FRESH, answer)]
        return _response(_told[0][1])


def _watched(opened: Watch) -> Watched:
    heads, _ = opened.ledger.heads()  # one that cannot be read leaves its accounts unjudged
    return Watched(
        opened.accounts,
        {shard: head.value for shard, head in heads.items()},
        tuple(message.value.state for message in opened.ledger.open_messages()),
        opened.rulebook.build,
        len(opened.rulebook.errors),
    )


def _said(decide: Callable[[Watch], Answer]) -> Answer:
    """The answer of a watchdog; trouble is told to the log in full and to the asker in general."""
    try:
        opened = watch()
    except Exception:  # settings, rules or state: all of them are for the operator to see
        log.exception("the watchdog cannot start")
        return NOT_STARTED
    try:
        return decide(opened)
    except StateError as error:
        log.error("%s", error)
        return NO_STATE


def _response(answer: Answer) -> func.HttpResponse:
    return func.HttpResponse(
        msgspec.json.encode(answer.body),
        status_code=answer.status,
        headers=HEADERS,
        mimetype="application/json",
    )
