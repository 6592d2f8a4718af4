"""The fields of a change that is asked for, read one by one. Pure.

No text quotes what was sent, but for the names of unknown fields, which are cut short.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime, timedelta

from shared.model import Change, slot_of
from shared.rulebook.expressions import CHANGE_KINDS
from shared.rulebook.problems import nearest

LONGEST = 200
OLDEST = timedelta(days=93)
"""As long as Azure Monitor keeps what a change could explain."""
AHEAD = timedelta(minutes=1)
"""Clocks differ; what lies further ahead has not happened."""
FIELDS = ("kind", "deployment", "account", "reference", "time")
NAMED = 5
"""Unknown fields that an answer names, each by its first letters."""

_NAME = r"[A-Za-z0-9._*?\[\]!-]{1,64}"
_GLOB = re.compile(rf"({_NAME}/)?{_NAME}")
_ACCOUNT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ISO = "ISO 8601 with Z or an offset, e.g. 2026-12-01T00:55:00Z"


class Reader:
    """Reads field by field, and goes on after a problem, so that all are named."""

    def __init__(self, sent: Mapping[str, object]) -> None:
        self.sent = sent
        self.problems: list[str] = []

    def change(self, now: datetime) -> Change:
        """The change that the fields describe; worth nothing if there are problems."""
        return Change(
            kind=self.kind(),
            deployment=self.deployment(),
            reference=self.reference(),
            slot=self.slot(now),
            recorded=slot_of(now),
        )

    def unknown(self) -> list[str]:
        names = [name for name in self.sent if name not in FIELDS]
        shown = [f"unknown field {_short(name)}" for name in names[:NAMED]]
        more = len(names) - NAMED
        return shown + ([f"and {more} more unknown fields"] if more > 0 else [])

    def kind(self) -> str:
        kind = self._text("kind", required=True)
        if kind and kind not in CHANGE_KINDS:
            self.problems.append(f"kind is unknown. {nearest(kind, CHANGE_KINDS, 'kinds')}".strip())
        return kind

    def deployment(self) -> str:
        """The glob that says which deployments the change is for."""
        if ("deployment" in self.sent) == ("account" in self.sent):
            self.problems.append("give one of deployment and account")
        glob, account = self._text("deployment"), self._text("account")
        if glob and not _GLOB.fullmatch(glob):
            self.problems.append(
                "deployment must be a name or glob, or ACCOUNT/NAME: letters, digits, . _ - * ? [ ]"
            )
        if account and not _ACCOUNT.fullmatch(account):
            self.problems.append("account must be the name of an account: letters, digits, . _ -")
        return glob or f"{account}/*"

    def reference(self) -> str:
        reference = self._text("reference", required=True)
        # Cards and terminals show it in one line; isprintable leaves out what hides or reorders.
        if not reference.isprintable():
            self.problems.append("reference must be one line of printable text")
        return reference

    def slot(self, now: datetime) -> int:
        """The minute of the change; without a time it is now."""
        text = self._text("time")
        moment = _moment(text) if text else now
        if moment is None:
            self.problems.append(f"time must be {_ISO}")
        elif moment - now > AHEAD:
            self.problems.append("time lies in the future: record a change when it takes effect")
        elif now - moment > OLDEST:
            self.problems.append(f"time lies back further than {OLDEST.days} days")
        return slot_of(moment or now)

    def _text(self, name: str, required: bool = False) -> str:
        """The text of a field; empty where it is missing or wrong, which is noted."""
        value = self.sent.get(name, "")
        if name not in self.sent:
            if required:
                self.problems.append(f"{name} is missing")
        elif not isinstance(value, str):
            self.problems.append(f"{name} must be text")
        elif not 1 <= len(value.strip()) <= LONGEST:
            self.problems.append(f"{name} must have 1 to {LONGEST} characters")
        else:
            return value.strip()
        return ""


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _short(name: str) -> str:
    return repr(name if len(name) <= 30 else name[:30] + "...")
