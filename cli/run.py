"""`tokenwatch run`"""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from cli.local import environment, watch_of
from cli.main import STOPPED
from cli.replaying import Replay, replay
from cli.rules import RulesOption, rules_folder
from cli.shown import errors, fail
from cli.teller import Teller
from shared.pipeline import Watch, tick
from shared.state.store import StateError


def run(
    once: Annotated[bool, typer.Option("--once", help="One tick, then stop.")] = False,
    state: Annotated[
        str | None,
        typer.Option(
            help="sqlite:FILE, or table:... for Table Storage; default: TOKENWATCH_STATE, else "
            "sqlite:tokenwatch.db; with --recording a temporary file."
        ),
    ] = None,
    rules: RulesOption = None,
    recording: Annotated[
        Path | None,
        typer.Option(help="Judge this recording (see docs/recordings.md), not Azure Monitor."),
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
    Times are UTC.

    Exit codes of --once and --recording: 0 all was judged, whatever fired; 1 something could not
    be read, kept or posted, or a rule is broken; 2 it could not begin. 130 after Ctrl-C.

    Example: `tokenwatch run --recording day.csv --from 2024-06-07T02:49`
    """
    # The failures that a tick logs are printed by the teller; the SDK's own log is for debuggers.
    logging.basicConfig(level=logging.CRITICAL, format="%(message)s")
    logging.getLogger("tokenwatch").setLevel(logging.INFO if verbose else logging.CRITICAL)
    if recording:
        asked = Replay(recording, rules_folder(rules), state, begin, until, cards, as_json)
        raise typer.Exit(0 if replay(asked) else 1)
    if begin or until or cards:
        fail("--from, --to and --cards go with --recording")
    with watch_of(environment(state, rules_folder(rules))) as watch:
        _watch(watch, Teller(as_json), once=once)


def _watch(watch: Watch, teller: Teller, *, once: bool) -> None:
    teller.rules_of(watch)
    try:
        while True:
            _tick(watch, teller)
            if once:
                raise typer.Exit(0 if teller.ok else 1)
            time.sleep(60 - time.time() % 60)
    except KeyboardInterrupt:
        errors.print("stopped; the next run catches up")
        raise typer.Exit(STOPPED) from None


def _tick(watch: Watch, teller: Teller) -> None:
    """One tick. What went wrong is tried again with the next."""
    try:
        teller.tell(tick(watch, datetime.now(UTC)))
    except StateError as error:
        teller.stumbled(error)
