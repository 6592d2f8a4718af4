"""Set (d): 24 real, healthy hours of a provisioned deployment, judged by all delivered rules."""

from __future__ import annotations

from benchmarks.detection.data import TRACES, columns, numbers
from benchmarks.detection.load_runs import USED
from benchmarks.detection.play import answered, play, rulebook, series, slots_of
from benchmarks.detection.score import Figure, Score
from shared.engine.case import Judged
from shared.model import Series, Slot

NAME = "recorded-ptu"
RULE = "TTLTRisingWithoutTokens"


def minutes() -> tuple[Slot, list[Series]]:
    """The first minute of the export and its series; what did not succeed counts as 500."""
    table = columns(TRACES / "provisioned-deployment-24h.csv")
    start = slots_of([time.removesuffix("Z") for time in table["timestamp"]])[0]
    calls, good = numbers(table["TotalCalls_sum"]), numbers(table["SuccessfulCalls_sum"])
    return start, [
        answered(NAME, good),
        answered(NAME, calls - good, "500"),
        series(NAME, "AzureOpenAITTLTInMS", numbers(table["Latency_avg_ms"]), "average"),
        series(NAME, "GeneratedTokens", numbers(table["GeneratedTokens_sum"])),
        series(NAME, "ProcessedPromptTokens", numbers(table["ProcessedPromptTokens_sum"])),
        series(NAME, USED, numbers(table["ProvisionedManagedUtilizationV2_avg"]), "average"),
    ]


def judged() -> Judged:
    return play(rulebook(), *minutes())


def score() -> Score:
    found = judged()
    fired = sum(event.kind == "fired" for event in found.events)
    verdicts = ("breach", "clear", "between")
    known = sum(found.tally[RULE][verdict] for verdict in verdicts)
    figures = (
        Figure("alerts", float(fired), "at most", 0.0),
        Figure(f"minutes in which {RULE} knows", float(known)),
    )
    rows = [
        (rule, *(str(counts[verdict]) for verdict in verdicts))
        for rule, counts in sorted(found.tally.items())
    ]
    return Score("d", "24 real hours", figures, ("rule", *verdicts), tuple(rows))
