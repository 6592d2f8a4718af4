"""`tokenwatch record`"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cli.main import STOPPED
from cli.rules import RulesOption, rules_folder
from cli.shown import errors, fail
from replay.record import Recorder, UnfinishedError
from replay.recordgaps import described
from replay.recordplan import Asked, RecordError, components_of, spell
from replay.recordshown import Shown
from replay.recordtable import About
from shared.build import credential
from shared.model import Component, Slot, iso, slot_of
from shared.monitor.client import Client
from shared.rulebook.load import load
from shared.rulebook.rules import Rulebook
from shared.rulebook.units import parse_minutes
from shared.settings import WEBHOOK, Settings, SettingsError, read_settings

UNFINISHED = 1
PATIENCE = 60.0
"""Seconds to wait for an answer, which holds a day and not a minute."""

FromOption = Annotated[datetime, typer.Option("--from", help="First minute (UTC).")]
ToOption = Annotated[
    datetime | None,
    typer.Option("--to", help="Minute (UTC) to stop before; default: the newest settled one."),
]
LeadOption = Annotated[
    str, typer.Option("--lead-in", help="History before it, for baselines: 14d, 36h, 0 ...")
]
GapsOption = Annotated[
    bool, typer.Option("--allow-gaps", help="Finish although something could not be read.")
]


def record(
    begin: FromOption,
    out: Annotated[Path, typer.Option(help="The file to write: .parquet, or .csv.")],
    until: ToOption = None,
    rules: RulesOption = None,
    lead_in: LeadOption = "14d",
    allow_gaps: GapsOption = False,
) -> None:
    """Records what the rules need from Azure Monitor, minute by minute, for `tokenwatch backtest`.

    TOKENWATCH_ACCOUNTS says of which accounts; Monitoring Reader is enough. What is fetched is kept
    in FILE.part: after an interruption the same command goes on. What could not be read is named,
    and the file is written only once nothing is missing, or with --allow-gaps, which notes the gaps
    in the file. Exit code 0 when the file is there, 1 when the same command has to go on, 2 when it
    cannot be done as asked.

    Example: `tokenwatch record --from 2026-11-01 --to 2026-11-15 --out november.parquet`
    """
    folder = rules_folder(rules)
    settings = reading_settings(os.environ, folder)
    asked = Asked(
        settings.accounts,
        needed_by(loaded(folder)),
        slot(begin),
        slot(until) if until else None,
        minutes(lead_in),
    )
    about = recorded(settings, asked, out, allow_gaps=allow_gaps)
    for gap in described(about.gaps):
        errors.print(Text(f"missing: {gap}", style="yellow"))
    days = spell(about.end - about.first)
    errors.print(
        f"{out}: {days} from {iso(about.first)}, lead-in {spell(about.first - about.begin)}"
    )


def recorded(settings: Settings, asked: Asked, out: Path, *, allow_gaps: bool) -> About:
    """Records with progress on stderr, or ends the command with what to do."""
    # What fails is said below, once; the logs of the reader and of the SDK are for debuggers.
    logging.basicConfig(level=logging.CRITICAL)
    try:
        with client_of(settings) as client, Shown(errors) as onlooker:
            found = Recorder(out, client, onlooker, allow_gaps).record(asked, datetime.now(UTC))
    except RecordError as error:
        fail(str(error))
    except UnfinishedError as error:
        for line in described(error.gaps):
            errors.print(Text(line, style="red"))
        cure = "mend it, or add --allow-gaps; then " if error.gaps else ""
        said = f"error: {error}; {cure}run the same command again: it goes on"
        errors.print(Text(said, style="red"))
        raise typer.Exit(UNFINISHED) from None
    except KeyboardInterrupt:
        errors.print("stopped: the same command goes on where it was")
        raise typer.Exit(STOPPED) from None
    for note in found.notes:
        errors.print(Text(f"note: {note}", style="yellow"))
    return found


@contextmanager
def client_of(settings: Settings) -> Iterator[Client]:
    identity = partial(credential, settings.cloud)
    audience = settings.cloud.metrics_audience
    client = Client(settings.metrics_endpoint, identity, audience, timeout=PATIENCE)
    try:
        yield client
    finally:
        client.close()


def reading_settings(variables: Mapping[str, str], rules: Path | None) -> Settings:
    """The settings for whoever only reads: no state and no webhook are asked for."""
    kept = {name: value for name, value in variables.items() if not name.startswith(WEBHOOK)}
    kept |= {"TOKENWATCH_STATE": "unused", f"{WEBHOOK}DEFAULT": "unused"}
    if rules:
        kept["TOKENWATCH_RULES"] = str(rules)
    try:
        return read_settings(kept, lambda _address, _hosts: None)
    except SettingsError as error:
        fail(*error.problems)


def loaded(folder: Path) -> Rulebook:
    """The rules of a folder; broken ones end the command."""
    try:
        book = load(folder)
    except FileNotFoundError as error:
        fail(f"{error}; name the folder of your rule files with --rules")
    if book.errors:
        fail(*(str(problem) for problem in book.errors))
    return book


def needed_by(*rulebooks: Rulebook) -> tuple[Component, ...]:
    try:
        return components_of(*rulebooks)
    except RecordError as error:
        fail(str(error))


def slot(time: datetime) -> Slot:
    return slot_of(time.replace(tzinfo=time.tzinfo or UTC))


def minutes(text: str) -> int:
    try:
        return parse_minutes(text)
    except ValueError as error:
        fail(f"--lead-in: {error}")
