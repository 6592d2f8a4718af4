"""How far a recording is, for people."""

from __future__ import annotations

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text
from typing_extensions import override

from replay.record import Onlooker
from replay.recordplan import Order
from shared.model import iso


class Shown(Onlooker):
    """A bar on a terminal; elsewhere a line at the beginning and for each wait."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.bar = Progress(
            TextColumn("recording"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total} pieces"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[said]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task("", said="")

    def __enter__(self) -> Shown:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    @override
    def begun(self, order: Order, total: int, done: int) -> None:
        self.bar.update(self.task, total=total, completed=done)
        accounts = len(order.asked.accounts)
        span = f"{iso(order.begin)} to {iso(order.end)}"
        resumed = f", {done} of {total} pieces are there" if done else ""
        self.console.print(
            f"recording {span} of {accounts} account{'s' * (accounts != 1)}{resumed}"
        )

    @override
    def done(self) -> None:
        self.bar.update(self.task, advance=1, said="")

    @override
    def wait(self, seconds: float, reason: str) -> None:
        said = f"waiting {seconds:.0f} s: {reason}"
        self.bar.update(self.task, said=said)
        if not self.console.is_terminal:
            self.console.print(Text(said))
        super().wait(seconds, reason)
