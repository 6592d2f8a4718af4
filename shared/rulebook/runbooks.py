"""The pages that rules lead to: paths below `docs/`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from shared.rulebook.problems import Problem, TextError
from shared.rulebook.rules import Rule

_PAGE = re.compile(r"[\w.-][\w. -]*(/[\w.-][\w. -]*)*(#[\w.-]+)?")
_LONGEST = 200


def check_page(path: str) -> str:
    """The path again; raises TextError where it does not lead to a page below the docs."""
    outside = {".", ".."} & set(path.split("/"))
    if outside or len(path) > _LONGEST or not _PAGE.fullmatch(path):
        cure = "Write its path below docs/, e.g. runbooks/latency-high.md."
        raise TextError(f"{path[:80]!r} is no page below docs/", cure)
    return path


def missing_pages(docs: Path, rules: Iterable[Rule]) -> list[Problem]:
    """A warning for each rule whose page is not written, where there are docs at all."""
    if not docs.is_dir():
        return []
    missing = [rule for rule in rules if not (docs / rule.runbook.partition("#")[0]).is_file()]
    return [
        Problem(rule.mark, f"{rule.name}: there is no page docs/{rule.runbook}", _cure(rule), True)
        for rule in missing
    ]


def _cure(rule: Rule) -> str:
    if rule.runbook.startswith("docs/"):
        return f"Leave docs/ out: {rule.runbook.removeprefix('docs/')}."
    return "Write it: what it means, how to tell, what to do."
