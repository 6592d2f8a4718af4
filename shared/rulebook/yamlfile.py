"""YAML as rules need it: every scalar is text, every value has a place, nothing can explode.

`off` stays `off` and `22:00` stays `22:00`; the schema gives types. Duplicate keys and tags are
errors, aliases are counted by what they expand to, size and depth are bounded.
"""

from __future__ import annotations

from typing import Any

import yaml

from shared.rulebook.document import Document as Document
from shared.rulebook.document import Path as Path
from shared.rulebook.document import Tree as Tree
from shared.rulebook.problems import Mark, Problem

MAX_BYTES, MAX_NODES, MAX_DEPTH = 256 * 1024, 20_000, 40

_FLATTER = "Split the file, and leave aliases out."
_CURES = (
    ("'\\t'", "Indent with spaces; YAML takes no tabs."),
    ("'%'", "Quote a value that begins with %."),
    ("'@'", "Quote a value that begins with @."),
    ("'`'", "Quote a value that begins with `."),
    ("alias", "Quote a value that begins with *."),
    ("anchor", "Quote a value that begins with &."),
    ("mapping values are not allowed", "Quote a value that holds `: `, or mend the indentation."),
    ("but found '<scalar>'", "Quote a value that begins with {, [ or a quote."),
)


class YamlError(Exception):
    """The file is not YAML that rules may be written in."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


class _TagError(Exception):
    def __init__(self, tag: str, mark: Any) -> None:
        super().__init__(tag)
        self.tag, self.mark = tag, mark


class _Loader(yaml.SafeLoader):
    """Refuses tags while they can still be told from what YAML makes of a value by itself."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event: yaml.Event = self.peek_event()  # type: ignore[no-untyped-call]
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise _TagError(tag, event.start_mark)
        return super().compose_node(parent, index)


def read_yaml(file: str, text: str) -> Document:
    """Raises YamlError, with line and column, for anything but plain, bounded YAML."""
    if len(text.encode()) > MAX_BYTES:
        message, cure = f"more than {MAX_BYTES // 1024} KiB", "Split it into several files."
        raise YamlError(Problem(Mark(file), message, cure))
    try:
        node = yaml.compose(text, Loader=_Loader)
    except _TagError as error:
        raise YamlError(_tagged(file, error)) from None
    except yaml.MarkedYAMLError as error:
        raise YamlError(_syntax(file, error)) from None
    except yaml.reader.ReaderError as error:
        raise YamlError(_unprintable(file, text, error.position)) from None
    except RecursionError:
        raise YamlError(Problem(Mark(file), "nested too deeply", _FLATTER)) from None
    builder = _Builder(file, text)
    tree: Tree = {} if node is None else builder.build(node, ())
    return Document(file, tree, builder.keys, builder.values, builder.raw)


def _tagged(file: str, error: _TagError) -> Problem:
    place = Mark(file, error.mark.line + 1, error.mark.column + 1)
    if error.tag.startswith("tag:"):
        message, cure = "a tag stands here", "Leave the tag out: every value is text."
    else:
        message = f"{error.tag} stands here as a tag, which YAML would drop"
        cure = "Quote a value that begins with !. To turn a condition round, write `not`."
    return Problem(place, message, cure)


def _unprintable(file: str, text: str, position: int) -> Problem:
    before = text[:position]
    place = Mark(file, before.count("\n") + 1, position - before.rfind("\n"))
    message = f"not YAML: a character that cannot be printed ({ord(text[position]):#04x})"
    return Problem(place, message, "Delete it.")


def _syntax(file: str, error: yaml.MarkedYAMLError) -> Problem:
    mark = error.problem_mark or error.context_mark
    place = Mark(file, mark.line + 1, mark.column + 1) if mark else Mark(file)
    text = " ".join(part for part in (error.context, error.problem) if part)
    cures = (cure for part, cure in _CURES if part in text)
    return Problem(
        place, f"not YAML: {text}", next(cures, "Check indentation, colons and quotes there.")
    )


class _Builder:
    def __init__(self, file: str, text: str) -> None:
        self.file, self.text, self.count = file, text, 0
        self.keys: dict[Path, Mark] = {}
        self.values: dict[Path, Mark] = {}
        self.raw: dict[Path, str] = {}

    def build(self, node: yaml.Node, path: Path) -> Tree:
        self.count += 1
        place = self._mark(node)
        if self.count > MAX_NODES or len(path) > MAX_DEPTH:
            message = "too many values or aliases, or nested too deeply"
            raise YamlError(Problem(place, message, _FLATTER))
        self.values[path] = place
        if isinstance(node, yaml.ScalarNode):
            self.raw[path] = self.text[node.start_mark.index : node.end_mark.index]
            return str(node.value)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(child, (*path, n)) for n, child in enumerate(node.value)]
        assert isinstance(node, yaml.MappingNode)
        return self._mapping(node, path)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Tree]:
        result: dict[str, Tree] = {}
        for key_node, child in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                cure = "Quote a value that begins with { or [, or mend the indentation."
                raise YamlError(Problem(self._mark(key_node), "a key must be plain text", cure))
            key = str(key_node.value)
            if key in result:
                first = self.keys[(*path, key)].line
                message = f"the key {key!r} stands here twice"
                cure = f"The first is in line {first}; keep one."
                raise YamlError(Problem(self._mark(key_node), message, cure))
            result[key] = self.build(child, (*path, key))
            self.keys[(*path, key)] = self._mark(key_node)
        return result

    def _mark(self, node: yaml.Node) -> Mark:
        mark = node.start_mark
        quoted = isinstance(node, yaml.ScalarNode) and node.style in ("'", '"')
        return Mark(self.file, mark.line + 1, mark.column + 1 + quoted)
