"""`tokenwatch backtest`"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from cli.main import STOPPED
from cli.record import (
    GapsOption,
    LeadOption,
    loaded,
    minutes,
    needed_by,
    reading_settings,
    recorded,
    slot,
)
from cli.rules import RulesOption, rules_folder
from cli.shown import console, errors, fail
from emulator.tape import RecordingError
from replay.backtestchanges import ChangesError, read_changes
from replay.backtestpool import PoolError, Reached
from replay.backtestref import RefError, rules_at
from replay.backtestrun import Against, Found, SpanError, run, span_of
from replay.charts import ChartsError
from replay.recordcache import kept_as
from replay.recorded import load
from replay.recordplan import Asked, RecordError, order_of
from replay.reporthtml import MOST_CHARTS, page
from replay.reportmarkdown import markdown
from replay.reporttext import shown
from shared.model import Account, Slot
from shared.rulebook.load import load as load_rules
from shared.rulebook.rules import Rulebook

TOO_MANY = 1


def backtest(
    recording: Annotated[
        Path | None, typer.Option(help="A recording, Parquet or CSV (see `tokenwatch record`).")
    ] = None,
    begin: Annotated[
        datetime | None, typer.Option("--from", help="First minute to judge (UTC).")
    ] = None,
    until: Annotated[
        datetime | None, typer.Option("--to", help="Minute (UTC) to stop before.")
    ] = None,
    rules: RulesOption = None,
    against: Annotated[
        str | None, typer.Option(help="Compare with the rules at this branch, tag or commit.")
    ] = None,
    changes: Annotated[
        Path | None, typer.Option(help="Recorded changes (YAML or JSON), see docs/backtest.md.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print a comment for a pull request.")
    ] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page with charts.")] = None,
    fail_over: Annotated[
        float | None, typer.Option(help="Exit code 1 above so many messages a week.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = os.cpu_count() or 1,
    lead_in: LeadOption = "14d",
    allow_gaps: GapsOption = False,
) -> None:
    """Judges history with the rules: what would have fired, how long, and how often people be told.

    The engine is the live one, and baselines know only what was known then. Without --recording,
    --from says what to record from Azure Monitor first. With --against, what a change of the rules
    adds and takes away. Exit code 0, 1 above --fail-over, 2 when there is no result.

    Example: `tokenwatch backtest --recording november.parquet --against origin/main --markdown`
    """
    if as_json and as_markdown:
        fail("--json and --markdown both print: choose one")
    if html and not html.absolute().parent.is_dir():
        fail(f"--html: there is no folder {html.parent}")
    folder = rules_folder(rules)
    book = loaded(folder)
    before = _old_rules(against, folder) if against else None
    span = (slot(begin) if begin else None, slot(until) if until else None)
    with _ending_well():
        happened = read_changes(changes) if changes else ()
        books = (book, *([before.rulebook] if before else []))
        source = recording or _recorded(books, span, folder, minutes(lead_in), allow_gaps)
        history = load(source, _accounts())
        judged = span_of(history, *(span if recording else (None, None)))
        curves = MOST_CHARTS if html else 0
        with _progress(len(history.tapes)) as reached:
            found = run(history, book, judged, happened, before, jobs, curves, reached)
        _print(found, as_json=as_json, as_markdown=as_markdown)
        if html:
            html.write_text(page(found.report, found.outcomes, found.comparison), encoding="utf-8")
            errors.print(f"page: {html}")
    if fail_over is not None and found.report.messages_a_week > fail_over:
        weekly = f"{found.report.messages_a_week:g} messages a week"
        errors.print(Text(f"{weekly} are more than --fail-over {fail_over:g}", style="red"))
        raise typer.Exit(TOO_MANY)


@contextmanager
def _ending_well() -> Iterator[None]:
    """Whatever prevents a result ends the command with what to do."""
    try:
        yield
    except (ChangesError, RecordingError, RecordError, SpanError, PoolError, ChartsError) as error:
        fail(*str(error).splitlines())
    except OSError as error:
        fail(f"{error.filename}: {error.strerror or error}")
    except KeyboardInterrupt:
        errors.print("stopped")
        raise typer.Exit(STOPPED) from None


def _old_rules(reference: str, folder: Path) -> Against:
    try:
        with rules_at(reference, folder) as old:
            return Against(reference, load_rules(old))
    except (RefError, FileNotFoundError) as error:
        fail(str(error))


def _recorded(
    books: tuple[Rulebook, ...],
    span: tuple[Slot | None, Slot | None],
    folder: Path,
    lead_in: int,
    allow_gaps: bool,
) -> Path:
    """A recording of that time, kept for the next backtest of the same."""
    first, end = span
    if first is None:
        fail("name a --recording FILE, or --from (and --to) to record from Azure Monitor first")
    settings = reading_settings(os.environ, folder)
    asked = Asked(settings.accounts, needed_by(*books), first, end, lead_in)
    if end is None:
        asked = msgspec.structs.replace(asked, end=order_of(asked, datetime.now(UTC)).end)
    path = kept_as(asked, os.environ, allow_gaps=allow_gaps)
    if not path.exists():
        try:
            recorded(settings, asked, path, allow_gaps=allow_gaps)
        except typer.Exit as stopped:
            raise typer.Exit(STOPPED if stopped.exit_code == STOPPED else 2) from None
    errors.print(f"kept as {path}: name it with --recording to judge it again")
    return path


def _accounts() -> tuple[Account, ...]:
    """Where accounts lie, if settings say so; a file of `tokenwatch record` says it itself."""
    if not os.environ.get("TOKENWATCH_ACCOUNTS"):
        return ()
    return reading_settings(os.environ, None).accounts


@contextmanager
def _progress(total: int) -> Iterator[Reached]:
    bar = Progress(
        TextColumn("judging"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total} deployments"),
        TimeRemainingColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    )
    with bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)


def _print(found: Found, *, as_json: bool, as_markdown: bool) -> None:
    if as_json:
        whole = {**msgspec.to_builtins(found.report), "against": found.comparison}
        typer.echo(msgspec.json.format(msgspec.json.encode(whole)).decode())
    elif as_markdown:
        typer.echo(markdown(found.report, found.comparison))
    else:
        console.print(shown(found.report, found.comparison), soft_wrap=False)
