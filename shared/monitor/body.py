"""The body of a getBatch answer -> arrays. Decodes straight into numpy, without the SDK's models,
which drop the resource ids and the error codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from shared.model import Slot, slot_of


class _Name(msgspec.Struct):
    value: str = ""


class _Pair(msgspec.Struct):
    name: _Name
    value: str = ""


@dataclass(frozen=True, eq=False)
class Answer:
    """What came back for one metric of one resource."""

    resource: str
    """Resource id in lower case."""
    metric: str
    error: str
    """Error code and message, empty where it succeeded."""
    series: tuple[tuple[dict[str, str], NDArray[np.float64]], ...]
    """Dimensions (names in lower case) and values, a value a step, NaN where no point is."""


class BodyError(Exception):
    """The body is not what getBatch answers; the text says why."""


@cache
def _decoder(aggregation: str) -> msgspec.json.Decoder[Any]:
    """A decoder that reads one aggregation of each point and skips everything else."""
    point = msgspec.defstruct(
        "Point",
        [("time", str), ("value", float | None, None)],
        rename={"time": "timeStamp", "value": aggregation},
    )
    series = msgspec.defstruct(
        "Series",
        [
            ("metadatavalues", list[_Pair] | None, None),
            ("data", list[point] | None, None),  # type: ignore[valid-type]
        ],
    )
    metric = msgspec.defstruct(
        "Metric",
        [
            ("name", _Name),
            ("timeseries", list[series] | None, None),  # type: ignore[valid-type]
            ("errorCode", str | None, None),
            ("errorMessage", str | None, None),
        ],
    )
    entry = msgspec.defstruct(
        "Entry",
        [("resourceid", str), ("value", list[metric] | None, None)],  # type: ignore[valid-type]
    )
    body = msgspec.defstruct("Body", [("values", list[entry])])  # type: ignore[valid-type]
    return msgspec.json.Decoder(body)


def answers(body: bytes, aggregation: str, start: Slot, step: int, steps: int) -> Iterator[Answer]:
    """Every (resource, metric) of a body. Points outside [start, start + steps * step) are dropped.

    Raises:
        BodyError: the body is cut, no JSON, or JSON of another shape.
    """
    try:
        decoded = _decoder(aggregation).decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BodyError(f"the answer is not what getBatch sends: {error}") from None
    clock = _Clock(start, step, steps)
    for entry in decoded.values:
        for metric in entry.value or ():
            yield Answer(
                resource=entry.resourceid.casefold(),
                metric=metric.name.value,
                error=_error(metric.errorCode, metric.errorMessage),
                series=tuple(
                    (
                        {p.name.value.casefold(): p.value for p in one.metadatavalues or ()},
                        clock.values(one.data or ()),
                    )
                    for one in metric.timeseries or ()
                ),
            )


def _error(code: str | None, message: str | None) -> str:
    if code is None or code.casefold() == "success":
        return ""
    return f"{code}: {message}" if message else code


class _Clock:
    """Puts points at the step that their own time stamp says; each stamp is parsed once."""

    def __init__(self, start: Slot, step: int, steps: int) -> None:
        self.start, self.step, self.steps = start, step, steps
        self.rows: dict[str, int] = {}

    def values(self, points: Any) -> NDArray[np.float64]:
        array = np.full(self.steps, np.nan)
        rows = self.rows
        for point in points:
            if point.value is not None:
                row = rows.get(point.time)
                if row is None:
                    row = rows[point.time] = self._row(point.time)
                if row >= 0:
                    array[row] = point.value
        return array

    def _row(self, stamp: str) -> int:
        """The step of a time stamp, -1 outside the range."""
        try:
            time = datetime.fromisoformat(stamp)
        except ValueError:
            raise BodyError(f"a point has the time stamp {stamp[:40]!r}") from None
        if time.tzinfo is None:
            raise BodyError(f"a point has a time stamp without zone: {stamp[:40]!r}")
        row = (slot_of(time) - self.start) // self.step
        return row if 0 <= row < self.steps else -1
