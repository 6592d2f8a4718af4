"""Windows against a plain reference, one cell at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.engine.frame import Frame
from shared.engine.windows import Windows
from shared.model import Component
from shared.rulebook.rules import SignalDef
from tests.engine.build import (
    CACHE,
    CHAT,
    NAN,
    PROMPT,
    REQUESTS,
    TOKENS,
    TTLT,
    context,
    frame,
    named,
    one_rule,
)
from tests.engine.build import minutes as points
from tests.engine.build import series as one_series

LONGEST = 6
HIGHEST = Component(TTLT.metric, "maximum")
LOWEST = Component(TTLT.metric, "minimum")
SIGNALS = one_rule(
    when="requests > 1",
    signals="""
signals:
  requests: {metric: AzureOpenAIRequests, aggregation: total, unit: requests}
  prompt: {metric: ProcessedPromptTokens, aggregation: total, unit: tokens}
  output: {metric: GeneratedTokens, aggregation: total, unit: tokens}
  plain: {metric: AzureOpenAITTLTInMS, aggregation: average, unit: ms}
  ttlt: {metric: AzureOpenAITTLTInMS, aggregation: average, weight: requests, unit: ms}
  hits: {metric: AzureOpenAIContextTokensCacheMatchRate, aggregation: average, weight: prompt,
         unit: "%"}
  highest: {metric: AzureOpenAITTLTInMS, aggregation: maximum, unit: ms}
  lowest: {metric: AzureOpenAITTLTInMS, aggregation: minimum, unit: ms}
  each: {formula: prompt / requests, unit: tokens/request}
  share: {formula: (prompt - output) / (prompt + 2 * output), unit: "%"}
""",
).signals
ALL = (REQUESTS, PROMPT, TOKENS, TTLT, CACHE, HIGHEST, LOWEST)

Column = Sequence[float]
VALUE = st.one_of(
    st.just(NAN),
    st.just(0.0),
    st.floats(0.001, 1e6, allow_nan=False),
    st.integers(0, 50).map(float),
)


@st.composite
def frames(draw: st.DrawFn) -> Frame:
    """Two deployments with any points and holes."""
    steps = draw(st.integers(1, 12))
    cells = st.lists(VALUE, min_size=2 * steps, max_size=2 * steps)
    values = {component: np.array(draw(cells)).reshape(steps, 2) for component in ALL}
    base = frame([], steps, known=(CHAT, named("other")), components=())
    failed = {component: np.zeros(len(base.deployments), dtype=bool) for component in values}
    return Frame(base.start, 1, steps, base.deployments, values, failed)


def windows(data: Frame, first: int, count: int, longest: int = LONGEST) -> Windows:
    return Windows(data, SIGNALS, first, count, longest)


def reference(signal: SignalDef, data: Frame, row: int, column: int, length: int) -> float:
    """The value of a window as a person would work it out."""

    def cells(component: Component) -> list[float]:
        every = data.values[component][max(row - length + 1, 0) : row + 1, column]
        return [float(value) for value in every]

    if signal.name == "each":
        prompt, requests = (
            reference(SIGNALS[n], data, row, column, length) for n in ("prompt", "requests")
        )
        return prompt / requests if requests else NAN
    if signal.name == "share":
        prompt, output = (
            reference(SIGNALS[n], data, row, column, length) for n in ("prompt", "output")
        )
        whole = prompt + 2 * output
        return 100 * (prompt - output) / whole if whole else NAN
    assert signal.component
    mine = cells(signal.component)
    there = [value for value in mine if not math.isnan(value)]
    if not there:
        return NAN
    if signal.component.aggregation == "total":
        return sum(there)
    if signal.component.aggregation == "maximum":
        return max(there)
    if signal.component.aggregation == "minimum":
        return min(there)
    weight = SIGNALS[signal.weight].component if signal.weight else None
    weights = cells(weight) if weight else [1.0] * len(mine)
    weighed = [
        (value, by if by > 0 else 1.0)
        for value, by in zip(mine, weights, strict=True)
        if not math.isnan(value)
    ]
    return sum(value * by for value, by in weighed) / sum(by for _, by in weighed)


@settings(max_examples=60, deadline=None)
@given(frames(), st.data())
def test_every_window_is_what_a_person_would_work_out(data: Frame, more: st.DataObject) -> None:
    """Totals, weighted averages, extremes and formulas agree with plain arithmetic."""
    first = more.draw(st.integers(0, data.steps - 1))
    count = data.steps - first
    made = windows(data, first, count)
    lengths = np.array(
        more.draw(st.lists(st.integers(1, LONGEST), min_size=2 * count, max_size=2 * count))
    ).reshape(count, 2)
    for name, signal in SIGNALS.items():
        value = made.value(name, lengths)
        for (n, column), length in np.ndenumerate(lengths):
            expected = reference(signal, data, first + n, column, int(length))
            assert value[n, column] == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(frames(), st.data())
def test_a_value_never_depends_on_how_much_is_judged_at_once(
    data: Frame, more: st.DataObject
) -> None:
    """A window has the same bits in one piece, in any piece, and with a longer rule beside it."""
    length = more.draw(st.integers(1, LONGEST))
    first = more.draw(st.integers(0, data.steps - 1))
    count = more.draw(st.integers(1, data.steps - first))
    whole, part = windows(data, 0, data.steps), windows(data, first, count, longest=length)
    wide = windows(data, first, count, longest=LONGEST + 7)
    for name in SIGNALS:
        expected = whole.value(name, whole.lengths(length))[first : first + count]
        assert part.value(name, part.lengths(length)).tobytes() == expected.tobytes()
        assert wide.value(name, wide.lengths(length)).tobytes() == expected.tobytes()


@settings(max_examples=30, deadline=None)
@given(frames(), st.sampled_from(["min", "max"]))
def test_the_extreme_minute_is_found_for_every_signal(data: Frame, how: str) -> None:
    """min() and max() take the lowest and the highest minute, of formulas as well."""
    made = windows(data, 0, data.steps)
    lengths = made.lengths(LONGEST)
    for name, signal in SIGNALS.items():
        value = made.extreme(name, lengths, how)
        for row in range(data.steps):
            every = [
                reference(signal, data, back, 0, 1) for back in range(max(row - 5, 0), row + 1)
            ]
            there = [one for one in every if not math.isnan(one)]
            expected = (min if how == "min" else max)(there) if there else NAN
            assert value[row, 0] == pytest.approx(expected, nan_ok=True)


def test_a_quiet_minute_weighs_little() -> None:
    """An average is that of the requests, not that of the minutes."""
    data = frame(points(2, ok=[99, 1], ttlt=[1000, 9000]), 2)
    made = windows(data, 1, 1)
    assert made.value("ttlt", made.lengths(2))[0, 0] == 1080
    assert made.value("plain", made.lengths(2))[0, 0] == 5000


def test_a_value_without_its_weight_still_counts() -> None:
    """A minute whose weight is missing or 0 weighs like one request."""
    data = frame(points(3, ok=[2, NAN, 0], ttlt=[1000, 4000, 7000]), 3)
    made = windows(data, 2, 1)
    assert made.value("ttlt", made.lengths(3))[0, 0] == (2 * 1000 + 4000 + 7000) / 4


def test_a_formula_is_the_ratio_of_sums() -> None:
    """Tokens an answer is all tokens over all answers, never the mean of the minutes' ratios."""
    data = frame(points(2, ok=[1, 99], prompt=[1000, 990]), 2)
    made = windows(data, 1, 1)
    assert made.value("each", made.lengths(2))[0, 0] == pytest.approx(19.9)


def test_nothing_over_nothing_is_unknown() -> None:
    """A division by zero is no value, and no warning."""
    made = windows(frame(points(1, ok=0, prompt=0), 1), 0, 1)
    assert np.isnan(made.value("each", made.lengths(1))[0, 0])


def test_windows_reach_back_before_the_frame() -> None:
    """Where the frame does not reach, there are no points."""
    made = windows(frame(points(2, ok=3), 2), 0, 2)
    assert list(made.value("requests", made.lengths(6))[:, 0]) == [3, 6]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 8), min_size=12, max_size=30))
def test_a_growing_window_is_the_shortest_that_is_enough(calls: list[int]) -> None:
    """`over: 2m..8m` takes for each minute the shortest window with traffic enough."""
    made = one_rule(when="ttlt > 5s", needs="requests >= 10", over="2m..8m")
    found = context(made, frame(points(len(calls), ok=[float(c) for c in calls]), len(calls)))
    for row in range(len(calls)):
        sums = {n: sum(calls[max(row - n + 1, 0) : row + 1]) for n in range(2, 9)}
        enough = [n for n, total in sums.items() if total >= 10]
        assert found.enough[row, 0] == bool(enough)
        assert found.lengths[row, 0] == min(enough, default=8)


def test_each_deployment_grows_its_own_window() -> None:
    """A busy deployment is judged on a short window while a quiet one waits for more."""
    made = one_rule(when="ttlt > 5s", needs="requests >= 10", over="1m..8m")
    quiet = one_series(REQUESTS.metric, 2, 9, StatusCode="200")
    busy = one_series(REQUESTS.metric, 50, 9, of=named("busy"), StatusCode="200")
    found = context(made, frame([quiet, busy], 9, known=()))
    assert dict(
        zip([d.name for d in found.windows.frame.deployments], found.lengths[-1], strict=True)
    ) == {
        "busy": 1,
        "chat": 5,
    }
