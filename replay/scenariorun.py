"""A scenario through the live engine, minute by minute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from replay.live import judge_past
from replay.past import Past
from replay.scenario import START, Scenario, Word
from replay.scenariocompare import BROKEN, Minute, Miss, misses
from replay.scenarioexpect import REASONS
from shared.engine.case import Judged, Standing
from shared.model import Event, Slot
from shared.rulebook.rules import Rulebook


@dataclass(frozen=True, eq=False)
class Outcome:
    """A scenario as it went."""

    scenario: Scenario
    minutes: dict[str, tuple[Minute, ...]]
    """By rule."""
    misses: tuple[Miss, ...]

    @property
    def passed(self) -> bool:
        return not self.misses


Lived = Iterator[tuple[Slot, Standing, Judged]]
"""By minute: its slot, how things stood before, and what came of it."""


def run(scenario: Scenario, rulebook: Rulebook) -> Outcome:
    """Judges the scenario and compares with what is expected."""
    minutes = {name: list[Minute]() for name in scenario.rules}
    for _, _, judged in live(scenario, about(scenario, rulebook)):
        for name in scenario.rules:
            minutes[name].append(_minute(name, judged))
    done = {name: tuple(found) for name, found in minutes.items()}
    return Outcome(scenario, done, misses(scenario.expectations, done))


def live(scenario: Scenario, book: Rulebook) -> Lived:
    """Judges every minute by itself, as the timer does."""
    past = past_of(scenario, book)
    standing = Standing(fits={(fit.deployment.key, fit.key): fit for fit in scenario.fits})
    for slot in range(START, START + scenario.length):
        judged = judge_past(book, scenario.account, past, slot, slot, scenario.changes, standing)
        yield slot, standing, judged
        standing = judged.standing


def past_of(scenario: Scenario, book: Rulebook) -> Past:
    """History and scenario as one."""
    return Past.of(scenario.begin, scenario.series, book.needed)


def about(scenario: Scenario, rulebook: Rulebook) -> Rulebook:
    """The rules of the scenario and those that mute them, under its own silences."""
    rules = {rule.name: rule for rule in rulebook.rules}
    wanted: dict[str, None] = {}
    names = list(scenario.rules)
    while names:
        name = names.pop()
        if name in rules and name not in wanted:
            wanted[name] = None
            names += rules[name].unless
    kept = tuple(rule for rule in rulebook.rules if rule.name in wanted)
    return replace(rulebook, rules=kept, silences=scenario.silences)


def _minute(name: str, judged: Judged) -> Minute:
    alert = next((one for one in judged.standing.alerts if one.rule == name), None)
    broken = judged.broken.get(name)
    return Minute(
        Word("verdict", BROKEN, broken) if broken else _verdict(judged.tally.get(name, Counter())),
        Word("state", alert.state if alert else "inactive"),
        tuple(_told(event) for event in judged.events if event.rule == name),
        alert.muted if alert else "",
    )


def _verdict(counts: Counter[str]) -> Word:
    """The one verdict that was counted; none if the rule is not about the deployment."""
    name = next((name for name, count in counts.items() if count), "not judged")
    return Word("verdict", "unknown", name) if name in REASONS else Word("verdict", name)


def _told(event: Event) -> Word:
    return Word("event", event.kind, event.reason)
