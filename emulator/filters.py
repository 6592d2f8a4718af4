"""The filter of a metrics query: `ModelDeploymentName eq '*' and StatusCode eq '200'`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote

CLAUSE = re.compile(r"\s*(?P<name>[^'()]+?)\s+eq\s+'(?P<value>(?:[^'()]|'')*)'\s*", re.I)
JOIN = re.compile(r"(and|or)\s+", re.I)

Filter = Mapping[str, frozenset[str] | None]
"""By dimension as asked: the values without case that are let through; None lets all through."""


class FilterError(ValueError):
    """A filter that Azure would refuse."""


def parse(text: str) -> Filter:
    """Read a filter as it stands after the query string was decoded once.

    Brackets are only understood when encoded twice (%2528), a quote within a value is doubled,
    and `or` joins values of one dimension only.
    """
    found: dict[str, frozenset[str] | None] = {}
    position, join, last = 0, "", ""
    while True:
        clause = CLAUSE.match(text, position)
        if not clause:
            raise FilterError(f"The filter is not understood from {text[position:]!r} on.")
        name = _decoded(clause["name"])
        value = _decoded(clause["value"].replace("''", "'")).casefold()
        if join == "or" and name.casefold() != last:
            raise FilterError("'or' cannot separate two different metadata names.")
        if join == "and" and name.casefold() in {known.casefold() for known in found}:
            raise FilterError(f"The metadata name {name} is given twice.")
        found[name] = _widened(found.get(name, frozenset()), value)
        if clause.end() == len(text):
            return found
        joined = JOIN.match(text, clause.end())
        if not joined:
            raise FilterError(f"The filter is not understood from {text[clause.end() :]!r} on.")
        position, join, last = joined.end(), joined[1].casefold(), name.casefold()


def _decoded(text: str) -> str:
    """Clients send %2528 for a bracket, some of them encoded once more."""
    return unquote(unquote(text))


def _widened(values: frozenset[str] | None, value: str) -> frozenset[str] | None:
    return None if value == "*" or values is None else values | {value}
