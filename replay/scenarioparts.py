"""One entry under `scenarios:` -> a scenario, after reporting everything that is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from replay.scenario import START, Expectation, Scenario
from replay.scenarioexpect import parse_line
from replay.scenariogiven import read_given
from replay.scenarionormal import asked_by, fit_of
from replay.scenarioplace import SHAPES, Place
from replay.scenariospec import BaselineSpec, ChangeSpec, QuietSpec, ScenarioSpec
from shared.model import Account, Change, Deployment, Fit
from shared.rulebook.expressions import CHANGE_KINDS
from shared.rulebook.problems import nearest
from shared.rulebook.rules import Rule, Rulebook
from shared.rulebook.scope import matches
from shared.rulebook.silences import Silence
from shared.rulebook.specs import Reporter
from shared.rulebook.yamlfile import Path, Tree

_NESTED = ("rule", *SHAPES)
_ACCOUNT = (
    "/subscriptions/scenario/resourcegroups/scenario/providers/"
    "microsoft.cognitiveservices/accounts/{}"
)


def read_scenario(tree: Tree, path: Path, book: Rulebook, reporter: Reporter) -> Scenario | None:
    """The scenario of a tree, or None after reporting its errors."""
    name, n = tree.get("name") if isinstance(tree, dict) else None, int(path[-1]) + 1
    title = f"scenario {name!r}" if isinstance(name, str) and name else f"scenario number {n}"
    if not isinstance(tree, dict):
        reporter.error(path, f"{title} is no mapping", "Begin it with `- name:`.")
        return None
    place = Place(tree, path, title, reporter)
    scenario = _scenario(place, book)
    return None if place.wrong else scenario


def _scenario(place: Place, book: Rulebook) -> Scenario:
    flat: Tree = {key: value for key, value in place.tree.items() if key not in _NESTED}
    spec = place.flat(flat, ScenarioSpec)
    if not spec.name:
        place.error("it has no name", "Say in a short sentence what happens.", "name")
    account = Account(_ACCOUNT.format(spec.account.lower()), spec.region)
    deployment = Deployment(account.id, spec.deployment)
    given = read_given(place, book, spec.lasts)
    series = given.behind(deployment)
    rules = _rules(place, book)
    changes = _changes(place, given.length)
    return Scenario(
        name=spec.name,
        mark=place.mark,
        rules=tuple(rule.name for rule in rules),
        account=account,
        deployment=deployment,
        length=given.length,
        series=series,
        begin=START - given.before,
        columns=given.columns(),
        expectations=tuple(_expectations(place, [rule.name for rule in rules], given.length)),
        changes=changes,
        silences=_silences(place, book, given.length),
        fits=_fits(place, book, rules, deployment, changes, START + given.length),
    )


def _rules(place: Place, book: Rulebook) -> list[Rule]:
    known = {rule.name: rule for rule in book.rules}
    tree = place.tree.get("rule", "")
    names = [name for name in (tree if isinstance(tree, list) else [tree]) if name]
    if not names:
        place.error("it does not say which rule it is about", "Add rule: NAME.", "rule")
    found: dict[str, Rule] = {}
    for n, name in enumerate(names):
        if isinstance(name, str) and name in known:
            found[name] = known[name]
        else:
            cure = nearest(name, known, "rules") if isinstance(name, str) else "Write its name."
            place.error(f"unknown rule {name}", cure, "rule", n)
    return list(found.values())


def _expectations(place: Place, rules: list[str], length: int) -> list[Expectation]:
    lines = place.mapping("expect")
    if not lines:
        place.error("it expects nothing", SHAPES["expect"], "expect")
    made: list[Expectation] = []
    for key, tree in lines.items():
        if isinstance(tree, dict):
            if rules and key not in rules:
                cure = f"Add it to rule:, which names {', '.join(rules)}."
                place.error(f"it is not about {key}", cure, "expect", key)
            for time, what in tree.items():
                made += _line(place, key, what, length, key, time)
        elif len(rules) > 1:
            cure = f"Write expect: {{{rules[0]}: {{{key}: ...}}}}."
            place.error(f"of which rule is {key} expected?", cure, "expect", key)
        else:
            made += _line(place, (*rules, "")[0], tree, length, key)
    _contradictions(place, made)
    return made


def _contradictions(place: Place, made: Sequence[Expectation]) -> None:
    """What is expected at some time and never, for one rule."""
    never = [(one.rule, word) for one in made if one.never for word in one.words]
    for one in (one for one in made if not one.never):
        for word in one.words:
            if any(rule == one.rule and word.fulfils(other) for rule, other in never):
                message = f"{word} is expected at {one.text}, and never"
                place.error(message, "Keep one of the two.", "expect")


def _line(place: Place, rule: str, tree: Tree, length: int, *where: str) -> list[Expectation]:
    words = tree if isinstance(tree, list) else [tree]
    what = ", ".join(word if isinstance(word, str) else "?" for word in words)
    found = place.attempt(partial(parse_line, rule, where[-1], what, length), "expect", *where)
    return [found] if found else []


def _changes(place: Place, length: int) -> tuple[Change, ...]:
    made = []
    for spec, where in place.listed("changes", ChangeSpec):
        if spec.kind not in CHANGE_KINDS:
            cure = nearest(spec.kind, CHANGE_KINDS, "kinds")
            place.error(f"unknown kind of change {spec.kind!r}", cure, *where, "kind")
        slot = START + place.minute(spec.at, *where, "at", most=length)
        made.append(Change(spec.kind, slot, "*", spec.reference))
    return tuple(made)


def _silences(place: Place, book: Rulebook, length: int) -> tuple[Silence, ...]:
    made, names = [], [rule.name for rule in book.rules]
    for spec, where in place.listed("silences", QuietSpec):
        begin = place.minute(spec.begin or "0", *where, "from", most=length)
        end = place.minute(spec.until or f"{length}m", *where, "until", most=length)
        if begin >= end:
            place.error("the silence ends before it begins", "Turn from and until round.", *where)
        for n, glob in enumerate(spec.rules):
            if not any(matches((glob.removeprefix("!"),), name) for name in names):
                cure = nearest(glob, names, "rules")
                place.error(f"{glob!r} fits no rule", cure, *where, "rules", n)
        globs, span = tuple(spec.rules), (START + begin, START + end)
        made.append(Silence(spec.reason, spec.owner, globs, begin=span[0], end=span[1]))
    return tuple(made)


def _fits(
    place: Place,
    book: Rulebook,
    rules: Sequence[Rule],
    deployment: Deployment,
    changes: Sequence[Change],
    end: int,
) -> tuple[Fit, ...]:
    asked, made = asked_by(rules), []
    for name, tree in place.mapping("baseline").items():
        plain: Tree = {"level": tree} if isinstance(tree, str) else tree
        spec = place.flat(plain, BaselineSpec, "baseline", name)
        make = partial(fit_of, name, spec, asked, book.signals, deployment, changes, end)
        found = place.attempt(make, "baseline", name)
        made += [found] if found else []
    return tuple(made)
