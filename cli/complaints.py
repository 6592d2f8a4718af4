"""What goes wrong tick after tick, said once and not each time."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from cli.shown import many
from shared.model import Message

NAMED = 2
"""Metrics, and rules, that a line names; the others are counted."""
TAKEN = ("accepted", "delivered")
"""States of a message that its channel took."""
OVER = "over"
_FAILURE = re.compile(
    r"(?P<account>[^:]+): (?P<metric>\w+) \(for (?P<blind>[^)]*)\): (?P<reason>.*)", re.DOTALL
)
# What differs each time although nothing changed: ids of requests, addresses of objects, times.
_PASSING = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|0x[0-9a-f]+|\d{4}-\d\d-\d\d[T ][\d:.]+", re.I
)


@dataclass(frozen=True)
class Complaint:
    """Something that goes wrong: what it is, and what varies while it lasts."""

    what: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.what} ({self.detail})" if self.detail else self.what

    @property
    def same(self) -> str:
        """What tells it from others."""
        return _PASSING.sub("", self.what)


def grouped(failures: Iterable[str]) -> list[Complaint]:
    """One complaint an account and reason, of the failures of a report."""
    groups: dict[str, list[re.Match[str]]] = {}
    found: dict[str, Complaint] = {}
    for failure in failures:
        match = _FAILURE.fullmatch(failure)
        complaint = Complaint(f"{match['account']}: {match['reason']}" if match else failure)
        found.setdefault(complaint.same, complaint)
        groups.setdefault(complaint.same, []).extend([match] if match else [])
    return [Complaint(one.what, _detail(groups[same])) for same, one in found.items()]


def _detail(group: list[re.Match[str]]) -> str:
    blind = [name for match in group for name in match["blind"].split(", ") if name != "traffic"]
    word = "rule" if len(set(blind)) == 1 else "rules"
    rules = f"; {word} {_named(blind)} blind" if blind else ""
    return _named([match["metric"] for match in group]) + rules


def _named(names: list[str]) -> str:
    each = list(dict.fromkeys(names))
    more = f", +{len(each) - NAMED}" if len(each) > NAMED else ""
    return f"{', '.join(each[:NAMED])}{more}"


@dataclass
class Complaints:
    """Hears what goes wrong in each tick, and says what is new and what is over."""

    _standing: dict[str, tuple[Complaint, int]] = field(default_factory=dict)

    def heard(self, complaints: Iterable[Complaint]) -> list[str]:
        """The lines to print after a tick: what is new or has changed, then what is over."""
        before, self._standing = self._standing, {}
        lines = []
        for complaint in {one.same: one for one in complaints}.values():
            last, times = before.pop(complaint.same, (None, 0))
            if last is None or last.detail != complaint.detail:
                lines.append(str(complaint))
            self._standing[complaint.same] = (complaint, times + 1)
        over = [f"{OVER} after {many(n, 'tick')}: {last.what}" for last, n in before.values()]
        return lines + over


@dataclass
class Refusals:
    """Hears what channels refuse. A message is tried again ever later, so a tick without a refusal
    says nothing: it is over when the channel takes one."""

    _standing: dict[str, tuple[str, int]] = field(default_factory=dict)

    def heard(self, messages: Iterable[Message]) -> list[str]:
        """The lines to print after a tick."""
        lines = []
        for message in {message.id: message for message in messages}.values():
            channel = message.channel
            last, times = self._standing.get(channel, ("", 0))
            if message.state in TAKEN and last:
                del self._standing[channel]
                lines.append(
                    f"{OVER} after {many(times, 'try', 'tries')}: channel {channel}: {last}"
                )
            elif message.state not in TAKEN and message.error:
                self._standing[channel] = (message.error, times + 1)
                lines += [f"channel {channel}: {message.error}"] if message.error != last else []
        return lines

    def __bool__(self) -> bool:
        return bool(self._standing)
