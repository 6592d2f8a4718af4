"""Prints what ticks report: events on stdout, and on stderr what goes wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec
import typer
from rich.text import Text

from cli.complaints import OVER, Complaint, Complaints, Refusals, grouped
from cli.shown import console, errors, event_line
from shared.model import Event
from shared.pipeline import Report, Watch


@dataclass
class Teller:
    """Prints report after report, and knows whether all was well."""

    as_json: bool = False
    dated: bool = True
    ok: bool = True
    _failures: Complaints = field(default_factory=Complaints)
    _troubles: Complaints = field(default_factory=Complaints)
    _refusals: Refusals = field(default_factory=Refusals)

    def rules_of(self, watch: Watch) -> None:
        """Broken rules are not judged: that is said before anything else."""
        self.ok = self.ok and not watch.rulebook.errors
        self._print(map(str, watch.rulebook.errors))

    def tell(self, report: Report) -> None:
        for event in report.events:
            self._event(event)
        failures, troubles = grouped(report.failures), [*map(Complaint, report.troubles)]
        # Where nothing was asked nothing is known to be over.
        if report.queries or failures:
            self._heard(self._failures, failures)
        self._heard(self._troubles, troubles)
        self._print(self._refusals.heard(report.messages))
        self.ok = self.ok and not self._refusals

    def stumbled(self, error: Exception) -> None:
        """A tick that did not come to a report."""
        self._heard(self._troubles, [Complaint(f"error: {error}")])

    def _heard(self, complaints: Complaints, now: list[Complaint]) -> None:
        self.ok = self.ok and not now
        self._print(complaints.heard(now))

    def _event(self, event: Event) -> None:
        if self.as_json:
            typer.echo(msgspec.json.encode(event).decode())
        else:
            console.print(event_line(event, dated=self.dated))

    def _print(self, lines: Iterable[str]) -> None:
        for line in lines:
            errors.print(Text(line, style="dim" if line.startswith(OVER) else "red"))
