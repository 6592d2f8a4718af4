"""One shard in one tick: what is settled is read and judged. Nothing is written here."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from shared.engine.baseline import Due
from shared.engine.case import Case, Judged, Standing, all_offsets, lead
from shared.engine.frame import Frame, deployments_in, frame_of
from shared.engine.judge import dismiss
from shared.engine.lifecycle import skip
from shared.engine.trouble import after_reading
from shared.engine.walk import walk
from shared.model import (
    CATCH_UP,
    HOLD,
    STALE_AFTER,
    Account,
    Change,
    Component,
    Deployment,
    Reading,
    Slot,
    iso,
)
from shared.monitor.client import QueryError
from shared.monitor.read import Poster, Range, read
from shared.notices import unjudged
from shared.rulebook.rules import TRAFFIC, Rulebook
from shared.rulebook.silences import Silence

log = logging.getLogger("tokenwatch")
MOST_NAMED = 10
"""A history query names so many deployments at most; for more it asks for all of the accounts."""


@dataclass(frozen=True)
class Work:
    """A shard's part of a tick."""

    rulebook: Rulebook
    accounts: tuple[Account, ...]
    changes: tuple[Change, ...]
    poster: Poster
    settled: Slot
    """The newest slot that may be judged."""
    enough: Callable[[], bool] = lambda: False
    silences: tuple[Silence, ...] = ()
    """Those that people asked for by hand."""
    listed: Callable[[Account], frozenset[str]] | None = None
    """Names, case folded, of the deployments that an account has; raises QueryError."""


@dataclass(frozen=True)
class Done:
    """What came of it; `watermarks` holds every account that was ever judged and is watched."""

    judged: Judged
    watermarks: Mapping[str, Slot] = field(default_factory=dict)
    queries: int = 0
    failures: tuple[str, ...] = ()

    def also(self, other: Done) -> Done:
        """Both, of different accounts."""
        standing = self.judged.standing.and_(other.judged.standing)
        return Done(
            replace(self.judged.then(other.judged), standing=standing),
            {**self.watermarks, **other.watermarks},
            self.queries + other.queries,
            self.failures + other.failures,
        )


def judge_shard(work: Work, watermarks: Mapping[str, Slot], standing: Standing) -> Done:
    """Judges every settled slot of every account; accounts at one watermark go together.

    An account that is new begins with the newest settled slot.
    """
    groups: dict[Slot, list[Account]] = defaultdict(list)
    for account in work.accounts:
        groups[watermarks.get(account.id, work.settled - 1) + 1].append(account)
    reached = {a.id: watermarks[a.id] for a in work.accounts if a.id in watermarks}
    done = Done(_unwatched(work, standing), reached)
    for first, accounts in sorted(groups.items()):
        part = standing.of({account.id for account in accounts})
        done = done.also(_judge_group(work, accounts, first, part))
    return done


def _unwatched(work: Work, standing: Standing) -> Judged:
    """Forgets the accounts that were taken out of the settings; told alerts of theirs end."""
    watched = {account.id for account in work.accounts}
    gone = [alert for alert in standing.alerts if alert.deployment.account not in watched]
    ended = dismiss(standing, gone, work.settled, "no longer watched", {})
    return replace(ended, standing=Standing())


def _judge_group(work: Work, accounts: Sequence[Account], first: Slot, standing: Standing) -> Done:
    if first > work.settled:
        return Done(Judged(standing))
    oldest = work.settled - CATCH_UP + 1
    bridged = Judged(standing) if first >= oldest else _bridge(accounts, first, oldest, standing)
    first = max(first, oldest)
    reading, earlier = _read(work, accounts, first)
    noted = bridged.then(_noted(work, accounts, reading, bridged.standing))
    said = (*_words(reading, work.rulebook), *reading.truncated)
    done = Done(replace(noted, standing=Standing()), {}, reading.queries, said)
    passing = {account for (account, _), why in reading.failures.items() if why.transient}
    held = [account for account in accounts if account.id in passing]
    healthy = [account for account in accounts if account.id not in passing]
    for part, last in ((healthy, work.settled), (held, work.settled - HOLD)):
        mine = noted.standing.of({account.id for account in part})
        if part and last >= first:
            case = _case(work, part, reading, earlier, mine)
            done = done.also(_walk(work, case, mine, first, last))
        else:
            done = done.also(Done(Judged(mine)))
    return done


def _read(
    work: Work, accounts: Sequence[Account], first: Slot
) -> tuple[Reading, dict[int, Reading]]:
    """The minutes up to the newest settled one, and the same so many minutes earlier for ago().

    What failed of the earlier ones counts as failed: a rule cannot tell them apart.
    """
    before = lead(work.rulebook) - 1
    over = Range(first - before, work.settled - first + 1 + before)
    needed = work.rulebook.needed
    reading = read(work.poster, accounts, needed, over)
    earlier = {
        minutes: read(work.poster, accounts, needed, replace(over, start=over.start - minutes))
        for minutes in all_offsets(work.rulebook)
    }
    failures = dict(reading.failures)
    for other in earlier.values():
        failures |= other.failures
    queries = reading.queries + sum(other.queries for other in earlier.values())
    return replace(reading, failures=failures, queries=queries), earlier


def _noted(work: Work, accounts: Iterable[Account], reading: Reading, standing: Standing) -> Judged:
    """Notes for each account whether it could be read; three failed minutes raise an alert."""
    before = {alert.deployment.account: alert for alert in standing.troubles}
    troubles, events = [], []
    for account in accounts:
        reasons = tuple(dict.fromkeys(_said_of(reading, account)))
        alert, event = after_reading(before.get(account.id), account, work.settled, reasons)
        troubles += [alert] if alert else []
        events += [event] if event else []
    return Judged(replace(standing, troubles=tuple(troubles)), tuple(events))


def _said_of(reading: Reading, account: Account) -> Iterator[str]:
    for (owner, component), failure in reading.failures.items():
        if owner == account.id:
            yield f"{component.metric}: {failure.reason}"


def _case(
    work: Work,
    accounts: Iterable[Account],
    reading: Reading,
    earlier: Mapping[int, Reading],
    standing: Standing,
) -> Case:
    ids = {account.id: account for account in accounts}
    known = [one.deployment for one in standing.known]
    found = [d for d in deployments_in(reading, known) if d.account in ids]
    needed = work.rulebook.needed
    return Case(
        work.rulebook,
        ids,
        frame_of(reading, found, needed),
        work.changes,
        {minutes: frame_of(other, found, needed) for minutes, other in earlier.items()},
        (*work.rulebook.silences, *work.silences),
        _gone(work, ids, standing),
    )


def _gone(work: Work, accounts: Mapping[str, Account], standing: Standing) -> frozenset[str]:
    """Keys of deployments that are no longer listed, among those whose alerts end for want of
    traffic. Why it is so is worth one question; without an answer they end all the same."""
    if work.listed is None:
        return frozenset()
    gone: set[str] = set()
    ending: dict[str, list[Deployment]] = defaultdict(list)
    for alert in standing.alerts:
        quiet = alert.quiet_since
        if alert.state == "firing" and quiet is not None and work.settled - quiet >= STALE_AFTER:
            ending[alert.deployment.account].append(alert.deployment)
    for account, deployments in ending.items():
        try:
            names = work.listed(accounts[account])
        except QueryError as error:
            log.warning("cannot tell whether deployments are gone: %s", error.reason)
            continue
        gone |= {one.key for one in deployments if one.name.casefold() not in names}
    return frozenset(gone)


def _walk(work: Work, case: Case, standing: Standing, first: Slot, last: Slot) -> Done:
    queries: list[int] = []

    def history(dues: Sequence[Due]) -> dict[Due, Frame]:
        return read_history(work, case.accounts, dues, queries)

    judged, reached = walk(case, standing, first, last, history, work.enough)
    return Done(judged, dict.fromkeys(case.accounts, reached), sum(queries))


def read_history(
    work: Work, accounts: Mapping[str, Account], dues: Sequence[Due], queries: list[int]
) -> dict[Due, Frame]:
    """The history of each due, those of one range read together; without those that failed."""
    ranges: dict[tuple[Slot, Slot, int], list[Due]] = defaultdict(list)
    for due in dues:
        ranges[due.start, due.end, due.step].append(due)
    frames: dict[Due, Frame] = {}
    for (start, end, step), together in ranges.items():
        signals = {TRAFFIC, *(due.signal for due in together)}
        signals |= {due.given for due in together if due.kind == "line"}
        components = work.rulebook.components(*sorted(signals))
        deployments = sorted({due.deployment for due in together})
        asked = [accounts[name] for name in sorted({d.account for d in deployments})]
        names = sorted({d.name for d in deployments}) if len(deployments) <= MOST_NAMED else []
        over = Range(start, (end - start) // step, step)
        reading = read(work.poster, asked, components, over, names)
        queries.append(reading.queries)
        for failure in _words(reading, work.rulebook):
            log.warning("history for baselines: %s", failure)
        for due in together:
            if not _failed(reading, due.deployment, components):
                frames[due] = frame_of(reading, [due.deployment], components)
    return frames


def _failed(reading: Reading, deployment: Deployment, components: Iterable[Component]) -> bool:
    return any((deployment.account, component) in reading.failures for component in components)


def _words(reading: Reading, rulebook: Rulebook) -> tuple[str, ...]:
    """The failures of a reading: account, metric, the rules that are blind by it, the reason."""
    uses = {rule.name: set(rulebook.components(*rule.signals)) for rule in rulebook.rules}
    said: dict[str, None] = {}
    for (owner, component), failure in reading.failures.items():
        blind = ", ".join(name for name, components in uses.items() if component in components)
        account = owner.rsplit("/", 1)[-1]
        said[f"{account}: {component.metric} (for {blind or 'traffic'}): {failure.reason}"] = None
    return tuple(said)


def _bridge(accounts: Sequence[Account], first: Slot, oldest: Slot, standing: Standing) -> Judged:
    """Slots too far back to be judged: pending alerts are dropped, firing ones hold."""
    log.warning(
        "the slots %s to %s of %s are unjudged: the watchdog was away for longer than %d hours",
        iso(first),
        iso(oldest),
        ", ".join(account.name for account in accounts),
        CATCH_UP // 60,
    )
    alerts = tuple(kept for alert in standing.alerts if (kept := skip(alert)))
    notices = tuple(unjudged(account, first, oldest) for account in accounts)
    return Judged(replace(standing, alerts=alerts), notices)
