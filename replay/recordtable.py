"""A reading -> rows of a recording, and what a recording says of itself."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import msgspec
import numpy as np
import pyarrow as pa

from replay.recordgaps import Gap, joined
from replay.recordplan import Order, RecordError
from shared.engine.frame import Floats
from shared.model import Account, Component, Deployment, Reading, Series, Slot

KEY = b"tokenwatch"
"""Where a Parquet file says what it holds, among its own metadata."""
TIME = pa.timestamp("ms", tz="UTC")
_SPECIAL = frozenset('[];=,"\n')


class About(msgspec.Struct, frozen=True):
    """What a recording holds, beyond its rows."""

    begin: Slot
    first: Slot
    """What is before is the lead-in."""
    end: Slot
    accounts: tuple[Account, ...]
    components: tuple[Component, ...]
    """What was asked for, whether it has points or not."""
    gaps: tuple[Gap, ...] = ()
    notes: tuple[str, ...] = ()


def about(order: Order, gaps: Iterable[Gap], notes: Iterable[str]) -> About:
    asked = order.asked
    return About(
        order.begin,
        order.first,
        order.end,
        asked.accounts,
        asked.components,
        joined(gaps),
        (*order.notes, *dict.fromkeys(notes)),
    )


def table_of(reading: Reading, components: Collection[Component]) -> pa.Table:
    """One row a minute and deployment, where it has any point."""
    spelled = {name.casefold(): name for c in components for name, _ in c.where}
    columns: dict[str, dict[str, Floats]] = {}
    names: dict[str, Deployment] = {}
    for series in reading.series:
        deployment = names.setdefault(series.deployment.key, series.deployment)
        column = columns.setdefault(column_of(series, spelled), {})
        before = column.get(deployment.key)
        column[deployment.key] = series.values if before is None else _sum(before, series.values)
    ordered = sorted(names.values())
    filled = {name: _stacked(columns[name], ordered, reading.steps) for name in sorted(columns)}
    return _rows(reading.start, reading.steps, ordered, filled)


def column_of(series: Series, spelled: Mapping[str, str]) -> str:
    """`AzureOpenAIRequests:total[StatusCode=429]`.

    Raises:
        RecordError: a value holds characters that a column's name cannot.
    """
    pairs = [f"{spelled.get(key.casefold(), key)}={value}" for key, value in series.dimensions]
    if any(_SPECIAL & set(value) for _, value in series.dimensions):
        raise RecordError(
            f"{series.metric} is split by {', '.join(pairs)}: such a value cannot stand in the "
            "name of a column; record for rules that do not split by it"
        )
    return f"{series.metric}:{series.aggregation}" + (f"[{';'.join(pairs)}]" if pairs else "")


def _sum(before: Floats, values: Floats) -> Floats:
    """One series that was answered in two spellings of its deployment."""
    both: Floats = np.where(np.isnan(before), values, before + np.nan_to_num(values))
    return both


def _stacked(values: Mapping[str, Floats], ordered: Iterable[Deployment], steps: int) -> Floats:
    nothing = np.full(steps, np.nan)
    return np.concatenate([values.get(one.key, nothing) for one in ordered])


def _rows(
    start: Slot, steps: int, ordered: list[Deployment], filled: Mapping[str, Floats]
) -> pa.Table:
    size = steps * len(ordered)
    present = np.zeros(size, dtype=bool)
    for values in filled.values():
        present |= ~np.isnan(values)
    minutes = np.tile(np.arange(start, start + steps, dtype=np.int64), len(ordered))[present]
    which = np.repeat(np.arange(len(ordered)), steps)[present]
    return pa.table(
        {
            "time": pa.array(minutes * 60_000, TIME),
            "account": pa.array([one.account for one in ordered], pa.string()).take(
                pa.array(which)
            ),
            "deployment": pa.array([one.name for one in ordered], pa.string()).take(
                pa.array(which)
            ),
            **{name: _numbers(values[present]) for name, values in filled.items()},
        }
    )


def _numbers(values: Floats) -> pa.Array:
    return pa.array(values, pa.float64(), mask=np.isnan(values))
