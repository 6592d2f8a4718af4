"""The console script `tokenwatch`: one module a command."""

from __future__ import annotations

import typer

from cli import change, check, demo, emulate, run, state

app = typer.Typer(
    name="tokenwatch",
    help="A watchdog for Azure OpenAI and Foundry deployments. It tells `answers got longer` from "
    "`the service got slower`, and says so in Teams.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command("check")(check.check)
app.command("run")(run.run)
app.command("demo")(demo.demo)
app.command("emulate")(emulate.emulate)
app.add_typer(change.app, name="change")
app.add_typer(state.app, name="state")


def main() -> None:
    app()
