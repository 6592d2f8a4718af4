"""The folder rules/ -> Rulebook. A broken file or rule costs itself only; all errors are told."""

from __future__ import annotations

from pathlib import Path

from shared.rulebook.compile import compile_rule
from shared.rulebook.document import Tree
from shared.rulebook.entry import Entry
from shared.rulebook.folder import OTHER_FILES as OTHER_FILES
from shared.rulebook.folder import no_rules, passed_over, rule_files
from shared.rulebook.problems import Mark, Problem
from shared.rulebook.rulefile import check_shape, listed, named, read_file
from shared.rulebook.rules import TRAFFIC, Rule, Rulebook
from shared.rulebook.runbooks import missing_pages
from shared.rulebook.schema import RuleSpec, SignalSpec
from shared.rulebook.signals import TRAFFIC_CURE, compile_signals
from shared.rulebook.silencefile import FILE, compile_silences
from shared.rulebook.silences import Silence
from shared.rulebook.specs import Reporter
from shared.rulebook.unless import check_unless
from shared.rulebook.vocabulary import Vocabulary
from shared.rulebook.words import check_name


def load(folder: Path, build: int = 0) -> Rulebook:
    """Reads every rule file of the folder. Never raises for what a file says: see `problems`.

    Raises:
        FileNotFoundError: there is no such folder, or nothing is wrong but it holds no rule.
    """
    reporters, problems = _read(folder)
    unread = bool(problems) or any(reporter.errors for reporter in reporters)
    vocabulary = _vocabulary(reporters, partial=unread)
    rules = _rules(reporters, vocabulary)
    silences = _silences(folder, reporters, rules, problems)
    problems += [problem for reporter in reporters for problem in reporter.problems]
    problems += missing_pages(folder.parent / "docs", rules)
    broken = any(not problem.warning for problem in problems)
    if not broken and not any(listed(reporter) for reporter in reporters):
        raise no_rules(folder)
    judged = tuple(rules) if TRAFFIC in vocabulary.signals else ()
    problems += passed_over(folder)
    return Rulebook(vocabulary.signals, judged, tuple(sorted(problems)), build, silences)


def _read(folder: Path) -> tuple[list[Reporter], list[Problem]]:
    """The files that can be read, and what is wrong with the others."""
    problems: list[Problem] = []
    found = (read_file(folder, path, problems) for path in rule_files(folder))
    reporters = [reporter for reporter in found if reporter]
    for reporter in reporters:
        check_shape(reporter)
    return reporters, problems


def _vocabulary(reporters: list[Reporter], partial: bool) -> Vocabulary:
    specs: dict[str, tuple[SignalSpec, Reporter]] = {}
    written: dict[str, Reporter] = {}
    for reporter in reporters:
        for name, tree in named(reporter).items():
            if name in written:
                first = _first(written[name].document.key("signals", name))
                reporter.error_of_key(("signals", name), f"signal {name} is defined twice", first)
                continue
            written[name] = reporter
            spec = _signal_spec(name, tree, reporter)
            if spec:
                specs[name] = (spec, reporter)
    if TRAFFIC not in written and not partial:
        _no_traffic(reporters)
    return compile_signals(specs, {TRAFFIC, *written}, partial)


def _signal_spec(name: str, tree: Tree, reporter: Reporter) -> SignalSpec | None:
    entry, before = Entry(reporter, ("signals", name), f"signal {name}"), reporter.errors
    entry.read_key(check_name, name)
    spec = reporter.convert(tree, SignalSpec, entry.path, entry.title)
    return spec if reporter.errors == before else None


def _no_traffic(reporters: list[Reporter]) -> None:
    """Told where the signals begin, or in the first file if there are none."""
    message = f"no signal {TRAFFIC}: it tells an idle deployment from a silent metric"
    for reporter in sorted(reporters, key=lambda one: not named(one))[:1]:
        reporter.error_of_key(("signals",), message, f"Add it: {TRAFFIC_CURE}.")


def _silences(
    folder: Path, reporters: list[Reporter], rules: list[Rule], problems: list[Problem]
) -> tuple[Silence, ...]:
    """The silences of the folder; what is wrong with their file is added to the problems."""
    if not (folder / FILE).is_file():
        return ()
    reporter = read_file(folder, folder / FILE, problems)
    if reporter is None:
        return ()
    whole = not problems and not any(other.errors for other in reporters)
    reporters.append(reporter)
    return compile_silences(reporter, [rule.name for rule in rules] if whole else [])


def _rules(reporters: list[Reporter], vocabulary: Vocabulary) -> list[Rule]:
    rules: dict[str, Rule] = {}
    entries: dict[str, Entry] = {}
    written: set[str] = set()
    for reporter in reporters:
        for index, tree in enumerate(listed(reporter)):
            path, before = ("rules", index), reporter.errors
            spec = reporter.convert(tree, RuleSpec, path, _title(tree, index))
            written |= {spec.name} if spec else set()
            rule = compile_rule(spec, path, vocabulary, reporter) if spec else None
            if rule is None or reporter.errors > before:
                continue
            if rule.name in rules:
                first = _first(rules[rule.name].mark)
                reporter.error((*path, "name"), f"rule {rule.name} is defined twice", first)
            else:
                rules[rule.name] = rule
                entries[rule.name] = Entry(reporter, path, rule.name)
    wrong = check_unless(rules, entries, written, vocabulary.partial)
    return [rule for name, rule in rules.items() if name not in wrong]


def _title(tree: Tree, index: int) -> str:
    name = tree.get("name") if isinstance(tree, dict) else None
    return f"rule {name}" if isinstance(name, str) and name else f"rule number {index + 1}"


def _first(mark: Mark) -> str:
    return f"The first stands in {mark.file}, line {mark.line}."
