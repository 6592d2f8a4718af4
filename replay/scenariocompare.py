"""What came of a scenario against what was expected of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from replay.scenario import Expectation, Word

BROKEN = "cannot be judged"


@dataclass(frozen=True)
class Minute:
    """What a rule said in one minute, what state its alert was in then, and what was told."""

    verdict: Word
    state: Word
    events: tuple[Word, ...] = ()
    muted: str = ""

    @property
    def all(self) -> tuple[Word, ...]:
        return self.verdict, self.state, *self.events


@dataclass(frozen=True)
class Miss:
    """Minutes [begin, end] of a rule that are not as expected, in a sentence."""

    rule: str
    begin: int
    end: int
    message: str


def misses(
    expectations: Sequence[Expectation], minutes: Mapping[str, Sequence[Minute]]
) -> tuple[Miss, ...]:
    """What is not as expected, in the order of time; `minutes` by rule.

    Events are a closed world: one that nobody expects is a miss.
    """
    found: list[Miss] = []
    for name, seen in minutes.items():
        mine = [one for one in expectations if one.rule == name]
        found += _broken(name, seen)
        found += _events(name, [one for one in mine if not one.never], seen)
        for expectation in mine:
            found += _held(expectation, seen)
    return tuple(sorted(found, key=lambda miss: (miss.begin, miss.end)))


def _broken(rule: str, seen: Sequence[Minute]) -> Iterator[Miss]:
    """A rule that cannot be judged at all, which is a defect of the engine."""
    for minute, one in enumerate(seen):
        if one.verdict.name == BROKEN:
            yield Miss(rule, minute, len(seen) - 1, f"{rule} {one.verdict}")
            return


def _events(
    rule: str, expectations: Sequence[Expectation], seen: Sequence[Minute]
) -> Iterator[Miss]:
    """Events that did not come, and those that nobody expected."""
    wanted = [
        (one.end, one.begin, word)
        for one in expectations
        for word in one.words
        if word.kind == "event"
    ]
    wanted.sort(key=lambda each: each[:2])
    for minute, event in ((n, event) for n, one in enumerate(seen) for event in one.events):
        fits = [w for w in wanted if w[1] <= minute <= w[0] and event.fulfils(w[2])]
        if fits:
            wanted.remove(fits[0])
        else:
            yield Miss(rule, minute, minute, f"{minute}m told {event}, which is not expected")
    for end, begin, word in wanted:
        yield Miss(rule, begin, end, f"{span(begin, end)} did not tell {word}")


def _held(expectation: Expectation, seen: Sequence[Minute]) -> Iterator[Miss]:
    """Verdicts and states that were not so throughout, and what should never be but was."""
    for word in (word for word in expectation.words if word.kind != "event"):
        wrong = [
            minute
            for minute in range(expectation.begin, expectation.end + 1)
            if _real(word, seen[minute]).fulfils(word) == expectation.never
        ]
        if wrong:
            begin, end = wrong[0], _run(wrong)
            never, real = "never " * expectation.never, _real(word, seen[begin])
            message = f"{span(begin, end)} was {real}, expected {never}{word}"
            yield Miss(expectation.rule, begin, end, message)


def _real(word: Word, minute: Minute) -> Word:
    return minute.state if word.kind == "state" else minute.verdict


def _run(minutes: Sequence[int]) -> int:
    """The last minute of the first unbroken run."""
    last = minutes[0]
    for minute in minutes[1:]:
        if minute > last + 1:
            break
        last = minute
    return last


def span(begin: int, end: int) -> str:
    return f"{begin}m" if begin == end else f"{begin}m..{end}m"
