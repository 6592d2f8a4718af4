"""What rules may mention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shared.rulebook.rules import SignalDef
from shared.rulebook.unit import Unit


@dataclass(frozen=True)
class Vocabulary:
    """The signals that are right, and the names of those that are not."""

    signals: Mapping[str, SignalDef]
    broken: frozenset[str] = frozenset()
    partial: bool = False
    """There may be more signals, in a file that cannot be read."""

    @property
    def known(self) -> frozenset[str]:
        """Every name that is taken."""
        return self.broken | self.signals.keys()

    @property
    def units(self) -> dict[str, Unit]:
        return {name: signal.unit for name, signal in self.signals.items()}
