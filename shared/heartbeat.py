"""A dead man's switch: a service elsewhere is told of each tick, and raises the alarm itself when
it hears nothing. It is the one alarm that works when nothing here does."""

from __future__ import annotations

import logging
from urllib.parse import urlsplit, urlunsplit

import requests

from shared.teams.address import Webhook
from shared.teams.webhook import post

log = logging.getLogger("tokenwatch")
TIMEOUT = 5.0
"""Seconds: a tick does not wait for it."""


def beat(address: Webhook, troubles: tuple[str, ...]) -> None:
    """Tells that a tick is done; with troubles at the address + `/fail`, as healthchecks.io and its
    like have it. What goes wrong is logged, without the address."""
    target = _failing(address) if troubles else address
    body = "\n".join(troubles)[:2000].encode()
    with requests.Session() as session:
        outcome = post(session, target, body, TIMEOUT)
    if outcome.kind not in ("accepted", "delivered"):
        cure = "check TOKENWATCH_HEARTBEAT_URL, and the way out"
        log.warning("the heartbeat was not heard (%s): %s", outcome.kind, cure)


def _failing(address: Webhook) -> Webhook:
    parts = urlsplit(address.reveal())
    return Webhook(urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/fail")))
