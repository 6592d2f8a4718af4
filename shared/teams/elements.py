"""The parts that cards are made of, as Adaptive Cards name them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from shared.teams.escape import clean, escape

Element: TypeAlias = dict[str, object]


def text(content: str, **style: object) -> Element:
    """A TextBlock of text that is ours or already escaped; it always wraps."""
    return {"type": "TextBlock", "text": content, "wrap": True, **style}


def small(content: str) -> Element:
    return text(content, size="Small", isSubtle=True, spacing="Small")


def container(style: str, items: list[Element]) -> Element:
    """A coloured band over the full width of the card."""
    return {"type": "Container", "style": style, "bleed": True, "items": items}


def facts(pairs: Iterable[tuple[str, str]]) -> Element:
    return {"type": "FactSet", "facts": [{"title": name, "value": value} for name, value in pairs]}


def table(titles: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]) -> Element:
    """A table below a row of titles; where tables are not known, a fact for each row."""
    cells = [_row([text(title, weight="Bolder") for title in titles])]
    cells += [_row([text(cell) for cell in row]) for row in rows]
    element: Element = {
        "type": "Table",
        "columns": [{"width": width} for width in widths],
        "firstRowAsHeader": True,
        "gridStyle": "default",
        "rows": cells,
    }
    lines = [(row[0], ", ".join(filter(None, row[1:]))) for row in rows]
    return {**element, "fallback": facts(lines)}


def _row(cells: Sequence[Element]) -> Element:
    return {"type": "TableRow", "cells": [{"type": "TableCell", "items": [cell]} for cell in cells]}


def code(lines: Iterable[str]) -> Element:
    """Exact names, to be copied: neither cut nor escaped where CodeBlock is known."""
    snippet = "\n".join(clean(line) for line in lines)
    block: Element = {"type": "CodeBlock", "codeSnippet": snippet, "language": "PlainText"}
    return {**block, "fallback": text(escape(snippet), fontType="Monospace", size="Small")}


def open_url(title: str, url: str) -> Element:
    return {"type": "Action.OpenUrl", "title": title, "url": url}
