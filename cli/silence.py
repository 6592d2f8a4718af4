"""`tokenwatch silence` and `tokenwatch silences`"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from cli.change import StateOption
from cli.local import environment, ledger_of
from cli.rules import RulesOption, rules_folder
from cli.shown import console, fail, many
from shared.model import SETTLE, Muted, Slot, iso, slot_of
from shared.rulebook.literals import parse_minutes
from shared.rulebook.load import load
from shared.rulebook.problems import TextError, nearest
from shared.rulebook.scope import matches
from shared.rulebook.silences import Silence, silence_of

LONGEST = 14 * 24 * 60
"""Minutes; what is known for longer belongs into rules/silences.yaml, where others see it."""
BACK = SETTLE + 7
"""Minutes before now that are muted as well: what is judged now happened then."""
KEPT = 7 * 24 * 60
"""Minutes for which silences that are over are listed."""


def silence(
    reason: Annotated[str, typer.Option(help="Why, for those who wonder.")],
    owner: Annotated[str, typer.Option(help="Whom to ask.")],
    rule: Annotated[
        list[str] | None, typer.Option(help="Glob over names of rules; may be repeated.")
    ] = None,
    deployment: Annotated[
        list[str] | None, typer.Option(help="Glob over names of deployments; may be repeated.")
    ] = None,
    account: Annotated[
        list[str] | None, typer.Option(help="Glob over names of accounts; may be repeated.")
    ] = None,
    length: Annotated[str, typer.Option("--for", help="How long from now, e.g. 2h.")] = "1h",
    rules: RulesOption = None,
    state: StateOption = None,
) -> None:
    """Silences alerts from now on: they are tracked, and nobody is told of them.

    What still fires when the silence ends is told then. The end of an alert that was told before is
    told all the same. For planned work and known noise there is rules/silences.yaml.

    Example: `tokenwatch silence --rule LatencyHigh --deployment chat --for 2h --reason "load test"
    --owner ml-platform`
    """
    if not (rule or deployment or account):
        fail("name what to silence with --rule, --deployment or --account; --rule '*' is all")
    book = load(rules_folder(rules))
    names = [one.name for one in book.rules]
    for glob in rule or ():
        if not any(matches((glob,), name) for name in names):
            fail(f"{glob!r} fits no rule. {nearest(glob, names, 'rules')}".strip())
    for name, text in (("--reason", reason), ("--owner", owner)):
        if not text.strip():
            fail(f"{name} is empty")
    now = slot_of(datetime.now(UTC))
    muted = Muted(
        id=secrets.token_hex(4),
        reason=reason.strip(),
        owner=owner.strip(),
        begin=now - BACK,
        end=now + _minutes(length),
        rules=tuple(rule or ()),
        accounts=tuple(account or ()),
        deployments=tuple(deployment or ()),
        recorded=now,
    )
    with ledger_of(environment(state, None)) as ledger:
        ledger.silence(muted)
    console.print(Text(f"silenced until {iso(muted.end)}: {_what(muted)}"))
    console.print(Text(f"`tokenwatch silences --lift {muted.id}` ends it earlier", style="dim"))


def silences(
    lift: Annotated[str | None, typer.Option(help="End the silence of this id now.")] = None,
    rules: RulesOption = None,
    state: StateOption = None,
) -> None:
    """Lists the silences, of the file and by hand: active, to come, and over for a week at most."""
    now = slot_of(datetime.now(UTC))
    with ledger_of(environment(state, None)) as ledger:
        found = ledger.silences(since=now - KEPT)
        if lift is not None:
            mine = [one for one in found if one.value.id == lift and one.value.end > now]
            if not mine:
                ids = [one.value.id for one in found if one.value.end > now]
                fail(f"there is no silence {lift} to end. {nearest(lift, ids, 'ids')}".strip())
            ledger.lift(mine[0], now)
            console.print(Text(f"ended: {_what(mine[0].value)}"))
            return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for title in ("", "until (UTC)", "what", "why", "owner", "id"):
        table.add_column(title, overflow="fold", no_wrap=title not in ("what", "why", "owner"))
    for muted in (one.value for one in found):
        silent = silence_of(muted)
        until, what = iso(muted.end)[:16], _what(muted)
        row = (_when(silent, now), until, what, muted.reason, muted.owner, muted.id)
        table.add_row(*map(Text, row))
    for silent in load(rules_folder(rules)).silences:
        until = iso(silent.end)[:16] if silent.end is not None else "-"
        what = f"{', '.join(silent.rules) or 'all rules'} (line {silent.mark.line})"
        row = (_when(silent, now), until, what, silent.reason, silent.owner, "file")
        table.add_row(*map(Text, row))
    console.print(table if table.row_count else "nothing is silenced")


def _minutes(text: str) -> int:
    try:
        minutes = parse_minutes(text)
    except TextError as error:
        fail(f"--for: {error.message}. {error.cure}".strip())
    if not 1 <= minutes <= LONGEST:
        longest = many(LONGEST // 1440, "day")
        fail(f"--for: from 1m to {longest}; what lasts longer belongs into rules/silences.yaml")
    return minutes


def _what(muted: Muted) -> str:
    parts = (("", muted.rules), ("on ", muted.deployments), ("in ", muted.accounts))
    said = [f"{word}{', '.join(globs)}" for word, globs in parts if globs]
    return " ".join(said if muted.rules else ["all rules", *said])


def _when(silent: Silence, now: Slot) -> str:
    if silent.active(now):
        return "active"
    if silent.end is not None and silent.end <= now:
        return "over"
    return "to come"
