"""`GET /api/health`: is every watched account judged, and what is left to tell. Pure.

Anybody may ask: names of accounts, which are parts of public host names, and numbers are all that
is shown. Why something fails is in the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from shared.endpoints.answer import Answer
from shared.model import SETTLE, Account, Head, MessageState, Slot, iso, slot_of

MOST_AGE = 10 * 60
"""Seconds since the end of the last judged slot up to which all is well."""
SLACK = 2
"""Minutes behind the newest settled slot that a tick under way explains."""


@dataclass(frozen=True)
class Watched:
    """What health is read from."""

    accounts: tuple[Account, ...]
    heads: Mapping[str, Head]
    """Those that could be read, by shard."""
    messages: tuple[MessageState, ...] = ()
    """Of each open message."""
    build: int = 0
    rule_errors: int = 0

    def watermark(self, account: Account) -> Slot | None:
        """The last judged slot of an account, if there is one."""
        head = self.heads.get(account.shard)
        return head.watermarks.get(account.id) if head else None


def health(watched: Watched, now: datetime) -> Answer:
    """200 if every account was judged, up to a slot that ended at most ten minutes ago."""
    marks = {account: watched.watermark(account) for account in watched.accounts}
    judged = [mark for mark in marks.values() if mark is not None]
    last = min(judged, default=None)
    age = None if last is None else round(now.timestamp() - (last + 1) * 60)
    problems = _problems(age, len(marks) - len(judged))
    body = {
        "healthy": not problems,
        "problems": problems,
        "last_judged": None if last is None else iso(last),
        "age_seconds": age,
        "accounts": {
            "watched": len(marks),
            "never_judged": _names(a for a, mark in marks.items() if mark is None),
            "behind_minutes": _behind(marks, slot_of(now) - SETTLE - 1),
            "failing": _names(_failing(watched)),
        },
        "open_messages": {"total": len(watched.messages), **_counted(watched.messages)},
        "rules": {"build": watched.build, "errors": watched.rule_errors},
    }
    return Answer(503 if problems else 200, body)


def _problems(age: int | None, never: int) -> list[str]:
    if age is None:
        return ["nothing was judged yet"]
    problems = []
    if age > MOST_AGE:
        problems.append(f"the last judged minute ended {age} s ago, more than {MOST_AGE} s")
    # Silence about an account is not silence in it.
    if never:
        problems.append(f"accounts that were never judged: {never}")
    return problems


def _behind(marks: Mapping[Account, Slot | None], settled: Slot) -> dict[str, int]:
    """How many settled minutes an account waits for, by name, worst first."""
    late = {a.name: settled - mark for a, mark in marks.items() if mark is not None}
    worst = sorted(late.items(), key=lambda item: (-item[1], item[0]))
    return {name: minutes for name, minutes in worst if minutes > SLACK}


def _failing(watched: Watched) -> list[Account]:
    """Accounts whose data Azure Monitor has not given for some minutes."""
    failing = {
        alert.deployment.account
        for head in watched.heads.values()
        for alert in head.troubles
        if alert.state == "firing"
    }
    return [account for account in watched.accounts if account.id in failing]


def _names(accounts: Iterable[Account]) -> list[str]:
    return sorted(account.name for account in accounts)


def _counted(states: Iterable[MessageState]) -> dict[str, int]:
    return dict(sorted(Counter(states).items()))
