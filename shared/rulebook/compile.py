"""Rule specs -> checked rules."""

from __future__ import annotations

from dataclasses import dataclass

from shared.rulebook.ast import Node
from shared.rulebook.checks import check
from shared.rulebook.checks import extensive as extensive
from shared.rulebook.document import Path
from shared.rulebook.durations import parse_hold, parse_reminder, parse_wait, parse_window
from shared.rulebook.entry import Entry
from shared.rulebook.expressions import parse_condition
from shared.rulebook.globs import read_scope
from shared.rulebook.parameters import read_override, read_parameters
from shared.rulebook.rules import Hold, Rule
from shared.rulebook.runbooks import check_page
from shared.rulebook.schema import RuleSpec
from shared.rulebook.specs import Reporter
from shared.rulebook.summary import read_summary
from shared.rulebook.typecheck import Names
from shared.rulebook.vocabulary import Vocabulary
from shared.rulebook.words import check_rule_name

REMINDED = "4h"
"""How often people are reminded of a critical alert, if its rule does not say."""


def compile_rule(
    spec: RuleSpec, path: Path, vocabulary: Vocabulary, reporter: Reporter
) -> Rule | None:
    """The rule, or None after reporting everything that is wrong with it.

    None as well, and nothing reported, if the rule needs a signal that is wrong.
    """
    before = reporter.errors
    entry = Entry(reporter, path, spec.name or "this rule")
    rule = _rule(spec, vocabulary, entry)
    if rule and reporter.errors == before:
        check(rule, vocabulary.signals, entry)
    return rule if reporter.errors == before else None


def _rule(spec: RuleSpec, vocabulary: Vocabulary, entry: Entry) -> Rule | None:
    parameters = read_parameters(spec.parameters, vocabulary.known, entry)
    broken = vocabulary.broken | parameters.broken
    partial = vocabulary.partial or entry.is_text("parameters")
    names = Names(vocabulary.units, parameters.units, broken, partial)
    conditions = _conditions(spec, names, entry)
    summary = read_summary(spec.summary, names, entry)
    times = _times(spec, entry)
    scope = read_scope(spec.scope, entry, "scope")
    overrides = [
        read_override(override, parameters, entry, "overrides", n)
        for n, override in enumerate(spec.overrides)
    ]
    _texts(spec, entry)
    if summary is None or times is None or conditions is None:
        return None
    return Rule(
        name=spec.name,
        severity=spec.severity,
        owner=spec.owner,
        summary=summary,
        runbook=spec.runbook,
        when=conditions["when"],
        until=conditions.get("until"),
        needs=conditions.get("needs"),
        shortest=times.window[0],
        longest=times.window[1],
        hold=times.hold,
        keep_firing=times.keep_firing,
        remind_every=times.remind_every,
        unless=tuple(spec.unless),
        mode=spec.mode,
        scope=scope,
        parameters=parameters.values,
        overrides=tuple(overrides),
        mark=entry.reporter.document.value(*entry.path),
    )


def _conditions(spec: RuleSpec, names: Names, entry: Entry) -> dict[str, Node] | None:
    """The conditions that are written, by key; None if one of them is missing or wrong."""
    texts = {"when": spec.when, "until": spec.until, "needs": spec.needs}
    written = {key: text for key, text in texts.items() if text}
    found = {
        key: node
        for key, text in written.items()
        if (node := entry.read_expression(lambda part: parse_condition(part, names), text, key))
    }
    return found if found.keys() == written.keys() | {"when"} else None


@dataclass(frozen=True)
class _Times:
    window: tuple[int, int]
    hold: Hold
    keep_firing: int
    remind_every: int


def _times(spec: RuleSpec, entry: Entry) -> _Times | None:
    window = entry.read(parse_window, spec.over, "over")
    hold = entry.read(parse_hold, spec.hold, "for")
    keep_firing = entry.read(parse_wait, spec.keep_firing_for, "keep_firing_for")
    if window and window[0] < window[1] and not spec.needs:
        message = "a window that grows needs to know when it is long enough"
        entry.error(message, "Add needs, e.g. needs: requests >= 5.", "over")
    every = spec.remind_every or (REMINDED if spec.severity == "critical" else "0")
    remind_every = entry.read(parse_reminder, every, "remind_every")
    if window is None or hold is None or keep_firing is None or remind_every is None:
        return None
    return _Times(window, hold, keep_firing, remind_every)


def _texts(spec: RuleSpec, entry: Entry) -> None:
    if spec.name:
        entry.read(check_rule_name, spec.name, "name")
    if spec.runbook:
        entry.read(check_page, spec.runbook, "runbook")
