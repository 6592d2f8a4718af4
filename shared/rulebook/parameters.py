"""The named values of a rule, and which deployments have others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from shared.rulebook.entry import Entry
from shared.rulebook.globs import read_scope
from shared.rulebook.literals import parse_literal
from shared.rulebook.problems import nearest
from shared.rulebook.rules import Override
from shared.rulebook.schema import OverrideSpec
from shared.rulebook.units import Unit
from shared.rulebook.words import check_name


@dataclass(frozen=True)
class Parameters:
    """Those that are right, and the names of those that are not."""

    written: Mapping[str, str]
    values: Mapping[str, float] = field(default_factory=dict)
    units: Mapping[str, Unit] = field(default_factory=dict)

    @property
    def broken(self) -> frozenset[str]:
        return frozenset(self.written.keys() - self.values.keys())


def read_parameters(
    written: Mapping[str, str], signals: Collection[str], entry: Entry
) -> Parameters:
    values: dict[str, float] = {}
    units: dict[str, Unit] = {}
    for name, text in written.items():
        where = ("parameters", name)
        literal = entry.read(parse_literal, text, *where)
        if name in signals:
            cure = f"Call it {name}_limit, for example."
            entry.error_of_key(f"parameter {name} has the name of a signal", cure, *where)
        elif entry.read_key(check_name, name, *where) and literal:
            values[name], units[name] = literal
    return Parameters(written, values, units)


def read_override(
    spec: OverrideSpec, parameters: Parameters, entry: Entry, *where: str | int
) -> Override:
    scope = read_scope(spec.scope, entry, *where, "scope")
    if not (scope.accounts or scope.deployments or scope.regions):
        cure = "Name some in its scope, or change the parameters of the rule."
        entry.warn("an override without a scope covers everything", cure, *where)
    if not spec.parameters:
        entry.warn("an override without parameters changes nothing", "Leave it out.", *where)
    values = {
        name: value
        for name, text in spec.parameters.items()
        if (value := _value(name, text, parameters, entry, *where, "parameters", name)) is not None
    }
    return Override(scope, values)


def _value(
    name: str, text: str, parameters: Parameters, entry: Entry, *where: str | int
) -> float | None:
    if name not in parameters.written:
        cure = nearest(name, parameters.written, "parameters")
        cure = cure or "Add it to the parameters of the rule, too."
        entry.error_of_key(f"the rule has no parameter {name}", cure, *where)
        return None
    literal = entry.read(parse_literal, text, *where)
    if not literal or name in parameters.broken:
        return None
    value, unit = literal
    if unit.bases != parameters.units[name].bases:
        cure = f"Give it the unit that it has in the rule: {parameters.written[name]}."
        entry.error(f"{name} is not measured in {unit.words}", cure, *where)
        return None
    return value
