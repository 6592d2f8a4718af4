"""What of the past can be seen already: Azure Monitor's newest minutes come late and in parts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from emulator.source import Series

PARTIAL = 0.6
"""Share of the requests of the newest visible minute that has arrived."""


@dataclass(frozen=True, slots=True)
class Visibility:
    """What can be seen: minutes that ended at least `delay` minutes ago; the newest is partial."""

    minute: int
    delay: int

    def of(self, series: Series, start: int, aggregation: str) -> Series:
        values, weights = series.values.copy(), series.weights.copy()
        newest = self.minute - self.delay - 1 - start
        values[max(newest + 1, 0) :] = np.nan
        if self.delay and 0 <= newest < len(values):
            weights[newest] *= PARTIAL
            if aggregation == "total":
                values[newest] = np.floor(values[newest] * PARTIAL)
        return replace(series, values=values, weights=weights)
