"""`tokenwatch change`"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.text import Text

from cli.local import environment, ledger_of
from cli.shown import console, fail
from shared.endpoints.fields import Reader
from shared.model import iso
from shared.rulebook.expressions import CHANGE_KINDS

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
    reference: Annotated[str, typer.Option(help="What people know it by, e.g. a pull request.")],
    deployment: Annotated[
        str | None, typer.Option(help="Glob over deployment names, or over ACCOUNT/NAME.")
    ] = None,
    account: Annotated[
        str | None, typer.Option(help="Instead: all deployments of this account.")
    ] = None,
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
    now = datetime.now(UTC)
    sent = {"kind": kind, "reference": reference, "deployment": deployment, "account": account}
    sent["time"] = at.replace(tzinfo=at.tzinfo or UTC).isoformat() if at else None
    reader = Reader({name: value for name, value in sent.items() if value is not None})
    change = reader.change(now)
    if reader.problems:
        fail(*reader.problems)
    with ledger_of(environment(state, None)) as ledger:
        new = ledger.record_change(change)
    word = "recorded" if new else "recorded before"
    # As Text: the brackets of a glob are none of rich's.
    console.print(Text(f"{word}: {change.kind} of {change.deployment} at {iso(change.slot)}"))


@app.command("list")
def list_changes(state: StateOption = None) -> None:
    """Lists the recorded changes, latest last."""
    with ledger_of(environment(state, None)) as ledger:
        for change in ledger.changes():
            what = f"{change.kind:<16} {change.deployment}  {change.reference}"
            console.print(Text(f"{iso(change.slot)}  {what}"))
