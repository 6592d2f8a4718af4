"""What is committed and told: two minutes, one shard, channels that work and one that is gone."""

from __future__ import annotations

import msgspec
from azure.core.credentials import TokenCredential
from msgspec.structs import replace

from shared.model import Deployment, Event, Head
from shared.state import open_store
from shared.state.codec import pack
from shared.state.ledger import Ledger, Lost, attempt_id, event_row
from shared.teams.address import Webhook
from shared.teams.deliver import deliver
from shared.teams.limit import Limits
from shared.teams.run import Run
from shared.teams.sessions import Sessions
from shared.telling import announce
from tests.crash.mortal import Boundaries, MortalSession, MortalStore
from tests.teams.clock import Clock
from tests.teams.samples import ACCOUNT, FIRED, LINKS, storm

START = 29_900_700
"""The minute of the first tick, at noon: a day has one notice of a channel that is down."""
SHARD = "sub.westeurope"
TOLD = ("ops", "gone")
FALLBACKS = {"gone": "backup"}
LIMITS = Limits(ordinary=3, critical=4, most=8, apart=60.0)


class Job(msgspec.Struct):
    """One tick of one process."""

    state: str
    channels: dict[str, str]
    now: float
    die_at: int = 0


def minutes() -> tuple[tuple[Event, ...], ...]:
    """The events of two minutes: single ones, a group, critical ones; then some of their ends."""
    group = [
        replace(FIRED, id=f"{n}-f", episode=n, deployment=Deployment(ACCOUNT, n)) for n in "abc"
    ]
    singles = storm(7)
    critical = replace(singles[0], id="critical-f", episode="critical", severity="critical")
    first = [replace(event, slot=START, since=START - 5) for event in (*singles, *group, critical)]
    ended = [*first[:4], first[7], first[8], first[-1]]
    second = [
        replace(e, id=f"{e.episode}-r", kind="resolved", slot=START + 1, reason="recovered")
        for e in ended
    ]
    return tuple(first), tuple(second)


def commit(ledger: Ledger, now: float) -> None:
    """Commits the minutes that are past and were not committed yet."""
    for number, events in enumerate(minutes()):
        prior = ledger.heads()[0].get(SHARD)
        judged = prior.value.watermarks.get(ACCOUNT, -1) if prior else -1
        if judged >= number or now < (START + number) * 60:
            continue
        attempt = attempt_id(now, f"n{number}")
        row = event_row(attempt)
        kept = prior.value.events if prior else ()
        head = Head(attempt=attempt, watermarks={ACCOUNT: number}, events=(*kept, row))
        ledger.commit(SHARD, prior, head, {row: pack(events)})


def tick(job: Job) -> int:
    """Commit, announce, deliver; the number of boundaries that were passed."""
    boundaries, clock = Boundaries(job.die_at), Clock(job.now)
    ledger = Ledger(MortalStore(open_store(job.state, nobody), boundaries))
    commit(ledger, job.now)
    troubles = announce(ledger, ledger.heads()[0], TOLD)
    assert not troubles, troubles
    run = Run(
        ledger,
        {name: Webhook(url) for name, url in job.channels.items()},
        LINKS,
        Sessions(lambda: MortalSession(boundaries)),
        clock.now,
        Lost,
        clock.sleep,
        LIMITS,
        FALLBACKS,
    )
    deliver(run, 50.0)
    run.sessions.close()
    ledger.store.close()
    return boundaries.count


def nobody() -> TokenCredential:
    raise AssertionError("no credential is needed here")
