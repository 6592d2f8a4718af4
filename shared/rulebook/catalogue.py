"""The platform metrics of Azure OpenAI and Foundry accounts: what exists and what not to use.

Source: `metrics.csv` beside this file, read from Microsoft's supported-metrics tables and the
Azure OpenAI monitoring reference; each row names its copy in the column `source`.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shared.rulebook.units import MS, PERCENTS, Unit, parse_unit

NAMESPACE = "microsoft.cognitiveservices/accounts"

REPLACEMENTS = {
    "Latency": "AzureOpenAITTLTInMS",
    "SuccessRate": "AzureOpenAIRequests, split by StatusCode",
    "TotalCalls": "AzureOpenAIRequests",
    "SuccessfulCalls": 'AzureOpenAIRequests with where: {StatusCode: "2xx"}',
    "TotalErrors": 'AzureOpenAIRequests with where: {StatusCode: "5xx"}',
    "ServerErrors": 'AzureOpenAIRequests with where: {StatusCode: "5xx"}',
    "ClientErrors": 'AzureOpenAIRequests with where: {StatusCode: "4xx"}',
    "BlockedCalls": 'AzureOpenAIRequests with where: {StatusCode: "429"}',
    "Ratelimit": 'AzureOpenAIRequests with where: {StatusCode: "429"}',
    "DataIn": "ProcessedPromptTokens",
    "DataOut": "GeneratedTokens",
    "TotalTokenCalls": "TokenTransaction",
    "AzureOpenAIProvisionedManagedUtilization": "AzureOpenAIProvisionedManagedUtilizationV2",
}
"""Metrics that mislead for Azure OpenAI (HTTP metrics of Cognitive Services, and a deprecated one),
and what to use instead. Source: Microsoft's note on the Azure OpenAI monitoring reference."""

PROVISIONED_ONLY = frozenset(
    {
        "AzureOpenAIProvisionedManagedUtilizationV2",
        "ProvisionedUtilization",
        "AzureOpenAIContextTokensCacheMatchRate",
        "ActiveTokens",
    }
)
"""Absent, not 0, on pay-as-you-go deployments."""

CACHE_WARMING = 10
"""Minutes after a change before the prompt cache is judged: it has to fill first."""
CACHE_KEPT = 5
"""Minutes without use after which the prompt cache may be empty (Microsoft: 5 to 10)."""


def is_cache(metric: str) -> bool:
    """Whether the metric says something of the prompt cache."""
    return "cache" in metric.casefold()


def touches(kind: str, metric: str) -> bool:
    """Whether a kind of change alters what a metric measures, so that windows begin anew with it.

    The number of requests and how they end is the callers' and the service's doing, not the
    prompt's; a content filter and capacity alter how long answers take.
    """
    name = metric.casefold()
    slow = name.endswith("inms") or "time" in name or "utilization" in name
    if kind == "prompt_template":
        return slow or is_cache(metric) or "token" in name
    if kind in ("content_filter", "capacity"):
        return slow
    return True


@dataclass(frozen=True)
class Metric:
    """One metric; aggregations in lower case as `metrics:getBatch` takes them."""

    name: str
    display: str
    unit: str
    aggregations: tuple[str, ...]
    dimensions: tuple[str, ...]
    source: str
    notes: str

    @property
    def family(self) -> str:
        """`AzureOpenAI`, `Models` or `Agents`: the same traffic is reported in the first two."""
        if "resource type Microsoft.CognitiveServices/accounts/PROJECTS" in self.notes:
            return "Agents"
        return "Models" if "Models category" in self.notes else "AzureOpenAI"

    @property
    def measured(self) -> Unit | None:
        """The unit of its values; None for a count that its name does not tell."""
        if self.unit == "MilliSeconds":
            return MS
        if self.unit == "Percent":
            return PERCENTS
        count = next(
            (c for c in ("token", "request", "image", "page") if c in self.name.lower()), ""
        )
        return parse_unit(f"{count}s") if count else None


@cache
def catalogue() -> dict[str, Metric]:
    """All known metrics by name."""
    path = Path(__file__).with_name("metrics.csv")
    with path.open(encoding="utf-8", newline="") as file:
        return {row["name"]: _metric(row) for row in csv.DictReader(file)}


def _metric(row: dict[str, str]) -> Metric:
    return Metric(
        name=row["name"],
        display=row["display"],
        unit=row["unit"],
        aggregations=tuple(part.strip().lower() for part in row["aggregations"].split(";")),
        dimensions=tuple(part.strip() for part in row["dimensions"].split(";") if part.strip()),
        source=row["source"],
        notes=row["notes"],
    )
