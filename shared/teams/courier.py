"""Serves one channel in one run: take up, fold, claim, post, record."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace as but
from functools import partial
from typing import Generic

from msgspec.structs import replace

from shared.model import Channel, Message
from shared.teams.body import message_body, short_message_body
from shared.teams.digest import Fold, digest_of, is_told_by, leftovers, put_back
from shared.teams.down import is_down
from shared.teams.limit import noted
from shared.teams.messages import WAITING, after, due
from shared.teams.outcome import Outcome
from shared.teams.plan import folds, following, is_untouched
from shared.teams.run import Run, V
from shared.teams.webhook import post

PACE = 1.0
"""Seconds between two posts to a channel: Teams drops what comes faster, after its 202."""
CLAIM = 120.0
"""Seconds for which a message is one worker's own; more than the longest post takes."""
POST_TIMEOUT, LEAST_TIMEOUT = 15.0, 3.0
"""Seconds; with less than the latter left of the budget no post is begun."""


class Courier(Generic[V]):
    """One channel's messages, and what is remembered of it; knows of no other channel."""

    def __init__(
        self, run: Run[V], name: str, waiting: Iterable[V], channel: Channel, end: float
    ) -> None:
        self.run, self.name, self.channel, self.end = run, name, channel, end
        self.waiting = {entry.value.id: entry for entry in waiting}
        self.done: list[Message] = []
        """The messages as they were recorded."""
        self.error: BaseException | None = None
        """What stopped it before its time."""
        self._free = 0.0

    def serve(self) -> None:
        """Do all that is due, until the end; raises nothing."""
        try:
            self._take_up()
            self._fold()
            while self._post_next():
                pass
        except BaseException as error:  # raised again by the thread that waits for this one
            self.error = error

    @property
    def _values(self) -> list[Message]:
        return [entry.value for entry in self.waiting.values()]

    # Folding: members are taken, the digest is added, the members are finished. Whatever is cut
    # short in between is taken up by who finds the members after their lease.

    def _take_up(self) -> None:
        """Finish what workers that died left folded."""
        for left in leftovers(self._values, self.run.now()):
            digest = self.run.ledger.find(left.id)
            if digest is None:
                self._tell_in_digest(left)
            else:
                self._finish(digest, left.members)

    def _fold(self) -> None:
        now = self.run.now()
        for fold in folds(self._values, self.channel, now, self.run.limits):
            entries = [self.waiting[member.id] for member in fold.members]
            taken = self.run.ledger.fold(entries, fold.id, now + CLAIM)
            for member in fold.members:
                del self.waiting[member.id]
            self.waiting |= {entry.value.id: entry for entry in taken}
            if taken:
                members = tuple(entry.value for entry in taken)
                self._tell_in_digest(but(fold, members=members))

    def _tell_in_digest(self, fold: Fold) -> None:
        digest = digest_of(fold)
        for added in self.run.ledger.add_messages([digest]):
            self.waiting[digest.id] = added
            self._finish(digest, fold.members)
        # Not added: another worker took it up, perhaps with other members, and finishes them.

    def _finish(self, digest: Message, members: Iterable[Message]) -> None:
        """The digest is a message like any other from here on: it is told, or seen to have
        failed. A member that came too late to be in it goes back."""
        members = list(members)
        told = [member for member in members if is_told_by(digest, member)]
        self.run.ledger.finish([replace(member, ended=self.run.now()) for member in told])
        for member in told:
            del self.waiting[member.id]
        for member in members:
            if member.id in self.waiting:
                self._record(self.waiting[member.id], put_back(member))

    # Posting

    def _post_next(self) -> bool:
        """Post the next message once the channel may be posted to; False if that is not now."""
        now = self.run.now()
        moment = max(now, self._free)
        if moment > self.end - LEAST_TIMEOUT:
            return False
        message = following(self._values, self.channel, moment, self.run.limits)
        if message is None:
            return False
        if moment > now:
            self.run.sleep(moment - now)
        self._attempt(self.waiting[message.id], min(POST_TIMEOUT, self.end - moment))
        return True

    def _attempt(self, entry: V, timeout: float) -> None:
        """Claim, post and record one message, unless another worker has it."""
        try:
            claimed = self.run.ledger.claim(entry, self.run.now() + CLAIM)
        except self.run.lost:
            del self.waiting[entry.value.id]
            return
        outcome, posts = self._posted(claimed.value, timeout)
        now = self.run.now()
        recorded = after(claimed.value, outcome, now)
        self.waiting[recorded.id] = claimed
        if self._record(claimed, recorded):
            self.done.append(recorded)
        change = partial(noted, message=recorded, posts=posts, now=now)
        self.channel = self.run.ledger.note(self.name, change)
        self._free = _free(recorded, now)
        if is_down(recorded) and self.name in self.run.fallbacks:
            self._give_up(recorded.error)

    def _record(self, entry: V, value: Message) -> bool:
        """Keep what came of a message; False if another worker has it."""
        try:
            kept = self.run.ledger.record(entry, value)
        except self.run.lost:
            del self.waiting[value.id]
            return False
        if kept is not None and value.state in WAITING:
            self.waiting[value.id] = kept
        else:
            del self.waiting[value.id]
        return True

    def _posted(self, message: Message, timeout: float) -> tuple[Outcome, int]:
        """How it went, and after how many posts: a card that Teams finds too large is posted once
        more at once, in short."""
        webhook = self.run.channels.get(self.name)
        # Perhaps a setting that is still to come: not a reason to lose an alert.
        if webhook is None:
            return Outcome("retry", f"no webhook is configured for channel {self.name!r}"), 0
        session = self.run.sessions.of(self.name)
        outcome = post(session, webhook, message_body(message, self.run.links), timeout)
        if outcome.kind != "too_large":
            return outcome, int(outcome.reached)
        short = short_message_body(message, self.run.links)
        return post(session, webhook, short, timeout), 2

    def _give_up(self, error: str) -> None:
        """What else is due is for the fallback: a channel that is gone would take an hour to
        refuse it card by card."""
        now = self.run.now()
        for message in filter(is_untouched, due(self._values, now)):
            failed = replace(message, state="failed", ended=now, error=f"not posted: {error}")
            self._record(self.waiting[message.id], failed)


def _free(recorded: Message, now: float) -> float:
    """When a channel may be posted to after this."""
    if recorded.state in ("accepted", "delivered"):
        return now + PACE
    return recorded.next_try if recorded.state == "pending" else math.inf
