"""YAML as rules need it: every scalar is text, every value has a place, nothing can explode.

`off` stays `off` and `22:00` stays `22:00`; the schema gives types. Duplicate keys are errors,
aliases are counted by what they expand to, size and depth are bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import yaml

from shared.rulebook.problems import Mark, Problem

Tree: TypeAlias = "str | list[Tree] | dict[str, Tree]"
Path: TypeAlias = tuple[str | int, ...]

MAX_BYTES, MAX_NODES, MAX_DEPTH = 256 * 1024, 20_000, 40


@dataclass(frozen=True)
class Document:
    """A file's content and, for each path in it, where the key and the value stand."""

    file: str
    tree: Tree
    keys: dict[Path, Mark]
    values: dict[Path, Mark]

    def key(self, *path: str | int) -> Mark:
        return self.keys.get(path) or self.value(*path)

    def value(self, *path: str | int) -> Mark:
        """The place of a value, or of the nearest thing around it that exists."""
        while path and path not in self.values:
            path = path[:-1]
        return self.values.get(path, Mark(self.file))


class YamlError(Exception):
    """The file is not YAML that rules may be written in."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def read_yaml(file: str, text: str) -> Document:
    """Raises YamlError, with line and column, for anything but plain, bounded YAML."""
    if len(text.encode()) > MAX_BYTES:
        raise YamlError(
            Problem(
                Mark(file), f"more than {MAX_BYTES // 1024} KiB", "Split it into several files."
            )
        )
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        raise YamlError(_syntax(file, error)) from None
    except yaml.YAMLError as error:
        raise YamlError(Problem(Mark(file), f"not YAML: {error}")) from None
    except RecursionError:
        raise YamlError(Problem(Mark(file), "nested too deeply")) from None
    builder = _Builder(file)
    tree: Tree = {} if node is None else builder.build(node, ())
    return Document(file, tree, builder.keys, builder.values)


def _syntax(file: str, error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    place = Mark(file, mark.line + 1, mark.column + 1) if mark else Mark(file)
    text = " ".join(part for part in (error.context, error.problem) if part)
    return Problem(place, f"not YAML: {text}", "Check indentation, colons and quotes there.")


class _Builder:
    def __init__(self, file: str) -> None:
        self.file, self.count = file, 0
        self.keys: dict[Path, Mark] = {}
        self.values: dict[Path, Mark] = {}

    def build(self, node: yaml.Node, path: Path) -> Tree:
        self.count += 1
        place = self._mark(node)
        if self.count > MAX_NODES or len(path) > MAX_DEPTH:
            raise YamlError(Problem(place, "too many values or aliases, or nested too deeply"))
        self.values[path] = place
        if isinstance(node, yaml.ScalarNode):
            return str(node.value)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(child, (*path, n)) for n, child in enumerate(node.value)]
        assert isinstance(node, yaml.MappingNode)
        return self._mapping(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Tree]:
        result: dict[str, Tree] = {}
        for key_node, child in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise YamlError(Problem(self._mark(key_node), "a key must be plain text"))
            key = str(key_node.value)
            if key in result:
                raise YamlError(
                    Problem(
                        self._mark(key_node),
                        f"the key {key!r} stands here twice",
                        f"The first is in line {self.keys[(*path, key)].line}; keep one.",
                    )
                )
            result[key] = self.build(child, (*path, key))
            self.keys[(*path, key)] = self._mark(key_node)
        return result

    def _mark(self, node: yaml.Node) -> Mark:
        mark = node.start_mark
        quoted = isinstance(node, yaml.ScalarNode) and node.style in ("'", '"')
        return Mark(self.file, mark.line + 1, mark.column + 1 + quoted)
