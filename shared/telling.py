"""From the events that heads name to the messages that channels are sent."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from shared.model import SETTLE, Event, Head
from shared.notices import while_away
from shared.state.ledger import Ledger, Lost, StateError, Versioned, attempt_of, attempt_time
from shared.teams.messages import messages_for

log = logging.getLogger("tokenwatch")
LATE = 15
"""Minutes after its end at which an episode that nobody was told of is no news any more."""


def announce(
    ledger: Ledger, heads: Mapping[str, Versioned[Head]], channels: Sequence[str]
) -> tuple[str, ...]:
    """Makes messages of the events that heads name, and takes the events out of the heads.

    Messages have ids that follow from their events, so a crash in between repeats nothing. What
    went wrong is returned in words.
    """
    troubles = []
    for shard, prior in heads.items():
        try:
            for row in prior.value.events:
                told = to_tell(ledger.events(shard, [row]), attempt_time(attempt_of(row)))
                ledger.add_messages(messages_for(told, channels))
            if prior.value.events:
                ledger.commit(shard, prior, replace(prior.value, events=()), {})
        except Lost:
            log.info("another worker tells the events of %s", shard)
        except StateError as error:
            troubles.append(f"{shard}: {error}")
    return tuple(troubles)


def to_tell(events: Sequence[Event], written: float | None) -> list[Event]:
    """What people are told of events that were committed together at a time (Unix seconds).

    Episodes that began and ended while the watchdog was away are told in one notice, after what
    is going on now.
    """
    told = [event for event in events if event.notify]
    if written is None:
        return told
    newest = int(written // 60) - SETTLE - LATE
    begun = {event.episode for event in told if event.kind == "fired"}
    over = {e.episode for e in told if e.kind == "resolved" and e.slot < newest} & begun
    if not over:
        return told
    past = [event for event in told if event.episode in over]
    return [*(event for event in told if event.episode not in over), while_away(past)]
