"""Builds readings, frames, rulebooks and whole days by hand, as Azure Monitor would show them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec
import numpy as np

from shared.engine.baseline import Due
from shared.engine.case import Case, Judged, Standing, all_offsets
from shared.engine.evaluate import Context, Reason, Setting, Verdict, key_of, offsets, reach
from shared.engine.frame import Floats, Frame, deployments_in, frame_of
from shared.engine.walk import walk
from shared.engine.windows import Windows
from shared.model import Account, Change, Component, Deployment, Failure, Fit, Reading, Series, Slot
from shared.rulebook.load import load
from shared.rulebook.rules import Rule, Rulebook

RULES = Path(__file__).parents[2] / "rules"
START = 29_000_160
"""A slot at which a day of UTC begins nowhere in particular; a multiple of 15."""
ACCOUNT = Account(
    "/subscriptions/sub/resourcegroups/rg/providers/microsoft.cognitiveservices/accounts/acc",
    "swedencentral",
)
CHAT = Deployment(ACCOUNT.id, "chat")
NAN = float("nan")

Values: TypeAlias = "float | Sequence[float] | Floats | None"

REQUESTS = Component("AzureOpenAIRequests", "total")
GOOD = Component("AzureOpenAIRequests", "total", (("StatusCode", "2xx"),))
THROTTLED = Component("AzureOpenAIRequests", "total", (("StatusCode", "429"),))
TTLT = Component("AzureOpenAITTLTInMS", "average")
TOKENS = Component("GeneratedTokens", "total")
PROMPT = Component("ProcessedPromptTokens", "total")
USED = Component("AzureOpenAIProvisionedManagedUtilizationV2", "average")
CACHE = Component("AzureOpenAIContextTokensCacheMatchRate", "average")
COMPONENTS = (REQUESTS, GOOD, THROTTLED, TTLT, TOKENS, PROMPT, USED, CACHE)


def named(name: str, account: Account = ACCOUNT) -> Deployment:
    return Deployment(account.id, name)


def series(
    metric: str,
    values: Values,
    steps: int,
    aggregation: str = "total",
    of: Deployment = CHAT,
    **dimensions: str,
) -> Series:
    """One time series; a single value stands in every step."""
    filled = np.broadcast_to(np.asarray(values, dtype=np.float64), (steps,)).copy()
    return Series(of, metric, aggregation, tuple(sorted(dimensions.items())), filled)


def minutes(
    steps: int,
    *,
    ok: Values = None,
    throttled: Values = None,
    failed: Values = None,
    ttlt: Values = None,
    tokens: Values = None,
    prompt: Values = None,
    used: Values = None,
    cached: Values = None,
    of: Deployment = CHAT,
) -> tuple[Series, ...]:
    """The series of one deployment; what is None has no series at all."""
    totals = (("200", ok), ("429", throttled), ("500", failed))
    metrics = (
        (TTLT, ttlt),
        (TOKENS, tokens),
        (PROMPT, prompt),
        (USED, used),
        (CACHE, cached),
    )
    split = [
        series(REQUESTS.metric, values, steps, of=of, StatusCode=code)
        for code, values in totals
        if values is not None
    ]
    plain = [
        series(c.metric, values, steps, c.aggregation, of=of)
        for c, values in metrics
        if values is not None
    ]
    return (*split, *plain)


def frame(
    found: Iterable[Series],
    steps: int,
    *,
    start: Slot = START,
    step: int = 1,
    known: Iterable[Deployment] = (CHAT,),
    failed: Iterable[Component] = (),
    components: Iterable[Component] = COMPONENTS,
) -> Frame:
    """What `frame_of` makes of the series; `failed` could not be read for the account."""
    failures = {(ACCOUNT.id, component): Failure("Throttled", True) for component in failed}
    reading = Reading(start, step, steps, tuple(found), failures)
    return frame_of(reading, deployments_in(reading, known), components)


def book(text: str = "", *, signals: str | None = None, build: int = 0) -> Rulebook:
    """The rulebook of some YAML over the shipped signals (or over others); it may be broken."""
    with tempfile.TemporaryDirectory() as folder:
        shipped = (RULES / "signals.yaml").read_text(encoding="utf-8")
        Path(folder, "signals.yaml").write_text(signals or shipped, encoding="utf-8")
        if text:
            Path(folder, "own.yaml").write_text(text, encoding="utf-8")
        return load(Path(folder), build)


def rule_text(name: str = "Own", **keys: str) -> str:
    """An entry of the list under `rules:`; `for` is spelled `hold` here."""
    given = {
        "severity": "warning",
        "owner": "team",
        "summary": "Something is wrong",
        "runbook": "runbooks/own.md",
        **keys,
    }
    lines = [f"  - name: {name}"]
    for key, value in given.items():
        lines.append(f"    {'for' if key == 'hold' else key}: {value}")
    return "\n".join(lines)


def one_rule(signals: str | None = None, **keys: str) -> Rulebook:
    """A rulebook of one rule called Own, which must be right."""
    made = book(f"rules:\n{rule_text(**keys)}\n", signals=signals)
    assert not made.errors, made.errors
    return made


@cache
def shipped() -> Rulebook:
    return load(RULES)


def shipped_rule(name: str) -> Rulebook:
    """The shipped rulebook with one rule only."""
    whole = shipped()
    return Rulebook(whole.signals, tuple(rule for rule in whole.rules if rule.name == name))


def fit_of(
    kind: Literal["level", "line", "before"] = "level",
    signal: str = "ttlt",
    given: str = "",
    slot: Slot = START,
    **values: float,
) -> Fit:
    """A fit that is ready, of the deployment `chat`."""
    base = Fit(kind, signal, given, CHAT, slot, slot - 20160, 500, 1000.0)
    return msgspec.structs.replace(base, **values)


def context(
    rulebook: Rulebook,
    data: Frame,
    *,
    rule: Rule | None = None,
    first: int = 0,
    count: int | None = None,
    fits: Iterable[Fit] = (),
    begin: Slot = 0,
    provisioned: bool = True,
    pinned: bool = False,
    earlier: Mapping[int, Frame] | None = None,
    account: Account = ACCOUNT,
) -> Context:
    """One rule over the rows [first, first + count) of a frame, with the fits of `chat`."""
    rule = rule or rulebook.rules[0]
    count = data.steps - first if count is None else count
    longest = reach(rule)
    shape = (count, len(data.deployments))
    given = {fit.key: fit for fit in fits}
    setting = Setting(
        fits={
            key: tuple(given.get(key) if d == CHAT else None for d in data.deployments)
            for key in map(key_of, rule.asked)
        },
        parameters={
            name: np.array([rule.parameter(name, account, d) for d in data.deployments])
            for name in rule.parameters
        },
        begin=np.full(shape, begin, dtype=np.int64),
        provisioned=np.full(shape, provisioned),
        pinned=np.full(len(data.deployments), pinned),
    )
    back = {
        minutes: Windows(before, rulebook.signals, first, count, longest)
        for minutes, before in (earlier or {}).items()
    }
    assert set(back) == offsets(rule)
    return Context(
        rulebook, rule, Windows(data, rulebook.signals, first, count, longest), setting, back
    )


def last_verdict(made: Context, column: int = 0) -> tuple[Verdict, Reason]:
    """Verdict and reason in the last slot."""
    verdicts, reasons = made.verdicts()
    return Verdict(verdicts[-1, column]), Reason(reasons[-1, column])


@dataclass(frozen=True)
class Days:
    """A stretch of minutes that can be read in any piece, and at a coarse grain as history."""

    series: tuple[Series, ...]
    steps: int
    start: Slot = START
    deployments: tuple[Deployment, ...] = (CHAT,)

    def frame(self, first: Slot, last: Slot, lead: int = 60) -> Frame:
        """The minutes [first - lead, last]."""
        return self._cut(first - lead, last + 1, 1)

    def history(self, dues: Sequence[Due]) -> dict[Due, Frame]:
        return {due: self._cut(due.start, due.end, due.step) for due in dues}

    def _cut(self, begin: Slot, end: Slot, step: int) -> Frame:
        wanted = np.arange(begin, end) - self.start
        inside = (wanted >= 0) & (wanted < self.steps)
        found = []
        for one in self.series:
            values = np.full(len(wanted), np.nan)
            values[inside] = one.values[wanted[inside]]
            coarse = _coarse(values.reshape(-1, step), one.aggregation)
            found.append(
                Series(one.deployment, one.metric, one.aggregation, one.dimensions, coarse)
            )
        return frame(found, (end - begin) // step, start=begin, step=step, known=self.deployments)


def _coarse(values: Floats, aggregation: str) -> Floats:
    present = ~np.isnan(values)
    sums, counts = np.nansum(values, axis=1), present.sum(axis=1)
    if aggregation == "average":
        sums = sums / np.maximum(counts, 1)
    coarse: Floats = np.where(counts > 0, sums, np.nan)
    return coarse


def live(
    rulebook: Rulebook,
    days: Days,
    first: Slot,
    last: Slot,
    *,
    ends: Iterable[Slot] = (),
    changes: tuple[Change, ...] = (),
    standing: Standing | None = None,
) -> Judged:
    """Judges [first, last] in the pieces that end at `ends`, as so many ticks would."""
    judged = Judged(standing or Standing())
    for end in [*sorted(ends), last]:
        while first <= end:
            case = Case(
                rulebook,
                {ACCOUNT.id: ACCOUNT},
                days.frame(first, end),
                changes,
                {m: days.frame(first - m, end - m) for m in all_offsets(rulebook)},
            )
            piece, reached = walk(case, judged.standing, first, end, days.history)
            judged = judged.then(piece)
            first = reached + 1
    return judged
