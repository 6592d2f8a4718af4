"""Text trees -> specs, with every error named at its place instead of the first one only."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo

from shared.rulebook.document import Document, Path, Tree
from shared.rulebook.problems import Problem, closest, nearest

T = TypeVar("T", bound=msgspec.Struct)


class Reporter:
    """Collects the problems of one document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []

    def error(self, path: Path, message: str, cure: str = "") -> None:
        self.problems.append(Problem(self.document.value(*path), message, cure))

    def error_of_key(self, path: Path, message: str, cure: str = "") -> None:
        self.problems.append(Problem(self.document.key(*path), message, cure))

    def warn(self, path: Path, message: str, cure: str = "") -> None:
        self.problems.append(Problem(self.document.value(*path), message, cure, warning=True))

    @property
    def errors(self) -> int:
        return sum(not problem.warning for problem in self.problems)

    def convert(self, tree: Tree, kind: type[T], path: Path, what: str) -> T | None:
        """The spec of a tree after reporting everything that is wrong with it.

        What is wrong or missing is left at its default or empty, and a misspelt key is taken for
        the one that is meant, so that the rest can be checked as well; the caller compares `errors`
        before and after to know whether it may be used.
        """
        if not isinstance(tree, dict):
            cure = "Write key: value below it, each on a line of its own."
            self.error(path, f"{what} must be a mapping of keys to values", cure)
            return None
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        meant: dict[str, str] = {key: key for key in tree.keys() & fields.keys()}
        for key in tree.keys() - fields.keys():
            cure = nearest(key, fields, "keys")
            self.error_of_key((*path, key), f"unknown key {key!r} in {what}", cure)
            meant.setdefault(closest(key, fields), key)
        values: dict[str, object] = {}
        for name, field in fields.items():
            if name in meant:
                place = (*path, meant[name])
                value = self._value(tree[meant[name]], field.type, place, f"{name} of {what}")
                values[field.name] = _default(field) if value is None else value
            elif field.required:
                self.error(path, f"{what} has no {name}", _HINTS.get(name, ""))
                values[field.name] = _blank(field.type)
        return kind(**values)

    def _value(self, value: Tree, kind: Any, path: Path, what: str) -> object:
        """A value of a field's type; None after reporting what is wrong with it."""
        bare = _bare(kind)
        if isinstance(bare, type) and issubclass(bare, msgspec.Struct):
            return self.convert(value, bare, path, what)
        if get_origin(bare) is list and isinstance(value, list):
            return self._list(value, get_args(bare)[0], path, what)
        if get_origin(bare) is dict and isinstance(value, dict):
            inner = get_args(bare)[1]
            items = value.items()
            return {k: self._value(v, inner, (*path, k), f"{k} of {what}") or "" for k, v in items}
        if get_origin(bare) is Literal and value not in get_args(bare):
            self.error(path, *_choose(value, [word for word in get_args(bare) if word], what))
            return None
        try:
            return msgspec.convert(value, kind, strict=False)
        except msgspec.ValidationError as error:
            self.error(path, *_refused(str(error), value, what))
            return None

    def _list(self, values: list[Tree], kind: Any, path: Path, what: str) -> list[object]:
        """The values that are right; an empty spec for a wrong one, so that the rest keep count."""
        found = []
        for n, value in enumerate(values):
            one = self._value(value, kind, (*path, n), f"number {n + 1} in {what}")
            if one is None:
                one = _blank(kind)
            if one != "" or value == "":
                found.append(one)
        return found


def _choose(value: Tree, allowed: list[str], what: str) -> tuple[str, str]:
    near = closest(value, allowed) if isinstance(value, str) else ""
    listed = ", ".join(allowed[:-1]) + f" or {allowed[-1]}"
    message = f"{what}: {value!r} is not {'one of ' if len(allowed) > 2 else ''}{listed}"
    return message, f"Did you mean {near}?" if near else f"Write {listed}."


def _refused(text: str, value: Tree, what: str) -> tuple[str, str]:
    """msgspec's words in ours, and what to write."""
    if "matching regex" in text:
        message = "must begin with a capital and hold only letters and digits (3 to 64)"
        return f"{what}: {message}", "Write it like LatencyHigh."
    if "length >= 1" in text:
        return f"{what}: is empty", "Write something, or leave the key out."
    if "Expected `array`" in text:
        return f"{what}: must be a list", f'Write ["{value}"].' if isinstance(value, str) else ""
    if "Expected `object`" in text:
        return f"{what}: must be a mapping of keys to values", "Write {key: value}."
    cure = "Write one value." if isinstance(value, list) else "Quote a value that begins with {."
    return f"{what}: must be plain text", cure


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _default(field: FieldInfo) -> object:
    if field.default is not msgspec.NODEFAULT:
        return field.default
    factory = field.default_factory
    if callable(factory) and factory is not msgspec.NODEFAULT:
        return factory()
    return _blank(field.type)


def _blank(kind: Any) -> object:
    """What stands for a value that is missing or wrong, so that the others can be checked."""
    bare = _bare(kind)
    maker = get_origin(bare) or bare
    if isinstance(maker, type) and issubclass(maker, msgspec.Struct):
        return maker(**{field.name: _default(field) for field in msgspec.structs.fields(maker)})
    return maker() if maker in (list, dict) else ""


_HINTS = {
    "owner": "Name the team that mends it, e.g. owner: ml-platform.",
    "runbook": "Name the page that says what to do, e.g. runbook: runbooks/latency-high.md.",
    "severity": "One of critical, warning, info.",
    "summary": 'One sentence for the card, e.g. summary: "Answers take {ttlt}".',
    "when": "The condition, e.g. when: ttlt > 10s.",
    "name": "What the alert is called, e.g. name: LatencyHigh.",
    "unit": "The unit of its values, e.g. unit: ms.",
    "scope": 'For whom, e.g. scope: {deployments: ["report-*"]}.',
    "parameters": "Which values, e.g. parameters: {limit: 45s}.",
}
