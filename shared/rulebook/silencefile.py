"""rules/silences.yaml -> silences: planned work, known noise, always with an end and a reason."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

import msgspec
from msgspec import Meta

from shared.model import Slot, slot_of
from shared.rulebook.document import Path, Tree
from shared.rulebook.entry import Entry
from shared.rulebook.globs import read_scope
from shared.rulebook.problems import nearest
from shared.rulebook.schema import ScopeSpec
from shared.rulebook.scope import matches
from shared.rulebook.silences import DAYS, Hours, Silence
from shared.rulebook.specs import Reporter

FILE = "silences.yaml"
_HOURS = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)\.\.(?:([01]?\d|2[0-3]):([0-5]\d)|24:00)")


class SilenceSpec(msgspec.Struct, forbid_unknown_fields=True):
    """For how long, and of what, nothing is told."""

    reason: Annotated[str, Meta(description="Why, for those who wonder", min_length=1)]
    owner: Annotated[str, Meta(description="Whom to ask", min_length=1)]
    rules: Annotated[list[str], Meta(description="Globs over names of rules; all by default")] = []
    scope: ScopeSpec = msgspec.field(default_factory=ScopeSpec)
    begin: Annotated[str, Meta(description="UTC, e.g. 2026-12-05T22:00Z")] = msgspec.field(
        default="", name="from"
    )
    until: Annotated[str, Meta(description="UTC, e.g. 2026-12-06T04:00Z")] = ""
    days: Annotated[
        list[Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]],
        Meta(description="On which days it begins anew; every day by default"),
    ] = []
    hours: Annotated[str, Meta(description="By the clock, e.g. 22:00..04:00")] = ""
    timezone: Annotated[str, Meta(description="Whose clock, e.g. Europe/Berlin")] = "UTC"


class SilenceFile(msgspec.Struct, forbid_unknown_fields=True):
    """The file rules/silences.yaml."""

    silences: list[SilenceSpec] = []


def compile_silences(reporter: Reporter, rules: Collection[str]) -> tuple[Silence, ...]:
    """The silences of a file; what is wrong goes to its reporter.

    `rules` are the names that there are; none if that is not known, because a file is broken.
    """
    tree = reporter.document.tree
    listed = tree.get("silences", "") if isinstance(tree, dict) else tree
    if isinstance(tree, dict):
        for key in tree.keys() - {"silences"}:
            reporter.error((key,), f"unknown key {key!r}", "The file holds silences: alone.")
    if not isinstance(listed, list):
        if listed not in ("", {}):
            cure = "Begin each with a dash, e.g. `- reason: moving to another region`."
            reporter.error(("silences",), "silences must be a list", cure)
        return ()
    found = (_silence(one, n, reporter, rules) for n, one in enumerate(listed))
    return tuple(silence for silence in found if silence)


def _silence(tree: Tree, index: int, reporter: Reporter, rules: Collection[str]) -> Silence | None:
    path: Path = ("silences", index)
    before = reporter.errors
    spec = reporter.convert(tree, SilenceSpec, path, f"silence number {index + 1}")
    if spec is None or reporter.errors > before:
        return None
    begin = _moment(spec.begin, reporter, (*path, "from"))
    end = _moment(spec.until, reporter, (*path, "until"))
    hours = _hours(spec, reporter, path)
    scope = read_scope(spec.scope, Entry(reporter, path, f"silence number {index + 1}"), "scope")
    _named(spec.rules, rules, reporter, path)
    if not (spec.until or spec.hours or spec.days):
        cure = "Add until: 2026-12-06T04:00Z, or hours: 22:00..04:00 for every night."
        reporter.error(path, "a silence needs an end", cure)
    if begin is not None and end is not None and begin >= end:
        reporter.error((*path, "until"), "it ends before it begins", "Turn from and until round.")
    if reporter.errors > before:
        return None
    mark = reporter.document.value(*path)
    return Silence(spec.reason, spec.owner, tuple(spec.rules), scope, begin, end, hours, mark)


def _moment(text: str, reporter: Reporter, path: Path) -> Slot | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        cure = "Write it like 2026-12-05T22:00Z."
        reporter.error(path, f"{text!r} is no date with a time", cure)
        return None
    if moment.tzinfo is None:
        reporter.error(path, f"{text!r} does not say whose clock it is by", "Add Z for UTC.")
        return None
    return slot_of(moment)


def _hours(spec: SilenceSpec, reporter: Reporter, path: Path) -> Hours | None:
    if not spec.hours and not spec.days:
        if spec.timezone != "UTC":
            cure = "Write times with their offset instead, e.g. 2026-12-05T22:00+01:00."
            reporter.error((*path, "timezone"), "timezone belongs to hours and days", cure)
        return None
    match = _HOURS.fullmatch(spec.hours or "00:00..24:00")
    if match is None:
        reporter.error((*path, "hours"), f"{spec.hours!r} are no hours", "Write 22:00..04:00.")
        return None
    if not _zone(spec.timezone, reporter, (*path, "timezone")):
        return None
    begin = int(match[1]) * 60 + int(match[2])
    end = int(match[3]) * 60 + int(match[4]) if match[3] else 1440
    days = frozenset(DAYS.index(day) for day in spec.days) or frozenset(range(7))
    return Hours(begin, (end - begin - 1) % 1440 + 1, days, spec.timezone)


def _zone(name: str, reporter: Reporter, path: Path) -> bool:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        cure = nearest(name, available_timezones(), "time zones") or "Write e.g. Europe/Berlin."
        reporter.error(path, f"unknown time zone {name!r}", cure)
        return False
    return True


def _named(globs: list[str], rules: Collection[str], reporter: Reporter, path: Path) -> None:
    for n, glob in enumerate(globs):
        wanted = glob.removeprefix("!")
        if rules and not any(matches((wanted,), name) for name in rules):
            cure = nearest(wanted, rules, "rules")
            reporter.error((*path, "rules", n), f"{glob!r} fits no rule", cure)
