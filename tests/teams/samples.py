"""Events as the engine makes them, and helpers that look into cards."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from shared.model import Chart, Deployment, Event, Evidence, Fact
from shared.teams.links import Links

START = 29_900_000
ACCOUNT = (
    "/subscriptions/00000000-0000-0000-0000-000000000001/resourcegroups/rg-ai/providers/"
    "microsoft.cognitiveservices/accounts/contoso-north"
)
LINKS = Links(
    tenant="11111111-2222-3333-4444-555555555555", docs_url="https://docs.example.org/tokenwatch/"
)
CHART = Chart(
    title="Time to last token",
    unit="ms",
    start=START - 29,
    values=tuple(1900.0 + 40 * (n % 5) + max(n - 20, 0) * 300 for n in range(30)),
    threshold=(2470.0,) * 30,
)
FIRED = Event(
    id="00aa11bb22cc33dd-fired-0",
    episode="00aa11bb22cc33dd",
    kind="fired",
    sequence=0,
    slot=START,
    since=START - 6,
    rule="TTLTRisingWithoutTokens",
    severity="warning",
    owner="ml-platform",
    runbook="runbooks/ttlt-rising.md",
    deployment=Deployment(ACCOUNT, "gpt-4o-prod"),
    region="westeurope",
    summary="Answers take 1.8x as long as their 182 tokens explain",
    facts=(
        Fact("Time to last token", "4.2 s", "1.9 s expected", "above 2.47 s"),
        Fact("Time to last token, standard deviations off", "9.1", "", "above 4"),
        Fact("Tokens per answer", "182 tokens/request"),
        Fact("Requests", "412 requests"),
        Fact("prompt template changed", "08:12 UTC", "v41 -> v42"),
    ),
    chart=CHART,
    evidence=Evidence("AzureOpenAITTLTInMS", "average"),
)
RESOLVED = replace(
    FIRED,
    id="00aa11bb22cc33dd-resolved-0",
    kind="resolved",
    slot=START + 42,
    reason="recovered",
    worst="5.1 s",
    summary="Answers take 1.02x as long as their 180 tokens explain",
)


def walk(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a card."""
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from walk(part)
    elif isinstance(value, list):
        for part in value:
            yield from walk(part)


def of_type(card: Any, kind: str) -> list[dict[str, Any]]:
    return [part for part in walk(card) if part.get("type") == kind]


def strings(value: Any) -> list[str]:
    """Every text of a card, in order."""
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in strings(part)]


def plain(card: Any) -> Any:
    """The card for a client that knows only Adaptive Cards 1.5: fallbacks instead of the rest."""
    if isinstance(card, dict):
        if card.get("type") in ("Chart.Line", "CodeBlock"):
            return plain(card["fallback"])
        return {key: plain(value) for key, value in card.items() if key != "msteams"}
    return [plain(part) for part in card] if isinstance(card, list) else card


def storm(count: int) -> list[Event]:
    """Events of different rules in one minute, so that none share a group."""
    return [
        replace(FIRED, id=f"{n:016x}-fired-0", episode=f"{n:016x}", rule=f"Rule{n:03}")
        for n in range(count)
    ]
