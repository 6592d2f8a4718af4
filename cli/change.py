"""`tokenwatch change`"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from cli.local import environment, ledger_of
from cli.shown import console, fail
from shared.model import Change, iso, slot_of
from shared.rulebook.expressions import CHANGE_KINDS
from shared.rulebook.problems import nearest

app = typer.Typer(
    help="Changes that alter behaviour: a new prompt template, model version, capacity ...",
    no_args_is_help=True,
)
StateOption = Annotated[
    str | None,
    typer.Option(
        "--state", help="sqlite:FILE or table:...; default TOKENWATCH_STATE, else a local file."
    ),
]


@app.command("record")
def record(
    kind: Annotated[str, typer.Option(help=f"One of {', '.join(CHANGE_KINDS)}.")],
    deployment: Annotated[
        str, typer.Option(help="Glob over deployment names, or over ACCOUNT/NAME.")
    ],
    reference: Annotated[str, typer.Option(help="What people know it by, e.g. a pull request.")],
    at: Annotated[
        datetime | None, typer.Option(help="When it took effect (UTC); default: now.")
    ] = None,
    state: StateOption = None,
) -> None:
    """Records a change, so that a drop right after it is put down to it.

    Run it from the pipeline that rolls the change out. Recording the same change twice is one
    change.

    Example: `tokenwatch change record --kind prompt_template --deployment 'chat-*' --reference
    "pull request 118"`
    """
    if kind not in CHANGE_KINDS:
        fail(f"unknown kind of change {kind!r}. {nearest(kind, CHANGE_KINDS, 'kinds')}")
    now = datetime.now(UTC)
    moment = now if at is None else at.replace(tzinfo=at.tzinfo or UTC)
    if moment > now:
        fail("the change lies in the future: record it when it takes effect")
    change = Change(kind, slot_of(moment), deployment, reference, slot_of(now))
    with ledger_of(environment(state, None)) as ledger:
        ledger.record_change(change)
    console.print(f"recorded: {kind} of {deployment} at {iso(change.slot)} ({reference})")


@app.command("list")
def list_changes(state: StateOption = None) -> None:
    """Lists the recorded changes, latest last."""
    with ledger_of(environment(state, None)) as ledger:
        for change in ledger.changes():
            console.print(
                f"{iso(change.slot)}  {change.kind:<16} {change.deployment}  {change.reference}"
            )
