"""Why people are not told of an alert that fires: a silence, or a rule that says more. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from shared.model import Account, Deployment, Slot
from shared.rulebook.rules import Rule
from shared.rulebook.silences import Silence


@dataclass(frozen=True)
class Muting:
    """Knows the silences, and learns slot by slot which rules fire; rules that mute others have to
    be judged before those."""

    silences: tuple[Silence, ...] = ()
    _fires: set[tuple[str, str, Slot]] = field(default_factory=set)

    def note(self, rule: Rule, deployment: Deployment, slot: Slot) -> None:
        """The rule fires on the deployment in a slot."""
        self._fires.add((rule.name, deployment.key, slot))

    def silences_of(self, rule: Rule, account: Account, deployment: Deployment) -> list[Silence]:
        return [one for one in self.silences if one.covers(rule.name, account, deployment)]

    def reason(
        self, rule: Rule, deployment: Deployment, slot: Slot, silences: Iterable[Silence]
    ) -> str:
        """Why nothing is told in a slot, of the silences that cover rule and deployment."""
        for other in rule.unless:
            if (other, deployment.key, slot) in self._fires:
                return f"{other} fires"
        return next((one.words for one in silences if one.active(slot)), "")
