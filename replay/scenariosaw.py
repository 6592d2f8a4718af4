"""What a rule saw while a scenario went on: its leading comparison, minute by minute."""

from __future__ import annotations

from dataclasses import dataclass, replace

from replay.live import case_of
from replay.scenario import Scenario
from replay.scenariorun import about, live, past_of
from shared.engine.evidence import Witness
from shared.engine.span import Span
from shared.rulebook.ast import text_of
from shared.rulebook.rules import Rule, Rulebook
from shared.rulebook.typecheck import unit_of
from shared.rulebook.units import BARE, Unit


@dataclass(frozen=True)
class Saw:
    """One minute: the value that was judged, over how many minutes, and its limit."""

    window: int
    value: float | None
    limit: float | None


@dataclass(frozen=True)
class Sights:
    """A rule's leading comparison `title op limit`, and what it saw minute by minute."""

    title: str
    op: str
    unit: Unit
    minutes: tuple[Saw, ...]


def look(scenario: Scenario, rulebook: Rulebook, name: str) -> Sights | None:
    """What the rule saw; None if it compares nothing. Runs the scenario once more."""
    rule = next(rule for rule in rulebook.rules if rule.name == name)
    compare = rule.leading
    if compare is None:
        return None
    seen, unit = [], BARE
    for witness in _witnesses(scenario, about(scenario, rulebook), rule):
        window = int(witness.context.lengths[0, 0])
        seen.append(Saw(window, witness.value(compare.left), witness.value(compare.right)))
        unit = unit_of(compare.left, witness.names) or BARE
    return Sights(text_of(compare.left), compare.op, unit, tuple(seen))


def _witnesses(scenario: Scenario, book: Rulebook, rule: Rule) -> list[Witness]:
    past, found = past_of(scenario, book), []
    for slot, before, judged in live(scenario, book):
        case = case_of(book, scenario.account, past, slot, slot, scenario.changes)
        # The fits that were due in the minute are among those after it; alerts are those before.
        standing = replace(judged.standing, alerts=before.alerts)
        found.append(Witness(Span(case, standing, slot, slot).context(rule), 0, 0))
    return found
