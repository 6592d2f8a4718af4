"""A file's text as a tree, and where in the file everything stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from shared.rulebook.problems import Mark

Tree: TypeAlias = "str | list[Tree] | dict[str, Tree]"
Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """A file's content and, for each path in it, where the key and the value stand."""

    file: str
    tree: Tree
    keys: Mapping[Path, Mark]
    values: Mapping[Path, Mark]
    raw: Mapping[Path, str]
    """Each text value as it is written: with its quotes, over several lines."""

    def key(self, *path: str | int) -> Mark:
        return self.keys.get(path) or self.value(*path)

    def value(self, *path: str | int) -> Mark:
        """The place of a value, or of the nearest thing around it that exists."""
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, Mark(self.file))

    def inside(self, path: Path, value: str, offset: int) -> Mark:
        """The place of one character of a text value, folded over lines or not.

        Folding alters blanks alone, so the n-th sign of the value is the n-th sign in the file,
        unless quotes hide another spelling: then it is counted from where the value begins.
        """
        mark = self.value(*path)
        head, body = _split(self.raw.get(path, ""))
        signs = [n for n, sign in enumerate(body) if not sign.isspace()]
        before = "".join(value[:offset].split())
        if "".join(body[n] for n in signs[: len(before)]) != before:
            return Mark(mark.file, mark.line, mark.column + offset)
        end = signs[len(before) - 1] + 1 if before else 0
        at = signs[len(before)] if len(before) < len(signs) else end
        lines = (head + body[:at]).split("\n")
        column = len(lines[-1]) + (1 if len(lines) > 1 else mark.column)
        return Mark(mark.file, mark.line + len(lines) - 1, column)


_HEAD = re.compile(r"(?:&\S+\s+)?(?:[|>][^\n]*\n)?")
"""What stands before the text itself: an anchor, the sign of a block."""


def _split(raw: str) -> tuple[str, str]:
    match = _HEAD.match(raw)
    head = match[0] if match else ""
    quoted = raw[len(head) :][:1] in ("'", '"')
    return head, raw[len(head) + quoted :]
