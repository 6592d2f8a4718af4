"""Signals as an author writes them -> the series that Azure Monitor would have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

from replay.scenariosource import Source, Where
from shared.engine.frame import Floats, matches
from shared.engine.windows import divide
from shared.model import Component
from shared.rulebook.ast import Binary, Signal
from shared.rulebook.catalogue import catalogue
from shared.rulebook.rules import SignalDef

Known = dict[Component, Floats]
Key = tuple[str, str, Where]
"""Metric, aggregation, and what the series is split by."""
Blame = Callable[[str, str, str], None]
"""Hears what is wrong with a name: message and cure."""

STATUS = "StatusCode"
GOOD: Where = ((STATUS, "2xx"),)


def resolve(
    named: Mapping[str, tuple[Source, Floats]], signals: Mapping[str, SignalDef], blame: Blame
) -> dict[Key, Floats]:
    """The series behind what is given: formulas solved for a part, wholes split by status."""
    known: Known = {}
    names: dict[Component, str] = {}
    for name, (source, values) in named.items():
        if source.component is None:
            continue
        overlap = next((c for c in known if _overlap(c, source.component)), None)
        if overlap:
            blame(name, f"{name} counts what {names[overlap]} counts", "Leave one of them out.")
        known[source.component], names[source.component] = values, name
    given = {
        name: (source.formula, values)
        for name, (source, values) in named.items()
        if source.formula is not None
    }
    _solve(known, given, signals, blame)
    return _split(known, names, blame)


def _overlap(one: Component, other: Component) -> bool:
    if (one.metric, one.aggregation) != (other.metric, other.aggregation):
        return False
    if one.aggregation != "total" or not (one.where and other.where):
        return _shown(one.where) == _shown(other.where)
    return matches(one.where, _shown(other.where)) or matches(other.where, _shown(one.where))


def _shown(where: Where) -> Where:
    """What a part is split by in Azure Monitor; 200 stands for all of 2xx."""
    return tuple((name, re.sub("(?<=^[0-9])xx$", "00", value)) for name, value in where)


def _solve(
    known: Known,
    given: dict[str, tuple[SignalDef, Floats]],
    signals: Mapping[str, SignalDef],
    blame: Blame,
) -> None:
    """Works out what formulas of two parts say of the part that is not given."""
    left = dict(given)
    while left:
        solved = [
            n for n, (signal, values) in left.items() if _part(signal, values, known, signals)
        ]
        if not solved and not _all_succeed(known):
            break
        for name in solved:
            del left[name]
    for name, (signal, _) in left.items():
        parts = _parts(signal, signals)
        if not parts:
            cure = "Give the signals that it is made of."
            blame(name, f"the formula of {name} is no quotient of two metrics", cure)
        elif all(part in known for part in parts):
            cure = "Leave one of them out."
            blame(name, f"{name} follows from other series already", cure)
        else:
            operands = " or ".join(_operands(signal))
            blame(name, f"{name} says nothing without its parts", f"Give {operands} as well.")


def _part(
    signal: SignalDef, values: Floats, known: Known, signals: Mapping[str, SignalDef]
) -> bool:
    """Adds the one part of a quotient that is not known; whether there was one."""
    parts = _parts(signal, signals)
    if not parts or len([part for part in parts if part in known]) != 1:
        return False
    over, under = parts
    quotient = values / 100 if signal.percent else values
    if under in known:
        known[over] = quotient * known[under]
    else:
        known[under] = divide(known[over], quotient)
    return True


def _operands(signal: SignalDef) -> list[str]:
    node = signal.formula
    if isinstance(node, Binary) and node.op == "/":
        return [side.name for side in (node.left, node.right) if isinstance(side, Signal)]
    return []


def _parts(signal: SignalDef, signals: Mapping[str, SignalDef]) -> list[Component]:
    """The components of a quotient of two metrics, else nothing."""
    found = [signals[name].component for name in _operands(signal)]
    parts = [component for component in found if component]
    return parts if len(parts) == 2 else []


def _all_succeed(known: Known) -> bool:
    """Where nobody says how many requests succeed, all do that no other part counts."""
    for whole in [c for c in known if not c.where and c.aggregation == "total"]:
        good = Component(whole.metric, whole.aggregation, GOOD)
        counted = any(_overlap(good, part) for part in _parts_of(whole, known))
        if STATUS in catalogue()[whole.metric].dimensions and not counted:
            known[good] = _rest(whole, known)
            return True
    return False


def _rest(whole: Component, known: Known) -> Floats:
    """What of a whole no part counts; a part without a point counts nothing."""
    parts = [known[c] for c in _parts_of(whole, known)]
    rest: Floats = known[whole] - sum(map(np.nan_to_num, parts), np.zeros_like(known[whole]))
    return np.where(np.abs(rest) < 1e-9 * known[whole], 0.0, rest)


def _parts_of(whole: Component, known: Known) -> list[Component]:
    alike = (whole.metric, whole.aggregation)
    return [c for c in known if c.where and (c.metric, c.aggregation) == alike]


def _split(known: Known, names: Mapping[Component, str], blame: Blame) -> dict[Key, Floats]:
    series: dict[Key, Floats] = {}
    for component, values in known.items():
        if component.where or component.aggregation != "total":
            series[component.metric, component.aggregation, _shown(component.where)] = values
            continue
        rest, parts = _rest(component, known), _parts_of(component, known)
        if (rest < 0).any():
            minute = int(np.argmax(rest < 0))
            blame(
                names[component],
                f"{names[component]} is less than its parts in minute {minute}",
                "The whole counts every request, whatever its status.",
            )
        if not parts or (rest > 0).any():
            series[component.metric, component.aggregation, _remainder(component, parts)] = rest
    return series


def _remainder(whole: Component, parts: list[Component]) -> Where:
    """What the rest of a whole is split by: it failed if successes are counted, else succeeded."""
    if STATUS in catalogue()[whole.metric].dimensions:
        good = any(value.startswith("2") for part in parts for _, value in part.where)
        return ((STATUS, "500" if good else "200"),)
    return ((parts[0].where[0][0], "other"),) if parts else ()
