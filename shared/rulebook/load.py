"""The folder rules/ -> Rulebook. A broken file or rule costs itself only; all errors are told."""

from __future__ import annotations

from pathlib import Path

from shared.rulebook.compile import compile_rule
from shared.rulebook.problems import Mark, Problem
from shared.rulebook.rules import TRAFFIC, Rule, Rulebook, SignalDef
from shared.rulebook.schema import RuleSpec, SignalSpec
from shared.rulebook.signals import compile_signals
from shared.rulebook.specs import Reporter
from shared.rulebook.yamlfile import Document, Tree, YamlError, read_yaml

OTHER_FILES = frozenset({"routes.yaml", "silences.yaml"})
"""Files of the folder that hold no rules."""


def load(folder: Path, build: int = 0) -> Rulebook:
    """Reads every rule file of the folder. Never raises for what a file says: see `problems`.

    Raises:
        FileNotFoundError: there is no such folder, or no rule file in it.
    """
    files = sorted(p for p in folder.glob("*.yaml") if p.name not in OTHER_FILES)
    if not files:
        raise FileNotFoundError(f"no rule files (*.yaml) in {folder}")
    problems: list[Problem] = []
    reporters: list[Reporter] = []
    for path in files:
        try:
            name = f"{folder.name}/{path.name}"
            document = read_yaml(name, path.read_text(encoding="utf-8"))
            reporters.append(Reporter(document))
            problems += _unknown_keys(document)
        except (YamlError, UnicodeDecodeError, OSError) as error:
            problems.append(_unreadable(f"{folder.name}/{path.name}", error))
    signals = compile_signals(_signal_specs(reporters))
    rules = _rules(reporters, signals)
    if TRAFFIC not in signals:
        problems.append(_no_traffic(folder))
        rules = []
    problems += [problem for reporter in reporters for problem in reporter.problems]
    problems += _missing_runbooks(folder, rules)
    return Rulebook(signals, tuple(rules), tuple(sorted(problems)), build)


def _unreadable(name: str, error: Exception) -> Problem:
    if isinstance(error, YamlError):
        return error.problem
    reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
    return Problem(Mark(name), f"the file cannot be read: {reason}")


def _no_traffic(folder: Path) -> Problem:
    cure = "requests: {metric: AzureOpenAIRequests, aggregation: total, unit: requests}"
    message = f"no signal {TRAFFIC}: it tells an idle deployment from a silent metric"
    return Problem(Mark(f"{folder.name}/signals.yaml"), message, cure)


def _signal_specs(reporters: list[Reporter]) -> dict[str, tuple[SignalSpec, Reporter]]:
    specs: dict[str, tuple[SignalSpec, Reporter]] = {}
    for reporter in reporters:
        for name, tree in _section(reporter, "signals").items():
            path, before = ("signals", name), reporter.errors
            spec = reporter.convert(tree, SignalSpec, path, f"signal {name}")
            if name in specs:
                first = specs[name][1].document.key(*path)
                reporter.error(path, f"signal {name} is defined twice", _first(first))
            elif spec and reporter.errors == before:
                specs[name] = (spec, reporter)
    return specs


def _rules(reporters: list[Reporter], signals: dict[str, SignalDef]) -> list[Rule]:
    rules: dict[str, Rule] = {}
    for reporter in reporters:
        for index, tree in enumerate(_listed(reporter)):
            path, before = ("rules", index), reporter.errors
            spec = reporter.convert(tree, RuleSpec, path, _title(tree, index))
            rule = compile_rule(spec, path, signals, reporter) if spec else None
            if rule is None or reporter.errors > before:
                continue
            if rule.name in rules:
                place = (*path, "name")
                reporter.error(
                    place, f"rule {rule.name} is defined twice", _first(rules[rule.name].mark)
                )
            else:
                rules[rule.name] = rule
    return list(rules.values())


def _section(reporter: Reporter, key: str) -> dict[str, Tree]:
    tree = _top(reporter).get(key, {})
    if isinstance(tree, dict):
        return tree
    if tree != "":
        reporter.error((key,), f"{key} must be a mapping of names to definitions")
    return {}


def _listed(reporter: Reporter) -> list[Tree]:
    tree = _top(reporter).get("rules", [])
    if isinstance(tree, list):
        return tree
    if tree != "":
        reporter.error(("rules",), "rules must be a list: begin each rule with `- name:`")
    return []


def _top(reporter: Reporter) -> dict[str, Tree]:
    return reporter.document.tree if isinstance(reporter.document.tree, dict) else {}


def _title(tree: Tree, index: int) -> str:
    name = tree.get("name") if isinstance(tree, dict) else None
    return f"rule {name}" if isinstance(name, str) and name else f"rule number {index + 1}"


def _first(mark: Mark) -> str:
    return f"The first stands in {mark.file}, line {mark.line}."


def _unknown_keys(document: Document) -> list[Problem]:
    """Unknown keys at the top of a file."""
    if not isinstance(document.tree, dict):
        return [Problem(Mark(document.file), "a rule file is a mapping with signals: and rules:")]
    return [
        Problem(document.key(key), f"unknown key {key!r}", "A file holds signals: and rules:.")
        for key in document.tree
        if key not in ("signals", "rules")
    ]


def _missing_runbooks(folder: Path, rules: list[Rule]) -> list[Problem]:
    docs = folder.parent / "docs"
    if not docs.is_dir():
        return []
    return [
        Problem(
            rule.mark,
            f"{rule.name}: there is no page docs/{rule.runbook}",
            "Write it: what it means, how to tell, what to do.",
            warning=True,
        )
        for rule in rules
        if not (docs / rule.runbook).is_file()
    ]
