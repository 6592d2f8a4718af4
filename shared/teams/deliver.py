"""Posts the messages that are due, every channel by itself."""

from __future__ import annotations

import time
from collections.abc import Iterable
from threading import Thread

from msgspec.structs import replace

from shared.model import Channel, Message
from shared.teams.courier import Courier
from shared.teams.down import down_since, is_recent
from shared.teams.fallback import handed_over
from shared.teams.messages import WAITING
from shared.teams.run import Run, V


def deliver(run: Run[V], budget_seconds: float) -> tuple[Message, ...]:
    """Post what is due, in all channels at once; the messages as they were recorded.

    What does not fit in the budget waits for the next run. A channel that hangs, throttles or is
    gone costs no other one: each has a thread, a session and this deadline. A thread that hangs
    beyond it is left behind; what it holds is claimed, and posted again once the claim runs out.
    """
    end = run.now() + budget_seconds
    held = [*run.ledger.open_messages()]
    held += _told_elsewhere(run, held)
    waiting: dict[str, list[V]] = {}
    for entry in held:
        if entry.value.state in WAITING:
            waiting.setdefault(entry.value.channel, []).append(entry)
    states = run.ledger.channels() if waiting else {}
    couriers = [
        Courier(run, name, entries, states.get(name, Channel()), end)
        for name, entries in waiting.items()
    ]
    _at_once(couriers, budget_seconds + run.grace)
    return tuple(message for courier in couriers for message in tuple(courier.done))


def _at_once(couriers: Iterable[Courier[V]], patience: float) -> None:
    """Let them serve their channels; what one raised is raised when all had their turn."""
    until = time.monotonic() + patience
    threads = [
        (courier, Thread(target=courier.serve, name=f"channel-{courier.name}", daemon=True))
        for courier in couriers
    ]
    for _, thread in threads:
        thread.start()
    for _, thread in threads:
        thread.join(max(until - time.monotonic(), 0.0))
    for courier, _ in threads:
        if courier.error is not None:
            raise courier.error


def _told_elsewhere(run: Run[V], held: Iterable[V]) -> list[V]:
    """Tell the others of channels that are down, and their fallbacks what they refused.

    Read from what is kept, so that a crash after a failure loses neither.
    """
    now = run.now()
    failed = [entry.value for entry in held if is_recent(entry.value, now)]
    notices = {
        notice.id: notice for one in failed for notice in down_since(one, tuple(run.channels))
    }
    handed = [
        (one, told) for one in failed if (told := handed_over(one, run.fallbacks, now)) is not None
    ]
    messages = [*notices.values(), *(told for _, told in handed)]
    new = list(run.ledger.add_messages(messages))
    run.ledger.finish([replace(one, digest_id=told.id) for one, told in handed])
    return new
