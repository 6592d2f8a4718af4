"""Text trees -> specs, with every error named at its place instead of the first one only."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec.structs import FieldInfo

from shared.rulebook.problems import Problem, nearest
from shared.rulebook.yamlfile import Document, Path, Tree

T = TypeVar("T", bound=msgspec.Struct)


class Reporter:
    """Collects the problems of one document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def error(self, path: Path, message: str, cure: str = "") -> None:
        self.problems.append(Problem(self.document.value(*path), message, cure))

    def warn(self, path: Path, message: str, cure: str = "") -> None:
        self.problems.append(Problem(self.document.value(*path), message, cure, warning=True))

    @property
    def errors(self) -> int:
        return sum(not problem.warning for problem in self.problems)

    def convert(self, tree: Tree, kind: type[T], path: Path, what: str) -> T | None:
        """The spec of a tree after reporting everything that is wrong with it.

        What is wrong or missing is left at its default or empty, so that the rest can be checked
        as well; the caller compares `errors` before and after to know whether it may be used.
        """
        if not isinstance(tree, dict):
            self.error(path, f"{what} must be a mapping of keys to values")
            return None
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        for key in tree.keys() - fields.keys():
            mark = self.document.key(*path, key)
            cure = nearest(key, fields, "keys")
            self.problems.append(Problem(mark, f"unknown key {key!r} in {what}", cure))
        values: dict[str, object] = {}
        for name, field in fields.items():
            if name in tree:
                values[field.name] = self._field(
                    tree[name], field, (*path, name), f"{name} of {what}"
                )
            elif field.required:
                self.error(path, f"{what} has no {name}", _hint(field))
                values[field.name] = ""
        return kind(**values)

    def _field(self, value: Tree, field: FieldInfo, path: Path, what: str) -> object:
        try:
            return msgspec.convert(value, field.type, strict=False)
        except msgspec.ValidationError as error:
            text, _, inside = str(error).partition(" - at `$")
            self.error((*path, *_steps(inside)), f"{what}: {_plain(text)}")
            return _default(field)


def _steps(path: str) -> Path:
    """`.scope[2]` -> ("scope", 2), as far as msgspec names the way."""
    steps: list[str | int] = []
    for part in path.rstrip("`").replace("[", ".[").split("."):
        if part.startswith("["):
            inner = part.strip("[]")
            if inner.isdigit():
                steps.append(int(inner))
        elif part:
            steps.append(part)
    return tuple(steps)


def _plain(text: str) -> str:
    """msgspec's words in ours."""
    text = text.replace("Object", "Mapping").replace("`", "")
    if "matching regex" in text:
        return "must begin with a capital and hold only letters and digits (3 to 64)"
    if "length >= 1" in text:
        return "is empty"
    return text[:1].lower() + text[1:]


def _default(field: FieldInfo) -> object:
    if field.default is not msgspec.NODEFAULT:
        return field.default
    factory = field.default_factory
    return factory() if callable(factory) and factory is not msgspec.NODEFAULT else ""


def _hint(field: FieldInfo) -> str:
    hints = {
        "owner": "Name the team that mends it, e.g. owner: ml-platform.",
        "runbook": "Name the page that says what to do, e.g. runbook: runbooks/latency-high.md.",
        "severity": "One of critical, warning, info.",
        "summary": 'One sentence for the card, e.g. summary: "Answers take {ttlt}".',
        "when": "The condition, e.g. when: ttlt > 10s.",
        "unit": "The unit of its values, e.g. unit: ms.",
    }
    return hints.get(field.encode_name, "")
