"""`tokenwatch run`"""

from __future__ import annotations

import logging
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.text import Text

from cli.emulate import read_source
from cli.local import environment, watch_of
from cli.playback import stage, write_cards
from cli.shown import console, errors, fail, print_events, tally_table
from emulator.recording import Recording
from shared.model import iso, slot_of
from shared.pipeline import Report, Watch, tick
from shared.state.store import StateError

RULES = Path(__file__).parent.parent / "rules"


def run(
    once: Annotated[bool, typer.Option("--once", help="One tick, then stop.")] = False,
    state: Annotated[
        str | None,
        typer.Option(help="sqlite:FILE, or table:... for Table Storage; default: a local file."),
    ] = None,
    rules: Annotated[Path | None, typer.Option(help="Folder of rule files.")] = None,
    recording: Annotated[
        Path | None, typer.Option(help="Judge this recording instead of Azure Monitor.")
    ] = None,
    begin: Annotated[
        datetime | None,
        typer.Option("--from", help="First minute to judge (UTC); what is before is history."),
    ] = None,
    until: Annotated[
        datetime | None, typer.Option("--to", help="Minute (UTC) to stop before.")
    ] = None,
    cards: Annotated[Path | None, typer.Option(help="Write a recording's cards here.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Events as JSON, one a line, and nothing else.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log each tick.")] = False,
) -> None:
    """Watches: judges each settled minute, keeps state, and posts cards to Teams.

    The settings are those of the Functions app: TOKENWATCH_ACCOUNTS, TEAMS_WEBHOOK_DEFAULT and so
    on (see docs/operations.md). Without --once it goes on until Ctrl-C. With --recording it judges
    a file in compressed time, posts nothing to Teams, and ends with a count of verdicts by rule.

    Example: `tokenwatch run --recording day.csv --from 2024-06-07T02:49`
    """
    # The failures that a tick logs are printed by _tell; the SDK's own log is for debuggers.
    logging.basicConfig(level=logging.CRITICAL, format="%(message)s")
    logging.getLogger("tokenwatch").setLevel(logging.INFO if verbose else logging.CRITICAL)
    if recording:
        _replay(recording, rules or RULES, state, (begin, until), cards, as_json=as_json)
        return
    if begin or until or cards:
        fail("--from, --to and --cards go with --recording")
    with watch_of(environment(state, rules)) as watch:
        for problem in watch.rulebook.errors:
            errors.print(Text(str(problem), style="red"))
        try:
            while True:
                ok = _tick(watch, as_json=as_json)
                if once:
                    raise typer.Exit(0 if ok else 1)
                time.sleep(60 - time.time() % 60)
        except KeyboardInterrupt:
            errors.print("stopped; the next run catches up")


def _tick(watch: Watch, *, as_json: bool) -> bool:
    """One tick; whether nothing went wrong. What did is tried again with the next."""
    try:
        report = tick(watch, datetime.now(UTC))
    except StateError as error:
        errors.print(Text(f"error: {error}", style="red"))
        return False
    _tell(report, as_json=as_json)
    return not report.troubles


def _tell(report: Report, *, as_json: bool) -> None:
    if as_json:
        for event in report.events:
            typer.echo(msgspec.json.encode(event).decode())
    else:
        print_events(report.events)
    for line in (*report.failures, *report.troubles):
        errors.print(Text(line, style="red"))
    for message in report.messages:
        if message.error:
            errors.print(Text(f"channel {message.channel}: {message.error}", style="red"))


def _replay(
    path: Path,
    rules: Path,
    state: str | None,
    span: tuple[datetime | None, datetime | None],
    cards: Path | None,
    *,
    as_json: bool,
) -> None:
    source = read_source(None, path)
    assert isinstance(source, Recording)
    begin, until = (slot_of(t.replace(tzinfo=t.tzinfo or UTC)) if t else None for t in span)
    first, last = begin or source.start, (until or source.end) - 1
    if not source.start <= first <= last < source.end:
        fail(f"the recording covers {iso(source.start)} to {iso(source.end)}: choose within it")
    tally: dict[str, Counter[str]] = {}
    events = 0
    with tempfile.TemporaryDirectory() as folder:
        place = state or f"sqlite:{folder}/replay.db"
        with stage(source, place, rules) as play:
            for problem in play.watch.rulebook.errors:
                errors.print(Text(str(problem), style="red"))
            for _, report in play.play(first, last, every=10):
                _tell(report, as_json=as_json)
                events += len(report.events)
                for rule, counts in report.tally.items():
                    tally[rule] = tally.get(rule, Counter()) + counts
            if cards:
                errors.print(f"cards: {write_cards(play.server.inbox, cards, path.name)}")
    if not as_json:
        console.print(tally_table(tally))
        console.print(f"{events} events in {last - first + 1:,} minutes from {iso(first)}")
