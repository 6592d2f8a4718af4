"""How long a backtest takes: `python -m benchmarks.backtest`.

Makes a recording of 14 days, after 14 days of lead-in, of 50 deployments from a seeded synthetic
load with incidents in it, and times the real command over it with 16 rules.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from replay.recordparts import Kept, Parts
from replay.recordplan import DAY, LEAD_IN, Asked, Order, components_of, pieces
from replay.recordtable import about, table_of
from replay.recordwrite import write
from shared.engine.frame import Floats
from shared.model import Account, Deployment, Reading, Series, Slot
from shared.rulebook.load import load

ROOT = Path(__file__).parent.parent
START: Slot = 29_674_080
"""The first judged minute."""
ACCOUNTS, EACH = 5, 10
HEAD = "{severity: warning, owner: bench, summary: It is so, runbook: r.md, "
MORE = f"""rules:
  - {HEAD}name: TTLTHigh, needs: requests >= 5, over: 5m..15m, when: ttlt > 8s, for: 5m}}
  - {HEAD}name: TTLTAboveNormal, needs: requests >= 20, over: 10m..30m,
     when: ttlt > 1.5 * baseline(ttlt) and deviation(ttlt) > 4, for: 3 of 5}}
  - {HEAD}name: AnswersLonger, needs: requests >= 20, over: 10m..30m,
     when: tokens_per_answer > 1.5 * baseline(tokens_per_answer), for: 5m}}
  - {HEAD}name: TrafficGone, over: 15m, when: 'avg(requests, 15m) < 0.1 * avg(requests, 60m)',
     for: 5m}}
  - {HEAD}name: TrafficDoubled, over: 30m, when: 'requests > 2.5 * ago(requests, 1d)', for: 10m}}
  - {HEAD}name: ThrottledOften, over: 10m, when: throttled_requests >= 20, for: 5m}}
  - {HEAD}name: CacheLow, needs: requests >= 20, over: 10m..30m,
     when: cache_match_rate < 0.5 * baseline(cache_match_rate), for: 3 of 5}}
  - {HEAD}name: UtilizationHigh, over: 10m, when: 'avg(utilization, 10m) > 90%', for: 5m}}
  - {HEAD}name: UtilizationPeaks, over: 5m, when: 'max(utilization, 15m) >= 100%', for: 0,
     mode: observe}}
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--days", type=int, default=14)
    options.add_argument("--jobs", type=int, default=2)
    options.add_argument("--html", action="store_true", help="draw the page of charts too")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as place:
        rules, recording = _rules(Path(place)), Path(place) / "load.parquet"
        began = time.monotonic()
        _make(recording, rules, asked.days)
        size = recording.stat().st_size / 1e6
        print(f"made in {time.monotonic() - began:.1f} s: {size:.0f} MB")
        more = ["--html", f"{place}/page.html"] if asked.html else []
        seconds, found = _timed(recording, rules, asked.jobs, more)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{found['deployments']} deployments x {len(found['rules'])} rules x {asked.days} days "
        f"after 14 days of lead-in: {seconds:.1f} s on {asked.jobs} processes, "
        f"{len(found['episodes'])} episodes, {found['messages_a_week']:g} messages a week"
    )
    print(f"{used.ru_utime + used.ru_stime:.0f} s of processor time, shared by them")
    print(f"the largest process took {used.ru_maxrss / 1024:.0f} MB; there are {asked.jobs + 1}")


def _timed(
    recording: Path, rules: Path, jobs: int, more: list[str]
) -> tuple[float, dict[str, Any]]:
    code = "from cli.main import main; main()"
    options = ["--recording", str(recording), "--rules", str(rules), "--jobs", str(jobs), "--json"]
    began = time.monotonic()
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", code, "backtest", *options, *more],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        check=True,
    )
    return time.monotonic() - began, json.loads(done.stdout)


def _rules(folder: Path) -> Path:
    rules = folder / "rules"
    shutil.copytree(ROOT / "rules", rules)
    (rules / "more.yaml").write_text(MORE, encoding="utf-8")
    return rules


def _make(out: Path, rules: Path, days: int) -> None:
    accounts = tuple(
        Account(
            f"/subscriptions/s/resourcegroups/g/providers/microsoft.cognitiveservices/accounts/a{n}",
            "x",
        )
        for n in range(ACCOUNTS)
    )
    end = START + days * DAY
    asked = Asked(accounts, components_of(load(rules)), START, end)
    order = Order(asked, START - LEAD_IN, START, end)
    parts, every = Parts.beside(out), pieces(order)
    parts.folder.mkdir()
    whole = [s for n in range(ACCOUNTS * EACH) for s in _deployment(n, accounts, order)]
    for piece in every:
        rows = slice(piece.start - order.begin, piece.start - order.begin + piece.steps)
        mine = [
            Series(s.deployment, s.metric, s.aggregation, s.dimensions, s.values[rows])
            for s in whole
            if any(account.id == s.deployment.account for account in piece.accounts)
        ]
        reading = Reading(piece.start, 1, piece.steps, tuple(mine))
        parts.put(piece, table_of(reading, asked.components), Kept())
    write(out, parts, every, about(order, (), ()))


def _deployment(number: int, accounts: tuple[Account, ...], order: Order) -> Iterator[Series]:
    """A swing a day, a dip a week, the law of latency, now and then an incident of each kind."""
    random = np.random.default_rng([7, number])
    steps = order.end - order.begin
    minute = np.arange(steps)
    swing = 1 + 0.6 * np.sin(2 * np.pi * (minute / DAY + number / 50))
    week = np.where(minute // DAY % 7 < 5, 1.0, 0.35)
    requests = random.poisson((2 + number % 10 * 3) * swing * week).astype(np.float64)
    failed = random.binomial(requests.astype(np.int64), _incident(random, steps, 0.002, 0.5))
    throttled = random.binomial(requests.astype(np.int64), _incident(random, steps, 0.0, 0.3))
    good = np.maximum(requests - failed - throttled, 0)
    served, some = np.maximum(good, 1), good > 0
    tokens = good * random.lognormal(5.0, 0.3 / np.sqrt(served))
    slower = _incident(random, steps, 1.0, 2.2)
    law = 300 + 14 * slower * tokens / served
    ttlt = law * random.lognormal(0, 0.25 / np.sqrt(served))
    used = 40 * swing * week * random.lognormal(0, 0.1, steps) * _incident(random, steps, 1, 2.2)
    cache = np.clip(
        random.normal(60 * _incident(random, steps, 1, 0.4), 6 / np.sqrt(served)), 0, 100
    )
    place = Deployment(accounts[number % ACCOUNTS].id, f"model-{number:02d}")

    def series(metric: str, values: Floats, aggregation: str = "total", code: str = "") -> Series:
        where = (("statuscode", code),) if code else ()
        return Series(place, metric, aggregation, where, values)

    none = np.nan
    yield series("AzureOpenAIRequests", np.where(some, good, none), code="200")
    yield series("AzureOpenAIRequests", np.where(failed > 0, failed, none), code="500")
    yield series("AzureOpenAIRequests", np.where(throttled > 0, throttled, none), code="429")
    yield series("GeneratedTokens", np.where(some, tokens, none))
    yield series("ProcessedPromptTokens", np.where(some, 8 * tokens, none))
    yield series("AzureOpenAITTLTInMS", np.where(some, ttlt, none), "average")
    if number % 2:
        yield series("AzureOpenAIProvisionedManagedUtilizationV2", used, "average")
        yield series(
            "AzureOpenAIContextTokensCacheMatchRate", np.where(some, cache, none), "average"
        )


def _incident(random: np.random.Generator, steps: int, usual: float, then: float) -> Floats:
    """A level that is otherwise for half an hour to two, about once in four days."""
    level = np.full(steps, usual)
    for at in random.integers(0, steps, steps // (4 * DAY)):
        level[at : at + random.integers(30, 120)] = then
    return level


if __name__ == "__main__":
    main()
