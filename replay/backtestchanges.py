"""A file of changes -> changes, as `tokenwatch change record` would have recorded them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from shared.endpoints.fields import Reader
from shared.model import Change
from shared.rulebook.yamlfile import Tree, YamlError, read_yaml


class ChangesError(Exception):
    """A file of changes that cannot be used; one problem a line."""


def read_changes(path: Path) -> tuple[Change, ...]:
    """The changes of a YAML or JSON file: a list, each with kind, deployment or account, reference
    and time.

    Raises:
        ChangesError: every problem of the file.
    """
    try:
        tree = read_yaml(path.name, path.read_text(encoding="utf-8")).tree
    except OSError as error:
        raise ChangesError(f"{path} cannot be read: {error.strerror}") from None
    except (YamlError, UnicodeDecodeError) as error:
        raise ChangesError(f"{path}: {error}") from None
    listed = tree.get("changes", []) if isinstance(tree, dict) else tree
    if not isinstance(listed, list):
        raise ChangesError(f"{path}: write a list, each change with - kind, deployment, time ...")
    problems: list[str] = []
    changes = [_change(number, one, problems) for number, one in enumerate(listed, 1)]
    if problems:
        raise ChangesError("\n".join(f"{path}: {problem}" for problem in problems))
    return tuple(sorted(changes, key=lambda change: change.slot))


def _change(number: int, tree: Tree, problems: list[str]) -> Change:
    sent = tree if isinstance(tree, dict) else {}
    reader = Reader(sent)
    # A recording may be of any age, so each change is read as of its own time.
    change = reader.change(_time(sent))
    missing = [] if "time" in sent else ["time is missing"]
    problems += [f"change {number}: {text}" for text in (*missing, *reader.problems)]
    problems += [f"change {number}: {text}" for text in reader.unknown()]
    return change


def _time(sent: dict[str, Tree]) -> datetime:
    try:
        return datetime.fromisoformat(str(sent.get("time", ""))).astimezone(UTC)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
