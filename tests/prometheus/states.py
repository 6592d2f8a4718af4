"""The state of every alert in every minute, as a letter a minute, and how two of them differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import pytest

from tests.prometheus.history import MINUTES, History
from tests.prometheus.pairs import Group

WORDS = {".": "inactive", "p": "pending", "F": "firing"}
Mark = tuple[str, int, int, str]
"""Rule, series, minute, `pending` or `firing`."""
States = dict[tuple[str, int], str]
"""By rule and series."""


def states_of(groups: Sequence[Group], marks: Iterable[Mark]) -> States:
    """The marks, minute for minute; an alert without a mark is inactive."""
    letters = {word: letter for letter, word in WORDS.items()}
    found: defaultdict[tuple[str, int], list[str]] = defaultdict(lambda: ["."] * MINUTES)
    for rule, series, minute, state in marks:
        found[rule, series][minute] = letters[state]
    return {
        (pair.name, number): "".join(found[pair.name, number][: len(history)])
        for group in groups
        for pair in group.pairs
        for number, history in group.histories.items()
    }


def differences(groups: Sequence[Group], ours: States, theirs: States) -> str:
    """Where the two first differ, for every rule and series; empty if they never do."""
    assert ours.keys() == theirs.keys()
    lines: list[str] = []
    for group in groups:
        for pair in group.pairs:
            for number, history in group.histories.items():
                one, other = ours[pair.name, number], theirs[pair.name, number]
                if one != other:
                    lines.append(
                        f"{pair.name}, series {number}, {_difference(one, other, history)}"
                    )
    return "\n".join([f"{len(lines)} differ", *lines[:20]]) if lines else ""


def agree(groups: Sequence[Group], ours: States, theirs: States) -> None:
    """Fails with what differs, in words."""
    if text := differences(groups, ours, theirs):
        pytest.fail(text, pytrace=False)


def _difference(ours: str, theirs: str, history: History) -> str:
    assert len(ours) == len(theirs) == len(history)
    minute = next(
        n for n, (one, other) in enumerate(zip(ours, theirs, strict=True)) if one != other
    )
    values = " ".join(f"{value:g}" for value in history[max(0, minute - 15) : minute + 1])
    return (
        f"minute {minute}: ours {WORDS[ours[minute]]}, Prometheus {WORDS[theirs[minute]]}; "
        f"values up to then: {values}"
    )
