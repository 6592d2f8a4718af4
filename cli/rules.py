"""Which folder of rules a command takes: the same way for all commands."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from cli.shown import errors

SHIPPED = Path(__file__).parent.parent / "rules"
HERE = Path("rules")
WHICH = "TOKENWATCH_RULES, else ./rules if there are rule files in it, else the shipped ones"
RulesOption = Annotated[
    Path | None, typer.Option("--rules", help=f"Folder of rule files; default: {WHICH}.")
]


def rules_folder(named: Path | None, variables: Mapping[str, str] = os.environ) -> Path:
    """The folder that is named, or else the one that is found, which stderr then tells."""
    if named:
        return named
    folder, why = _found(variables.get("TOKENWATCH_RULES", ""))
    errors.print(Text(f"rules: {folder} ({why})", style="dim"))
    return folder


def _found(setting: str) -> tuple[Path, str]:
    if setting:
        return Path(setting), "TOKENWATCH_RULES"
    if HERE.is_dir() and any(HERE.glob("*.yaml")):
        return HERE.resolve(), "./rules"
    return SHIPPED, "the shipped ones; --rules names others"
