"""`tokenwatch run --recording`: a file judged in compressed time."""

from __future__ import annotations

import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from cli.playback import Stage, stage, writable, write_cards
from cli.shown import console, errors, fail, many, moment, spans_days, tally_table
from cli.sources import read_recording
from cli.teller import Teller
from emulator.recording import Recording
from shared.model import Slot, iso, slot_of
from shared.pipeline import Report
from shared.state.ledger import Ledger

STEP = 10
"""Minutes that one tick judges."""


@dataclass(frozen=True)
class Replay:
    """What is asked for."""

    recording: Path
    rules: Path
    state: str | None
    begin: datetime | None
    until: datetime | None
    cards: Path | None
    as_json: bool


@dataclass
class _Sum:
    """What the reports come to."""

    events: int = 0
    tally: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, report: Report) -> None:
        self.events += len(report.events)
        for rule, counts in report.tally.items():
            self.tally[rule] = self.tally.get(rule, Counter()) + counts


def replay(asked: Replay) -> bool:
    """Judges a recording and prints what comes of it; whether nothing went wrong."""
    source = read_recording(asked.recording)
    first, last = _span(asked, source)
    if asked.cards:
        writable(asked.cards, "--cards")
    teller = Teller(asked.as_json, dated=spans_days(first, last))
    with tempfile.TemporaryDirectory() as folder:
        state = asked.state or f"sqlite:{folder}/replay.db"
        with stage(source, state, asked.rules) as play:
            _refuse_judged(play.watch.ledger, source, first)
            teller.rules_of(play.watch)
            total = _played(play, first, last, teller)
            if asked.cards:
                page = write_cards(play.server.inbox, asked.cards, asked.recording.name)
                errors.print(Text(f"cards: {page}"))
    if not asked.as_json:
        console.print(tally_table(total.tally))
        minutes = many(last - first + 1, "minute")
        console.print(f"{many(total.events, 'event')} in {minutes} from {iso(first)}")
    return teller.ok


def _span(asked: Replay, source: Recording) -> tuple[Slot, Slot]:
    """The first and the last minute to judge."""
    begin, until = (
        slot_of(time.replace(tzinfo=time.tzinfo or UTC)) if time else None
        for time in (asked.begin, asked.until)
    )
    first = source.start if begin is None else begin
    last = (source.end if until is None else until) - 1
    if not source.start <= first <= last < source.end:
        fail(f"the recording covers {iso(source.start)} to {iso(source.end)}: choose within it")
    return first, last


def _refuse_judged(ledger: Ledger, source: Recording, first: Slot) -> None:
    """Nothing is judged twice, so a state that has been there before makes a replay of nothing; and
    accounts that it knows and the recording does not would count as taken out of the settings."""
    heads, _ = ledger.heads()
    judged = {
        account: slot for head in heads.values() for account, slot in head.value.watermarks.items()
    }
    cure = "name another file with --state, or none at all"
    for account, slot in judged.items():
        name = account.rsplit("/", 1)[-1]
        if account not in source.accounts:
            fail(f"the state holds {name}, which the recording does not have: {cure}")
        if slot >= first:
            fail(
                f"the state has judged {name} up to {iso(slot)} already, and no minute is judged "
                f"twice: {cure}, or begin later with --from"
            )


def _played(play: Stage, first: Slot, last: Slot, teller: Teller) -> _Sum:
    total = _Sum()
    bar = Progress(
        TextColumn("{task.fields[clock]}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
        # What goes to a file must not come out on the terminal.
        redirect_stdout=console.is_terminal,
    )
    with bar:
        task = bar.add_task("", total=last - first + 1, clock="")
        for slot, report in play.play(first, last, every=STEP):
            teller.tell(report)
            total.add(report)
            bar.update(task, completed=slot - first + 1, clock=moment(slot, dated=True))
    return total
