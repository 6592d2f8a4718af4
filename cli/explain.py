"""`tokenwatch explain`"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from cli.baselines import explained
from cli.record import client_of, loaded, reading_settings, slot
from cli.rules import RulesOption, rules_folder
from cli.shown import console, errors, fail
from emulator.tape import RecordingError
from replay.backtestchanges import ChangesError, read_changes
from replay.explain import Explained, Line, explain
from replay.moment import NotFoundError, Scene, azure_scene, recorded_scene
from replay.recorded import load
from shared.model import SETTLE, Alert, Change, Fit, Slot, iso, slot_of, time_of
from shared.rulebook.problems import nearest
from shared.rulebook.rules import Rule, Rulebook
from shared.rulebook.units import parse_minutes
from shared.teams.sparkline import sparkline

STYLES = {"true": "green", "false": "red", "unknown": "yellow"}


def explain_rule(
    rule: Annotated[str, typer.Argument(help="Name of the rule.")],
    deployment: Annotated[str, typer.Option(help="Name of the deployment.")],
    at: Annotated[datetime, typer.Option(help="The minute (UTC), e.g. 2026-12-01T08:12.")],
    account: Annotated[str, typer.Option(help="Its account, where several have such a one.")] = "",
    recording: Annotated[
        Path | None, typer.Option(help="Look into this recording instead of Azure Monitor.")
    ] = None,
    rules: RulesOption = None,
    changes: Annotated[
        Path | None, typer.Option(help="Recorded changes (YAML or JSON), see docs/backtest.md.")
    ] = None,
    since: Annotated[
        str, typer.Option(help="How long before to begin, so that the alert's state is known.")
    ] = "6h",
) -> None:
    """Explains what a rule said of a deployment in one minute: each part with its value.

    The live engine judges the hours before, so the state of the alert before and after that minute
    is what it was, if nothing was live when it began. Exit code 0, or 2 when there is nothing to
    look into.

    Example: `tokenwatch explain LatencyHigh --deployment chat --at 2026-12-01T08:12`
    """
    book = loaded(rules_folder(rules))
    wanted = _rule(rule, book)
    minute = slot(at)
    begin = minute - _minutes(since)
    happened = _changes(changes)
    if recording:
        scene = _recorded(recording, book, deployment, account, minute)
        found = _explained(book, scene, wanted, max(begin, scene.past.start), minute, happened)
    else:
        found = _asked(book, wanted, deployment, account, (begin, minute), happened)
    _print(found)


def _rule(name: str, book: Rulebook) -> Rule:
    found = [rule for rule in book.rules if rule.name.casefold() == name.casefold()]
    if not found:
        fail(f"there is no rule {name}. {nearest(name, [r.name for r in book.rules], 'rules')}")
    return found[0]


def _minutes(text: str) -> int:
    try:
        return parse_minutes(text)
    except ValueError as error:
        fail(f"--since: {error}")


def _changes(path: Path | None) -> tuple[Change, ...]:
    try:
        return read_changes(path) if path else ()
    except ChangesError as error:
        fail(*str(error).splitlines())


def _recorded(path: Path, book: Rulebook, deployment: str, account: str, minute: Slot) -> Scene:
    try:
        recording = load(path)
        scene = recorded_scene(recording, book, deployment, account)
    except (NotFoundError, RecordingError) as error:
        fail(f"{path}: {error}" if isinstance(error, NotFoundError) else str(error))
    except OSError as error:
        fail(f"{path} cannot be read: {error.strerror or error}")
    if not recording.begin <= minute < recording.end:
        fail(f"{path} covers {iso(recording.begin)} to {iso(recording.end)}: choose within it")
    return scene


def _asked(
    book: Rulebook,
    rule: Rule,
    deployment: str,
    account: str,
    span: tuple[Slot, Slot],
    changes: tuple[Change, ...],
) -> Explained:
    """The same of Azure Monitor, which must have settled the minute."""
    newest = slot_of(datetime.now(UTC)) - SETTLE - 1
    if span[1] > newest:
        fail(f"{iso(span[1])} has not settled yet: the newest minute to look into is {iso(newest)}")
    logging.basicConfig(level=logging.CRITICAL)  # what fails is printed below
    settings = reading_settings(os.environ, None)
    with client_of(settings) as client:
        try:
            scene = azure_scene(client, settings.accounts, book, deployment, account, *span)
        except NotFoundError as error:
            fail(str(error))
        for line in scene.failures:
            errors.print(Text(f"not read: {line}", style="yellow"))
        return _explained(book, scene, rule, *span, changes)


def _explained(
    book: Rulebook,
    scene: Scene,
    rule: Rule,
    begin: Slot,
    minute: Slot,
    changes: tuple[Change, ...],
) -> Explained:
    return explain(book, scene.account, scene.past, rule, begin, minute, changes, scene.history)


def _print(found: Explained) -> None:
    place = found.deployment
    title = Text(found.rule.name, style="bold")
    title.append(
        f" on {place.name} ({place.account_name}), {time_of(found.slot):%Y-%m-%d %H:%M} UTC"
    )
    console.print(title)
    console.print(_summary(found))
    for name, lines in (("needs", found.needs), ("when", found.when), ("until", found.until)):
        if lines:
            console.print()
            console.print(_table(name, lines))
    fits = {line.fit.key: line.fit for line in (*found.when, *found.until) if line.fit}
    for fit in fits.values():
        console.print(_fit(fit))


def _summary(found: Explained) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()
    for name, text in _facts(found):
        table.add_row(name, Text(text))
    return table


def _facts(found: Explained) -> Iterator[tuple[str, str]]:
    yield "verdict", found.verdict
    if found.window:
        first = time_of(found.slot - found.window + 1)
        yield "window", f"{found.window} min, {first:%H:%M} to {time_of(found.slot):%H:%M}"
    yield "before", _state(found.before)
    yield "after", _state(found.after)
    yield "told", found.told
    for other, state in found.others:
        yield "unless", f"{other}, which is {state}"
    for change in found.changes:
        yield "change", f"{change.kind} at {iso(change.slot)} ({change.reference})"
    yield "replayed", f"from {iso(found.begun)}; what was live before that is not known"


def _state(alert: Alert | None) -> str:
    if alert is None:
        return "inactive"
    begun = f"{alert.state} since {time_of(alert.since):%m-%d %H:%M}"
    breaches = f", {alert.elapsed + 1} breaches"
    among = alert.recent and f", {sum(b for _, b in alert.recent)} of the last {len(alert.recent)}"
    clear = f", clear for {alert.clear} min" if alert.clear is not None else ""
    mark = f", {alert.mark}" if alert.mark else ""
    return f"{begun}{among or breaches}{clear}{mark}"


def _table(name: str, lines: Iterable[Line]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right")
    table.add_column(style="dim")
    for line in lines:
        head = f"{name}: " if not line.depth else "  " * line.depth
        style = STYLES.get(line.value, "")
        curve = sparkline(line.points) if len(line.points) > 1 else ""
        table.add_row(Text(head + line.text), Text(line.value, style=style), Text(curve))
    return table


def _fit(fit: Fit) -> Text:
    text = Text(f"\nbaseline {fit.key}: ", style="bold")
    text.append("; ".join(explained(fit)), style="not bold")
    return text
