"""Checks of `unless`: the rules are there, and none waits for itself."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter

from shared.rulebook.entry import Entry
from shared.rulebook.problems import nearest
from shared.rulebook.rules import Rule


def check_unless(
    rules: Mapping[str, Rule],
    entries: Mapping[str, Entry],
    written: Collection[str],
    partial: bool,
) -> set[str]:
    """The names of the rules whose `unless` is wrong, after reporting it.

    `written` are the names of all rules, those that are wrong otherwise included; `partial` says
    that there may be others, in a file that cannot be read.
    """
    wrong: set[str] = set()
    for name, rule in rules.items():
        for n, other in enumerate(rule.unless):
            if other not in written and not partial:
                cure = nearest(other, set(written) - {name}, "rules")
                entries[name].error(f"there is no rule {other}", cure, "unless", n)
                wrong.add(name)
    return wrong | _circles(rules, entries)


def _circles(rules: Mapping[str, Rule], entries: Mapping[str, Entry]) -> set[str]:
    """Reports one circle after the other."""
    wrong: set[str] = set()
    while circle := _circle({n: r.unless for n, r in rules.items() if n not in wrong}):
        way = " unless ".join([*circle, circle[0]])
        cure = "Leave one of them out: one of the rules has to be told first."
        entries[circle[0]].error(f"unless leads back to itself: {way}", cure, "unless")
        wrong |= set(circle)
    return wrong


def _circle(unless: Mapping[str, Collection[str]]) -> tuple[str, ...]:
    """Rules each of which is not told because of the next; none if there is no such circle."""
    try:
        TopologicalSorter(
            {name: [o for o in others if o in unless] for name, others in unless.items()}
        ).prepare()
    except CycleError as error:
        names: list[str] = error.args[1]
        # The first is repeated at the end; each stands before the one that waits for it.
        return tuple(names[:0:-1])
    return ()
