"""The curve of an event: a Chart.Line, and the same in text for who sees no charts. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from shared.model import Chart, time_of
from shared.teams.elements import Element, small, text
from shared.teams.escape import capital, clean, escape
from shared.teams.sparkline import sparkline, thinned

POINTS = 24
"""As many as Teams draws legibly."""


def drawn(chart: Chart) -> list[Element]:
    """The chart and its text, which says all that the chart does: iOS draws no charts."""
    if not any(value is not None for value in chart.values):
        return []
    chart = _readable(chart)
    places = thinned(chart.values, POINTS)
    return [_line(chart, places), *_told(chart, places)]


def _readable(chart: Chart) -> Chart:
    """The chart in seconds, where its milliseconds go beyond one."""
    known = [value for value in chart.values if value is not None]
    if chart.unit != "ms" or max(known) < 1000:
        return chart
    values, threshold = _seconds(chart.values), _seconds(chart.threshold)
    return replace(chart, unit="s", values=values, threshold=threshold)


def _seconds(values: tuple[float | None, ...]) -> tuple[float | None, ...]:
    return tuple(None if value is None else round(value / 1000, 6) for value in values)


def _line(chart: Chart, places: list[int]) -> Element:
    title = capital(clean(chart.title)) + (f" ({clean(chart.unit)})" if chart.unit else "")
    series = [_series("measured", "categoricalBlue", chart, chart.values, places)]
    if any(value is not None for value in chart.threshold):
        series.append(_series("threshold", "attention", chart, chart.threshold, places))
    element: Element = {"type": "Chart.Line", "title": title, "showTitle": True, "data": series}
    element |= {"xAxisTitle": "UTC", "yAxisTitle": clean(chart.unit), "colorSet": "categorical"}
    if _from_zero(chart):
        element["yMin"] = 0
    return {**element, "fallback": small("The curve in text, as this client draws no charts:")}


def _series(
    legend: str,
    color: str,
    chart: Chart,
    values: tuple[float | None, ...],
    places: list[int],
) -> Element:
    """Minutes without a value are left out: a null breaks the whole chart."""
    points = [
        {"x": _time(chart, place), "y": value}
        for place in places
        if place < len(values) and (value := values[place]) is not None
    ]
    return {"legend": legend, "color": color, "values": points}


def _from_zero(chart: Chart) -> bool:
    """Whether an axis from zero leaves the curve more than the upper half of the picture."""
    known = [value for value in chart.values if value is not None]
    return 0 <= min(known) < max(known) / 2


def _told(chart: Chart, places: list[int]) -> list[Element]:
    end = time_of(chart.start + len(chart.values) - 1)
    head = f"**{escape(capital(chart.title))}**, {time_of(chart.start):%H:%M} to {end:%H:%M} UTC"
    bars = sparkline([chart.values[place] for place in places])
    return [
        text(head, size="Small"),
        text(bars, fontType="Monospace", spacing="Small"),
        small(_extremes(chart)),
    ]


def _extremes(chart: Chart) -> str:
    known = [(value, place) for place, value in enumerate(chart.values) if value is not None]
    (low, low_at), (high, high_at), (last, last_at) = min(known), max(known), known[-1]
    parts = [
        f"lowest {amount(low, chart.unit)} at {_time(chart, low_at)}",
        f"highest {amount(high, chart.unit)} at {_time(chart, high_at)}",
        f"last {amount(last, chart.unit)} at {_time(chart, last_at)}",
    ]
    limits = [value for value in chart.threshold if value is not None]
    if limits:
        parts.append(f"threshold {_range(limits, chart.unit)}")
    return ", ".join(parts)


def _range(values: list[float], unit: str) -> str:
    low, high = amount(min(values), unit), amount(max(values), unit)
    return low if low == high else f"{low} to {high}"


def _time(chart: Chart, place: int) -> str:
    """With hours and minutes alone the axis is one of names; numbers would make it a wrong time."""
    return f"{time_of(chart.start + place):%H:%M}"


def amount(value: float, unit: str) -> str:
    """A value of a chart as a person reads it: `4.2 s`, `61 %`, `1,250 tokens`."""
    digits = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return f"{digits} {escape(unit)}".strip() if unit != "1" else digits
