"""Scores as a table in the terminal, and in docs/detection.md between its markers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.detection.score import Figure, Score

PAGE = Path(__file__).parents[2] / "docs" / "detection.md"


class MarkerError(ValueError):
    """The page lacks a pair of markers, so that a table has no place."""


def show(scores: Iterable[Score], console: Console) -> None:
    """Every figure with its target."""
    table = Table("set", "figure", "target", "value", "")
    for score in scores:
        for figure in score.figures:
            colour = "red" if figure.missed else "green"
            verdict = f"[{colour}]{figure.verdict}[/]" if figure.verdict else ""
            table.add_row(score.key, figure.name, figure.wanted, number(figure), verdict)
        table.add_section()
    console.print(table)


def number(figure: Figure) -> str:
    value = figure.value
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}"


def written(page: str, scores: Sequence[Score]) -> str:
    """The page with the tables of the scores in the places that are marked for them."""
    page = _between(page, "figures", _figures(scores))
    for score in scores:
        page = _between(page, score.key, _markdown(score.columns, score.rows))
    return page


def _figures(scores: Iterable[Score]) -> str:
    rows = [
        (score.key, figure.name, figure.wanted, f"**{number(figure)}**", figure.verdict)
        for score in scores
        for figure in score.figures
    ]
    return _markdown(("set", "figure", "target", "value", ""), rows)


def _markdown(names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _between(page: str, key: str, text: str) -> str:
    begin, end = f"<!-- {key} -->\n", f"<!-- /{key} -->"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise MarkerError(f"docs/detection.md has no <!-- {key} --> with its <!-- /{key} -->")
    return f"{before}{begin}{text}\n{end}{after}"
