"""One tick, the only place that knows all stages:

slots -> rulebook -> plan -> fetch -> frame -> evaluate -> advance -> commit      (each shard)
heads -> messages -> claim -> post -> record                                      (deliver)
"""

from __future__ import annotations

import json
import logging
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic, sleep

import requests
from msgspec.structs import replace as but

from shared.engine.baseline import REFIT, phase
from shared.engine.judge import Standing
from shared.model import (
    SETTLE,
    Account,
    Event,
    Fit,
    Head,
    Message,
    slot_of,
)
from shared.monitor.read import Poster
from shared.notices import broken_rules
from shared.rulebook.rules import Rulebook
from shared.shards import Done, Work, judge_shard
from shared.state.codec import pack
from shared.state.ledger import (
    Ledger,
    Lost,
    StateError,
    Versioned,
    attempt_id,
    event_row,
    fit_row,
)
from shared.teams.address import Webhook
from shared.teams.deliver import Run, deliver
from shared.teams.down import down_messages
from shared.teams.links import Links
from shared.teams.messages import messages_for

log = logging.getLogger("tokenwatch")

BUDGET = 50.0
"""Seconds a tick may take; what is left waits for the next."""
JUDGING = 30.0
"""Seconds of it after which no further slot is begun, so that there is time to tell."""
REMEMBERED = 24 * 60
"""Minutes for which a change matters: longer than a catch-up and what it looks back."""
GRACE = 3600.0
"""Seconds after which a row that no head names is nobody's work in progress any more."""
BUCKETS = 16
"""Rows over which a shard's fits are spread, so that a refit rewrites few of them."""


@dataclass
class Watch:
    """What a tick works with; lives as long as the process."""

    accounts: tuple[Account, ...]
    rulebook: Rulebook
    poster: Poster
    ledger: Ledger
    channels: Mapping[str, Webhook]
    links: Links
    session: requests.Session = field(default_factory=requests.Session)
    fits: dict[str, dict[str, tuple[Fit, ...]]] = field(default_factory=dict)
    """By shard, the rows of fits by name: what the head names need not be read again."""
    swept: dict[str, int] = field(default_factory=dict)
    """By shard: the hour in which its leftovers were last deleted."""
    sleep: Callable[[float], None] = sleep
    """Waits between two posts to one channel."""


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


def tick(watch: Watch, now: datetime) -> Report:
    """Judges what is settled at `now`, commits it shard by shard, and delivers what is to be told.

    Doing it again changes nothing; a shard that fails costs no other.
    """
    began = monotonic()
    heads, corrupt = watch.ledger.heads()
    changes = watch.ledger.changes(since=slot_of(now) - REMEMBERED)
    shards: dict[str, list[Account]] = defaultdict(list)
    for account in watch.accounts:
        shards[account.shard].append(account)
    for shard in heads:
        shards[shard]  # accounts may have been taken out of the settings: their alerts end
    for shard in corrupt:
        shards.pop(shard, None)

    def one(shard: str) -> Report:
        work = Work(
            watch.rulebook,
            tuple(shards[shard]),
            changes,
            watch.poster,
            slot_of(now) - SETTLE - 1,
            lambda: monotonic() - began > JUDGING,
        )
        return _judge_and_commit(watch, shard, heads.get(shard), work, now)

    with ThreadPoolExecutor(max_workers=min(8, len(shards)) or 1) as pool:
        reports = list(pool.map(one, shards))
    report = Report(troubles=tuple(str(error) for error in corrupt.values()))
    for other in reports:
        report = _both(report, other)
    if any(head.value.events for head in heads.values()) or report.events:
        report = _both(report, _announce(watch))
    if watch.rulebook.errors:
        watch.ledger.add_messages(messages_for([broken_rules(watch.rulebook, now)], ("default",)))
    told = _deliver(watch, now, began)
    watch.ledger.add_messages(down_messages(told, tuple(watch.channels), now))
    report = _both(report, Report(messages=told))
    _log(report, monotonic() - began)
    return report


def _deliver(watch: Watch, now: datetime, began: float) -> tuple[Message, ...]:
    """Posts what is due; the clock goes on from `now`."""
    run = Run(
        watch.ledger,
        watch.channels,
        watch.links,
        watch.session,
        lambda: now.timestamp() + monotonic() - began,
        Lost,
        watch.sleep,
    )
    return deliver(run, max(BUDGET - (monotonic() - began), 0.0))


def _judge_and_commit(
    watch: Watch, shard: str, prior: Versioned[Head] | None, work: Work, now: datetime
) -> Report:
    """One shard, from its head to its next head. Trouble stays with the shard."""
    head = prior.value if prior else Head()
    try:
        done = judge_shard(work, head.watermarks, _standing(watch, shard, head))
        if done.watermarks != head.watermarks or done.judged.standing.troubles != head.troubles:
            _sweep(watch, shard, _commit(watch, shard, prior, done, now), now)
    except Lost:
        log.info("another worker has judged %s", shard)
        return Report()
    except StateError as error:
        return Report(troubles=(f"{shard}: {error}",))
    except Exception as error:
        log.exception("shard %s failed", shard)
        return Report(troubles=(f"{shard}: {type(error).__name__}: {error}",))
    # A new account has no watermark yet: it begins with one slot.
    reached = [slot - head.watermarks.get(a, slot - 1) for a, slot in done.watermarks.items()]
    return Report(
        slots=max(reached, default=0),
        events=done.judged.events,
        tally=done.judged.tally,
        queries=done.queries,
        deployments=len(done.judged.standing.known),
        failures=done.failures,
    )


def _standing(watch: Watch, shard: str, head: Head) -> Standing:
    """What the head and the rows it names remember."""
    rows = watch.fits.get(shard, {})
    missing = {b: name for b, name in head.fits.items() if name not in rows}
    read = _buckets(watch.ledger.fits(shard, missing.values()))
    rows = rows | {name: read[bucket] for bucket, name in missing.items()}
    watch.fits[shard] = {name: rows[name] for name in head.fits.values()}
    fits = [fit for row in watch.fits[shard].values() for fit in row]
    return Standing(
        head.known,
        head.alerts,
        head.episodes,
        {(fit.deployment.key, fit.key): fit for fit in fits},
        head.troubles,
    )


def _commit(
    watch: Watch,
    shard: str,
    prior: Versioned[Head] | None,
    done: Done,
    now: datetime,
) -> Head:
    """Rows first, then the head by its ETag."""
    head = prior.value if prior else Head()
    attempt = attempt_id(now.timestamp(), secrets.token_hex(3))
    rows, fits = _fit_rows(watch.fits[shard], head, done, attempt)
    events = head.events
    if done.judged.events:
        events = (*events, name := event_row(attempt))
        rows[name] = pack(done.judged.events)
    standing = done.judged.standing
    following = Head(
        build=watch.rulebook.build,
        attempt=attempt,
        watermarks=dict(done.watermarks),
        known=standing.known,
        alerts=standing.alerts,
        episodes=standing.episodes,
        fits=fits,
        events=events,
        troubles=standing.troubles,
    )
    watch.ledger.commit(shard, prior, following, rows)
    return following


def _sweep(watch: Watch, shard: str, head: Head, now: datetime) -> None:
    """Deletes, once an hour, the rows that crashed or beaten attempts left behind."""
    hour = slot_of(now) // 60
    if watch.swept.get(shard) != hour:
        watch.swept[shard] = hour
        watch.ledger.sweep(shard, head, now.timestamp(), GRACE)


def _fit_rows(
    kept: dict[str, tuple[Fit, ...]], head: Head, done: Done, attempt: str
) -> tuple[dict[str, bytes], dict[str, str]]:
    """The rows of fits that changed, and the name of every bucket's row; `kept` learns them."""
    ordered = sorted(done.judged.standing.fits.items())
    rows, names = {}, {}
    for bucket, fits in _buckets(fit for _, fit in ordered).items():
        names[bucket] = head.fits.get(bucket, "")
        if kept.get(names[bucket]) != fits:
            names[bucket] = fit_row(bucket, attempt)
            rows[names[bucket]] = pack(fits)
            kept[names[bucket]] = fits
    return rows, names


def _buckets(fits: Iterable[Fit]) -> dict[str, tuple[Fit, ...]]:
    """The fits of each bucket, by the turn at which their deployments are refitted."""
    found: dict[str, list[Fit]] = defaultdict(list)
    for fit in fits:
        found[str(phase(fit.deployment) * BUCKETS // REFIT)].append(fit)
    return {bucket: tuple(inside) for bucket, inside in found.items()}


def _announce(watch: Watch) -> Report:
    """Makes messages of the events that heads name, and takes the events out of the heads.

    Messages have ids that follow from their events, so a crash in between repeats nothing.
    """
    heads, _ = watch.ledger.heads()
    troubles = []
    for shard, prior in heads.items():
        if not prior.value.events:
            continue
        try:
            events = watch.ledger.events(shard, prior.value.events)
            told = [event for event in events if event.notify]
            watch.ledger.add_messages(messages_for(told, tuple(watch.channels)))
            watch.ledger.commit(shard, prior, but(prior.value, events=()), {})
        except Lost:
            log.info("another worker tells the events of %s", shard)
        except StateError as error:
            troubles.append(f"{shard}: {error}")
    return Report(troubles=tuple(troubles))


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
