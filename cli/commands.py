"""All commands: one module each."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typing_extensions import override

from cli import backtest, change, check, demo, emulate, explain, record, run, silence, state, test
from cli.main import STOPPED, Told


class _Stoppable(TyperGroup):
    """Tells `main` whether a command that Ctrl-C ended had words of its own for it."""

    @override
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except typer.Exit as end:
            if end.exit_code == STOPPED:
                raise Told(STOPPED) from None
            raise


app = typer.Typer(
    cls=_Stoppable,
    name="tokenwatch",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command("check")(check.check)
app.command("test")(test.test)
app.command("run")(run.run)
app.command("demo")(demo.demo)
app.command("emulate")(emulate.emulate)
app.command("record")(record.record)
app.command("backtest")(backtest.backtest)
app.command("explain")(explain.explain_rule)
app.command("silence")(silence.silence)
app.command("silences")(silence.silences)
app.add_typer(change.app, name="change")
app.add_typer(state.app, name="state")


def _say_version(wanted: bool) -> None:
    if not wanted:
        return
    try:
        typer.echo(f"tokenwatch {version('tokenwatch')}")
    except PackageNotFoundError:
        typer.echo("tokenwatch, from a folder: it is not installed")
    raise typer.Exit


@app.callback()
def tokenwatch(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """A watchdog for Azure OpenAI and Foundry deployments. It tells `answers got longer` from
    `the service got slower`, and says so in Teams.

    Exit codes: 0 all is well; 1 something is not, and was said; 2 it could not begin as asked;
    130 Ctrl-C.
    """
