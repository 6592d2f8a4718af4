"""From a shard's head to its next one: what is remembered, and the commit of what was judged."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from shared.engine.baseline import REFIT, phase
from shared.engine.case import Standing
from shared.model import Fit, Head, slot_of
from shared.shards import Done
from shared.state.codec import pack
from shared.state.ledger import Ledger, Versioned, attempt_id, event_row, fit_row

GRACE = 3600.0
"""Seconds after which a row that no head names is nobody's work in progress any more."""
BUCKETS = 16
"""Rows over which a shard's fits are spread, so that a refit rewrites few of them."""

Prior = Versioned[Head] | None
"""The head that a shard was read from; None for a shard that is new."""


@dataclass
class Keeper:
    """Keeps the shards of a ledger; lives as long as the process."""

    ledger: Ledger
    build: int = 0
    """Build number of the rulebook that judges."""
    fits: dict[str, dict[str, tuple[Fit, ...]]] = field(default_factory=dict)
    """By shard, the rows of fits by name: what the head names need not be read again."""
    swept: dict[str, int] = field(default_factory=dict)
    """By shard: the hour in which its leftovers were last deleted."""

    def standing(self, shard: str, head: Head) -> Standing:
        """What the head and the rows it names remember."""
        rows = self.fits.get(shard, {})
        missing = {b: name for b, name in head.fits.items() if name not in rows}
        read = _buckets(self.ledger.fits(shard, missing.values()))
        rows = rows | {name: read[bucket] for bucket, name in missing.items()}
        self.fits[shard] = {name: rows[name] for name in head.fits.values()}
        fits = [fit for row in self.fits[shard].values() for fit in row]
        return Standing(
            head.known,
            head.alerts,
            head.episodes,
            {(fit.deployment.key, fit.key): fit for fit in fits},
            head.troubles,
        )

    def keep(self, shard: str, prior: Prior, done: Done, now: datetime) -> Prior:
        """Commits what was judged, if that is anything: rows first, then the head by its ETag.

        Raises Lost if another worker was first, and other StateErrors of the ledger.
        """
        head = prior.value if prior else Head()
        if done.watermarks == head.watermarks and done.judged.standing.troubles == head.troubles:
            return prior
        following, rows = self._following(shard, head, done, now)
        kept = self.ledger.commit(shard, prior, following, rows)
        self._sweep(shard, following, now)
        return kept

    def _following(
        self, shard: str, head: Head, done: Done, now: datetime
    ) -> tuple[Head, dict[str, bytes]]:
        attempt = attempt_id(now.timestamp(), secrets.token_hex(3))
        rows, fits = _fit_rows(self.fits[shard], head, done, attempt)
        events = head.events
        if done.judged.events:
            events = (*events, name := event_row(attempt))
            rows[name] = pack(done.judged.events)
        standing = done.judged.standing
        following = Head(
            build=self.build,
            attempt=attempt,
            watermarks=dict(done.watermarks),
            known=standing.known,
            alerts=standing.alerts,
            episodes=standing.episodes,
            fits=fits,
            events=events,
            troubles=standing.troubles,
        )
        return following, rows

    def _sweep(self, shard: str, head: Head, now: datetime) -> None:
        """Deletes, once an hour, the rows that crashed or beaten attempts left behind."""
        hour = slot_of(now) // 60
        if self.swept.get(shard) != hour:
            self.swept[shard] = hour
            self.ledger.sweep(shard, head, now.timestamp(), GRACE)


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
