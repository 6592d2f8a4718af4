"""Checks of a scope: globs that can match something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import partial

from shared.rulebook.entry import Entry
from shared.rulebook.problems import TextError
from shared.rulebook.schema import ScopeSpec
from shared.rulebook.scope import Scope

_JOKERS = re.compile(r"\[[^\]]+\]|[*?]")
_ALLOWED = {"accounts": r"[\w.-]*", "deployments": r"[^/\\\x00-\x1f\x7f]*", "regions": "[a-z0-9]*"}
"""Signs that Azure allows in a name. Of deployments anything is known to come."""


def read_scope(spec: ScopeSpec, entry: Entry, *where: str | int) -> Scope:
    for key in _ALLOWED:
        globs: list[str] = getattr(spec, key)
        for n, glob in enumerate(globs):
            entry.read(partial(_check, key), glob, *where, key, n)
        if takes_in_nothing(globs):
            message = f"{key} takes in nothing: all of it is left out again"
            entry.error(message, "Leave a glob out, or the whole rule.", *where, key)
    return Scope(tuple(spec.accounts), tuple(spec.deployments), tuple(spec.regions))


def _check(key: str, glob: str) -> str:
    """The glob again; raises TextError where nothing can match it."""
    sign = "!" if glob.startswith("!") else ""
    name = glob[len(sign) :]
    if not name.strip():
        raise TextError(f"{glob!r} is an empty glob", 'Write "*" for all, or leave it out.')
    meant = _meant(name, key)
    if meant != name:
        raise TextError(f"{glob!r} can match none of the {key}", f'Write "{sign}{meant}".')
    return glob


def _meant(name: str, key: str) -> str:
    """The glob without what no name holds: blanks around it, a path before it."""
    if re.fullmatch(_ALLOWED[key], _JOKERS.sub("", name), re.ASCII | re.IGNORECASE):
        return name.strip().lstrip("!")
    last = name.strip().rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1]
    kept = {"accounts": r"[^\w.*?\[\]-]", "deployments": r"[\x00-\x1f\x7f]"}
    cut = re.sub(kept.get(key, r"[^A-Za-z0-9*?]"), "", last, flags=re.ASCII)
    return (cut.lower() if key == "regions" else cut) or "*"


def takes_in_nothing(globs: Sequence[str]) -> bool:
    """Whether each glob that takes in is taken back by one that leaves out."""
    wanted = [glob.casefold() for glob in globs if not glob.startswith("!")] or ["*"] * bool(globs)
    unwanted = [glob[1:].casefold() for glob in globs if glob.startswith("!")]
    sure = [glob for glob in unwanted if not re.search(r"[?\[]", glob)]
    return bool(wanted) and all(
        any(fnmatchcase(w, u) for u in sure) or w in unwanted for w in wanted
    )
