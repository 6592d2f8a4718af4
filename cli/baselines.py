"""A baseline in words."""

from __future__ import annotations

from shared.model import Fit, iso


def explained(fit: Fit) -> list[str]:
    """What was fitted, from how much, and since when it holds."""
    since = f"valid since {iso(fit.slot)}"
    if not fit.ready:
        return [f"learning: {fit.samples} bins are too little history", since]
    if fit.kind == "before":
        return [f"{fit.level:.4g} in the hour before {iso(fit.slot)} ({fit.reference})"]
    noise = f"one request deviates by {fit.spread:.0%}, {fit.samples:,} bins, {since}"
    if fit.kind == "level":
        by_hour = ", by hour of the day" if fit.hours else ""
        return [f"{fit.level:.4g}{by_hour}", noise]
    line = f"{fit.intercept:.4g} + {fit.slope:.4g} x {fit.given}"
    return [f"{line}, seen from {fit.low:.4g} to {fit.high:.4g}", noise]
