"""Curves -> charts as SVG for a page: by Matplotlib, with colours that the page's style decides."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from datetime import UTC
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from replay.backtestcurve import Curve
from shared.engine.frame import Floats
from shared.model import Slot
from shared.rulebook.units import Unit, show

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DAY = 24 * 60
"""Minutes in a day, which is what Matplotlib counts time in, also since 1970."""
SIZE = (7.4, 2.1)
"""Inches; the page scales it to the width that there is."""
COLOURS = {
    "--ink": "#010101",
    "--faint": "#020202",
    "--signal": "#030303",
    "--expected": "#040404",
    "--threshold": "#050505",
    "--band": "#060606",
}
"""What is drawn in which colour; the colours stand in for those of the page."""
_PREAMBLE = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_NAMES = re.compile(r' id="[a-zA-Z][\w.]*_\d+"')
_STYLE = re.compile(r"<defs>\s*<style.*?</style>\s*</defs>", re.DOTALL)
_SIZES = re.compile(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"')
_FONT = re.compile(r"font: (?P<size>[\d.]+px) [^;\"]*|font-family: [^;\"]*")


class ChartsError(Exception):
    """Charts cannot be drawn; the text says what to do."""


def svg(curve: Curve, since: Slot, until: Slot, fired: Slot | None, label: str) -> str:
    """The chart of an episode, to stand in a page as it is.

    Raises:
        ChartsError: Matplotlib is missing.
    """
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise ChartsError(
            "charts need Matplotlib: pip install --require-hashes -r requirements-dev.txt"
        ) from None
    style = {"svg.fonttype": "none", "svg.hashsalt": label, "font.size": 9, "path.simplify": True}
    with mpl.rc_context(style):  # type: ignore[arg-type]
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.add_subplot()
        _draw(axes, curve, since, until, fired)
        sink = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(sink, format="svg", transparent=True, metadata=nothing)
    return _for_page(sink.getvalue(), label)


def _draw(axes: Axes, curve: Curve, since: Slot, until: Slot, fired: Slot | None) -> None:
    slots = curve.start + curve.step * np.arange(len(curve.values))
    times = slots / DAY
    axes.axvspan(since / DAY, until / DAY, color=COLOURS["--band"], lw=0)
    if fired is not None and fired < until:
        axes.axvline(fired / DAY, color=COLOURS["--threshold"], lw=1, ls=(0, (1, 2)))
    if curve.expected is not None:
        axes.plot(times, curve.expected, color=COLOURS["--expected"], lw=1.2)
    axes.plot(times, curve.threshold, color=COLOURS["--threshold"], lw=1.2, ls=(0, (5, 3)))
    axes.plot(times, curve.values, color=COLOURS["--signal"], lw=1.6)
    _points(axes, times, curve.values)
    _scales(axes, curve)


def _points(axes: Axes, times: Floats, values: Floats) -> None:
    """Values without neighbours, which no line shows."""
    known = np.pad(~np.isnan(values), 1)
    alone = np.flatnonzero(known[1:-1] & ~known[:-2] & ~known[2:])
    if len(alone):
        axes.plot(times[alone], values[alone], ".", color=COLOURS["--signal"], ms=3)


def _scales(axes: Axes, curve: Curve) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    everything = [curve.values, curve.threshold]
    everything += [curve.expected] if curve.expected is not None else []
    known = np.concatenate(everything)
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    low = 0.0 if 0 <= low < 0.5 * high else low - 0.06 * (high - low or 1.0)
    axes.set_ylim(low, high + 0.08 * (high - low or 1.0))
    axes.margins(x=0)
    locator = AutoDateLocator(tz=UTC, minticks=3, maxticks=8)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    dates = ConciseDateFormatter(locator, tz=UTC)  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(dates)
    axes.yaxis.set_major_formatter(_formatter(curve.unit))
    axes.locator_params(axis="y", nbins=5)
    axes.tick_params(colors=COLOURS["--ink"], color=COLOURS["--faint"], length=0)
    axes.tick_params(axis="x", pad=8)
    axes.xaxis.get_offset_text().set_color(COLOURS["--ink"])
    axes.grid(color=COLOURS["--faint"], lw=0.6)
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _formatter(unit: Unit) -> Callable[[float, float], str]:
    return lambda value, _position: show(value, unit)


def _for_page(text: str, label: str) -> str:
    """Without what only a file of its own needs, in the page's font and colours."""
    text = _PREAMBLE.sub("", text, count=1).strip()
    text = _STYLE.sub("", _NAMES.sub("", text), count=1)
    text = _FONT.sub(lambda m: f"font-size: {m['size']}" if m["size"] else "", text)
    for name, stand_in in COLOURS.items():
        text = text.replace(stand_in, f"var({name})")
    named = f'<svg role="img" aria-label="{escape(label)}" '
    return _SIZES.sub(lambda m: named + m[1], text, count=1)
