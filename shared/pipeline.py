"""One tick, the only place that knows all stages:

slots -> rulebook -> plan -> fetch -> frame -> evaluate -> advance -> commit      (each shard)
heads -> messages -> claim -> post -> record                                      (deliver)
"""

from __future__ import annotations

import json
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic, sleep

from shared.heartbeat import beat
from shared.keeping import Keeper, Prior
from shared.model import (
    SETTLE,
    Account,
    Event,
    Head,
    Message,
    slot_of,
)
from shared.monitor.listing import Lister
from shared.monitor.read import Poster
from shared.notices import broken_rules, rules_failing
from shared.rulebook.rules import Rulebook
from shared.rulebook.silences import silence_of
from shared.shards import Work, judge_shard
from shared.state.ledger import (
    Ledger,
    Lost,
    StateError,
)
from shared.teams.address import Webhook
from shared.teams.deliver import deliver
from shared.teams.links import Links
from shared.teams.messages import messages_for
from shared.teams.run import Run
from shared.teams.sessions import Sessions
from shared.telling import announce

log = logging.getLogger("tokenwatch")

BUDGET = 50.0
"""Seconds a tick may take; what is left waits for the next."""
JUDGING = 30.0
"""Seconds of it after which no further slot is begun, so that there is time to tell."""
REMEMBERED = 24 * 60
"""Minutes for which a change matters: longer than a catch-up and what it looks back."""


@dataclass
class Watch:
    """What a tick works with; lives as long as the process."""

    accounts: tuple[Account, ...]
    rulebook: Rulebook
    poster: Poster
    ledger: Ledger
    channels: Mapping[str, Webhook]
    links: Links
    sessions: Sessions = field(default_factory=Sessions)
    fallbacks: Mapping[str, str] = field(default_factory=dict)
    """By channel: the one that is told what it refuses for good."""
    sleep: Callable[[float], None] = sleep
    """Waits between two posts to one channel."""
    heartbeat: Webhook | None = None
    """Who is told of each tick."""
    lister: Lister | None = None
    """Asks which deployments there are."""
    keeper: Keeper = field(init=False)

    def __post_init__(self) -> None:
        self.keeper = Keeper(self.ledger, self.rulebook.build)


@dataclass(frozen=True)
class Report:
    """What a tick did, for logs and the command line."""

    slots: int = 0
    events: tuple[Event, ...] = ()
    messages: tuple[Message, ...] = ()
    tally: Mapping[str, Counter[str]] = field(default_factory=dict)
    queries: int = 0
    deployments: int = 0
    failures: tuple[str, ...] = ()
    """What could not be read, and why."""
    troubles: tuple[str, ...] = ()
    """What went wrong with the watchdog itself; never empty without a reason to look."""
    failing: tuple[str, ...] = ()
    """Rules that could not be judged, which is a defect of the watchdog."""


def tick(watch: Watch, now: datetime) -> Report:
    """Judges what is settled at `now`, commits it shard by shard, and delivers what is to be told.

    Doing it again changes nothing; a shard that fails costs no other.
    """
    began = monotonic()
    heads, corrupt = watch.ledger.heads()
    changes = watch.ledger.changes(since=slot_of(now) - REMEMBERED)
    muted = watch.ledger.silences(since=slot_of(now) - REMEMBERED)
    silences = tuple(silence_of(one.value) for one in muted)
    shards: dict[str, list[Account]] = defaultdict(list)
    for account in watch.accounts:
        shards[account.shard].append(account)
    for shard in heads:
        shards[shard]  # accounts may have been taken out of the settings: their alerts end
    for shard in corrupt:
        shards.pop(shard, None)

    def one(shard: str) -> tuple[Prior, Report]:
        work = Work(
            watch.rulebook,
            tuple(shards[shard]),
            changes,
            watch.poster,
            slot_of(now) - SETTLE - 1,
            lambda: monotonic() - began > JUDGING,
            silences,
            watch.lister.names if watch.lister else None,
        )
        return _judge_and_commit(watch, shard, heads.get(shard), work, now)

    with ThreadPoolExecutor(max_workers=min(8, len(shards)) or 1) as pool:
        judged = dict(zip(shards, pool.map(one, shards), strict=True))
    report = Report(troubles=tuple(str(error) for error in corrupt.values()))
    for _, other in judged.values():
        report = _both(report, other)
    kept = {shard: head for shard, (head, _) in judged.items() if head}
    report = _both(report, Report(troubles=announce(watch.ledger, kept, tuple(watch.channels))))
    notices = [broken_rules(watch.rulebook, now)] if watch.rulebook.errors else []
    notices += [rules_failing(report.failing, now)] if report.failing else []
    watch.ledger.add_messages(messages_for(notices, ("default",)))
    told = _deliver(watch, now, began)
    report = _both(report, Report(messages=told))
    _log(report, monotonic() - began)
    if watch.heartbeat:
        beat(watch.heartbeat, report.troubles)
    return report


def _deliver(watch: Watch, now: datetime, began: float) -> tuple[Message, ...]:
    """Posts what is due; the clock goes on from `now`."""
    run = Run(
        watch.ledger,
        watch.channels,
        watch.links,
        watch.sessions,
        lambda: now.timestamp() + monotonic() - began,
        Lost,
        watch.sleep,
        fallbacks=watch.fallbacks,
    )
    return deliver(run, max(BUDGET - (monotonic() - began), 0.0))


def _judge_and_commit(
    watch: Watch, shard: str, prior: Prior, work: Work, now: datetime
) -> tuple[Prior, Report]:
    """One shard, from its head to its next head. Trouble stays with the shard."""
    head = prior.value if prior else Head()
    try:
        done = judge_shard(work, head.watermarks, watch.keeper.standing(shard, head))
        kept = watch.keeper.keep(shard, prior, done, now)
    except Lost:
        log.info("another worker has judged %s", shard)
        return None, Report()
    except StateError as error:
        return prior, Report(troubles=(f"{shard}: {error}",))
    except Exception as error:
        log.exception("shard %s failed", shard)
        return prior, Report(troubles=(f"{shard}: {type(error).__name__}: {error}",))
    # A new account has no watermark yet: it begins with one slot.
    reached = [slot - head.watermarks.get(a, slot - 1) for a, slot in done.watermarks.items()]
    return kept, Report(
        slots=max(reached, default=0),
        events=done.judged.events,
        tally=done.judged.tally,
        queries=done.queries,
        deployments=len(done.judged.standing.known),
        failures=done.failures,
        troubles=tuple(f"rule {name} fails: {why}" for name, why in done.judged.broken.items()),
        failing=tuple(done.judged.broken),
    )


def _both(left: Report, right: Report) -> Report:
    tally = {name: Counter(counts) for name, counts in left.tally.items()}
    for name, counts in right.tally.items():
        tally[name] = tally.get(name, Counter()) + counts
    return Report(
        max(left.slots, right.slots),
        left.events + right.events,
        left.messages + right.messages,
        tally,
        left.queries + right.queries,
        left.deployments + right.deployments,
        left.failures + right.failures,
        left.troubles + right.troubles,
        left.failing + right.failing,
    )


def _log(report: Report, seconds: float) -> None:
    """One line a tick that a log query can take apart, and one for each thing that went wrong."""
    verdicts: Counter[str] = sum(report.tally.values(), Counter())
    line = {
        "slots": report.slots,
        "deployments": report.deployments,
        "queries": report.queries,
        "verdicts": {name: count for name, count in verdicts.items() if count},
        "events": len(report.events),
        "messages": len(report.messages),
        "failures": len(report.failures),
        "troubles": len(report.troubles),
        "seconds": round(seconds, 3),
    }
    log.info("tick %s", json.dumps(line))
    for event in report.events:
        where = f"{event.deployment.account_name}/{event.deployment.name}"
        log.info("%s %s on %s: %s", event.kind, event.rule, where, event.summary)
    for failure in report.failures:
        log.warning("query failed: %s", failure)
    for message in report.messages:
        if message.error:
            log.error("channel %s, message %s: %s", message.channel, message.id, message.error)
    for trouble in report.troubles:
        log.error("%s", trouble)
