"""Posts the messages that are due: claim, post, record."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import requests

from shared.model import Message
from shared.teams.address import Webhook
from shared.teams.body import body, short_body
from shared.teams.links import Links
from shared.teams.messages import after, due
from shared.teams.outcome import Outcome
from shared.teams.webhook import post

PACE = 1.0
"""Seconds between two posts to a channel: Teams drops what comes faster, after its 202."""
CLAIM = 120.0
"""Seconds for which a message is one worker's own; more than the longest post takes."""
POST_TIMEOUT, LEAST_TIMEOUT = 15.0, 3.0
"""Seconds; with less than the latter left of the budget no post is begun."""


class Versioned(Protocol):
    """A message as the ledger holds it, with what tells whether another worker changed it."""

    @property
    def value(self) -> Message: ...


V = TypeVar("V", bound=Versioned)


class Ledger(Protocol[V]):
    """Where messages are kept; `claim` and `record` raise `lost` if another worker was first."""

    def open_messages(self) -> Sequence[V]: ...

    def claim(self, message: V, until: float, /) -> V: ...

    def record(self, message: V, value: Message, /) -> object: ...


@dataclass(frozen=True)
class Run(Generic[V]):
    """What one run posts with."""

    ledger: Ledger[V]
    channels: Mapping[str, Webhook]
    links: Links
    session: requests.Session
    now: Callable[[], float]
    lost: type[Exception]
    """What the ledger raises if another worker was first; its module is not ours to import."""
    sleep: Callable[[float], None] = time.sleep


def deliver(run: Run[V], budget_seconds: float) -> tuple[Message, ...]:
    """Post what is due, most urgent first; the messages as they were recorded.

    What does not fit in the budget waits for the next run. So does the rest of a channel that did
    not take a post: of one that is down a single message fails, not all of them. A channel that
    asks for a short wait gets a second turn, once all others have had theirs.
    """
    end = run.now() + budget_seconds
    free: dict[str, float] = {}
    done = _turn(run, run.now(), end, free)
    again = {message.next_try for message in done if message.state == "pending"}
    for moment in sorted(asked for asked in again if asked <= end - LEAST_TIMEOUT):
        run.sleep(max(moment - run.now(), 0.0))
        done += _turn(run, moment, end, free)
    return tuple(done)


def _turn(run: Run[V], moment: float, end: float, free: dict[str, float]) -> list[Message]:
    """Post what is due at a moment; `free` says when each channel may be posted to again."""
    held = {message.value.id: message for message in run.ledger.open_messages()}
    done: list[Message] = []
    for message in due((entry.value for entry in held.values()), max(run.now(), moment)):
        now = max(run.now(), moment)
        wait = max(free.get(message.channel, 0.0) - now, 0.0)
        left = end - now - wait
        if wait > PACE or left < LEAST_TIMEOUT:
            continue
        if wait:
            run.sleep(wait)
        recorded = _attempt(run, held[message.id], min(POST_TIMEOUT, left))
        if recorded is not None:
            done.append(recorded)
            free[message.channel] = _free(recorded, run.now())
    return done


def _free(recorded: Message, now: float) -> float:
    """When a channel may be posted to after this."""
    if recorded.state in ("accepted", "delivered"):
        return now + PACE
    return recorded.next_try if recorded.state == "pending" else math.inf


def _attempt(run: Run[V], held: V, timeout: float) -> Message | None:
    """Claim, post and record one message; None if another worker has it."""
    try:
        claimed = run.ledger.claim(held, run.now() + CLAIM)
        outcome = _posted(run, claimed.value, timeout)
        recorded = after(claimed.value, outcome, run.now())
        run.ledger.record(claimed, recorded)
    except run.lost:
        return None
    return recorded


def _posted(run: Run[V], message: Message, timeout: float) -> Outcome:
    """A card that Teams finds too large is posted once more at once, in short."""
    webhook = run.channels.get(message.channel)
    if webhook is None:  # perhaps a setting that is still to come: not a reason to lose an alert
        return Outcome("retry", f"no webhook is configured for channel {message.channel!r}")
    event = message.events[0]
    outcome = post(run.session, webhook, body(event, message.id, run.links), timeout)
    if outcome.kind != "too_large":
        return outcome
    return post(run.session, webhook, short_body(event, message.id, run.links), timeout)
