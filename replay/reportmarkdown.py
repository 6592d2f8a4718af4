"""A report as a comment on a pull request: the numbers first, the rest to be unfolded. Bounded."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeVar

from replay.compare import KINDS, Comparison, Difference, OldNew, of_kind
from replay.recordplan import spell
from replay.report import Lasting, OfRule, Report, places, reasons
from replay.reporttext import MARKS, NOTHING, aside, covered, headline_words, lasted, weekly

LONGEST = 60_000
"""Characters; a comment on GitHub may have 65,536."""
_RESERVED = 600
"""Characters kept for what closes a table."""
_TITLES = {
    "added": "Added episodes",
    "removed": "Removed episodes",
    "longer": "Longer episodes",
    "shorter": "Shorter episodes",
}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~@$])")

T = TypeVar("T")


def markdown(report: Report, comparison: Comparison | None) -> str:
    """The whole comment, of LONGEST characters at most."""
    page = _Page()
    page.add(f"### Tokenwatch backtest\n\n**{headline_words(report, comparison)}**\n")
    page.add(f"\n{plain(covered(report))}.\n\n")
    if comparison:
        rules = sorted(comparison.rules, key=lambda rule: not rule.changed)
    else:
        rules = [OldNew(rule.name, rule, rule) for rule in report.rules]
    page.table("| rule | episodes | firing | messages a week | noisiest |", rules, _rule)
    for note in (*report.notes, *(comparison.notes if comparison else ())):
        page.add(f"\n> ⚠️ {plain(note)}\n")
    if comparison:
        for kind in KINDS:
            mine = of_kind(comparison.differences, kind)
            head = "| rule | deployment | from (UTC) | lasted | worst |"
            page.folded(f"{_TITLES[kind]}: {len(mine)}", head, mine, _difference)
    unsure = [rule for rule in report.rules if rule.unknown]
    page.folded("Unknown verdicts", "| rule | share and reason |", unsure, _unknown)
    worst = sorted(report.episodes, key=lambda one: (-one.minutes, one.since))
    head = "| rule | deployment | from (UTC) | lasted | worst | ended |"
    page.folded(f"All episodes: {len(worst)}", head, worst, _episode)
    return page.text


class _Page:
    """Text that grows up to its bound; rows that do not fit are counted."""

    def __init__(self) -> None:
        self.text = ""

    @property
    def room(self) -> int:
        return LONGEST - _RESERVED - len(self.text)

    def add(self, text: str) -> bool:
        fits = len(text) <= self.room
        self.text += text if fits else ""
        return fits

    def table(self, head: str, rows: Sequence[T], row: Callable[[T], str]) -> None:
        columns = head.count("|") - 1
        texts = [f"{head}\n|{' --- |' * columns}\n", *map(row, rows)] if rows else []
        for number, text in enumerate(texts):
            if not self.add(text):
                self.text += f"\n+{len(rows) - max(number - 1, 0):,} more\n"
                return

    def folded(self, title: str, head: str, rows: Sequence[T], row: Callable[[T], str]) -> None:
        if rows and self.add(f"\n<details><summary>{title}</summary>\n\n"):
            self.table(head, rows, row)
            self.text += "\n</details>\n"


def _rule(rule: OldNew) -> str:
    old, new = rule.old or NOTHING, rule.new or NOTHING
    known = rule.new or old
    return _row(
        f"{MARKS[known.severity]} {plain(f'{rule.name} {aside(rule)}')}",
        _pair(f"{old.episodes:,}", f"{new.episodes:,}"),
        _pair(spell(old.minutes), spell(new.minutes)),
        _pair(weekly(old.messages_a_week), weekly(new.messages_a_week)),
        plain(places(new.noisiest)),
    )


def _pair(old: str, new: str) -> str:
    return new if old == new else f"{old} → **{new}**"


def _difference(one: Difference) -> str:
    when = one.since[:16].replace("T", " ")
    length = lasted(one).replace("->", "→")
    return _row(plain(one.rule), plain(one.deployment), when, length, plain(one.worst))


def _unknown(rule: OfRule) -> str:
    return _row(plain(rule.name), plain(reasons(rule.unknown, rule.verdicts)))


def _episode(one: Lasting) -> str:
    ended = "still fires" if one.open else one.reason or "not told"
    when = one.since[:16].replace("T", " ")
    worst = plain(one.worst)
    return _row(plain(one.rule), plain(one.deployment), when, spell(one.minutes), worst, ended)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def plain(text: str) -> str:
    """Text that means nothing to Markdown or HTML, in one line; names mention nobody."""
    escaped = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return escaped.replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\@", "@\u200b")
