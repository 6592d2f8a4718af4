"""Outcomes as JUnit XML, which GitHub and Azure Pipelines show beside a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from replay.scenariorun import Outcome
from shared.rulebook.problems import Problem

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold."""


def write_junit(
    path: Path, outcomes: Iterable[tuple[Outcome, float, str]], problems: Sequence[Problem] = ()
) -> None:
    """A suite a file; outcomes come with their seconds and, if they failed, with the table.

    Raises:
        OSError: the file cannot be written.
    """
    suites: dict[str, list[Element]] = {}
    for outcome, seconds, table in outcomes:
        suites.setdefault(outcome.scenario.mark.file, []).append(_case(outcome, seconds, table))
    for problem in problems:
        suites.setdefault(problem.mark.file, []).append(_unreadable(problem))
    root = Element("testsuites", name="tokenwatch test")
    for file, cases in suites.items():
        suite = SubElement(root, "testsuite", name=_clean(file))
        suite.extend(cases)
        _count(suite, cases)
    _count(root, [case for cases in suites.values() for case in cases])
    indent(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _case(outcome: Outcome, seconds: float, table: str) -> Element:
    scenario = outcome.scenario
    case = _new(", ".join(scenario.rules), scenario.name, scenario.mark.file, seconds)
    case.set("line", str(scenario.mark.line))
    if not outcome.passed:
        message = "; ".join(miss.message for miss in outcome.misses)
        failure = SubElement(case, "failure", message=_clean(message), type="expectation")
        failure.text = _clean(table)
    return case


def _unreadable(problem: Problem) -> Element:
    case = _new(problem.mark.file, f"line {problem.mark.line}", problem.mark.file, 0.0)
    SubElement(case, "error", message=_clean(problem.message), type="unreadable").text = _clean(
        str(problem)
    )
    return case


def _new(kind: str, name: str, file: str, seconds: float) -> Element:
    return Element(
        "testcase",
        classname=_clean(kind),
        name=_clean(name),
        file=_clean(file),
        time=f"{seconds:.3f}",
    )


def _count(into: Element, cases: Sequence[Element]) -> None:
    into.set("tests", str(len(cases)))
    into.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    into.set("errors", str(sum(case.find("error") is not None for case in cases)))
    into.set("time", f"{sum(float(case.get('time', 0)) for case in cases):.3f}")


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("?", text)
