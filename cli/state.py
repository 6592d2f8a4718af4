"""`tokenwatch state`"""

from __future__ import annotations

from typing import Annotated

import msgspec
import typer
from rich.text import Text

from cli.baselines import explained
from cli.change import StateOption
from cli.local import environment, ledger_of
from cli.shown import console, fail
from shared.model import Fit, Head, iso
from shared.state.ledger import Ledger

app = typer.Typer(help="What the watchdog remembers.", no_args_is_help=True)


@app.command("show")
def show_state(
    state: StateOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="The heads and fits as JSON.")] = False,
) -> None:
    """Shows what is judged up to when, live alerts, and the baselines with how they were fitted.

    A line fit reads: TTLT expected = intercept (the deployment's TTFT) + slope (its TBT) x tokens
    per answer.
    """
    with ledger_of(environment(state, None)) as ledger:
        heads, corrupt = ledger.heads()
        for error in corrupt.values():
            console.print(Text(f"error: {error}", style="red"))
        if not heads and not corrupt:
            console.print("nothing yet: no slot has been judged into this state")
        for shard, versioned in heads.items():
            fits = _fits(ledger, shard, versioned.value)
            if as_json:
                whole = {"shard": shard, "head": versioned.value, "fits": fits}
                typer.echo(msgspec.json.encode(whole).decode())
            else:
                _print(shard, versioned.value, fits)


@app.command("delete")
def delete(
    partition: Annotated[str, typer.Argument(help="As the error message names it.")],
    key: Annotated[str, typer.Argument(help="As the error message names it.")],
    state: StateOption = None,
) -> None:
    """Deletes one row that cannot be read any more, after a copy could not be restored.

    A shard whose head is deleted begins afresh at the newest settled minute, without its live
    alerts.
    """
    with ledger_of(environment(state, None)) as ledger:
        if ledger.store.read(partition, key) is None:
            fail(f"there is no row {key!r} in partition {partition!r}")
        ledger.store.delete(partition, [key])
    console.print(f"deleted {key} of {partition}")


def _fits(ledger: Ledger, shard: str, head: Head) -> tuple[Fit, ...]:
    return ledger.fits(shard, head.fits.values())


def _print(shard: str, head: Head, fits: tuple[Fit, ...]) -> None:
    console.rule(f"shard {shard}", align="left")
    for account, slot in head.watermarks.items():
        console.print(f"{account.rsplit('/', 1)[-1]}: judged up to {iso(slot)}")
    for alert in head.alerts:
        mark = f" ({alert.mark})" if alert.mark else ""
        where, since = alert.deployment.name, iso(alert.since)
        console.print(f"{alert.state}{mark}: {alert.rule} on {where} since {since}")
    for fit in sorted(fits, key=lambda fit: (fit.deployment, fit.key)):
        console.print(f"baseline of {fit.deployment.name}: [bold]{fit.key}[/bold]")
        for line in explained(fit):
            console.print(f"    {line}")
