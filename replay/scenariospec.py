"""What may be written in a file of scenarios. The JSON Schema for editors is generated from here.

What is required is checked by the reader, which knows a cure; the schema is told in REQUIRED.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from shared.rulebook.expressions import CHANGE_KINDS

Series = Annotated[
    str, Meta(description="`20`, `4s x60, 9s x30`, `1k..9k x10`, `_ x5`, `4s ±10%`, `(1, 0 x9)`")
]
Minute = Annotated[str, Meta(description="Since the scenario began, e.g. 30m")]
What = Annotated[
    str | list[str],
    Meta(description="fired; reminded; resolved, recovered; pending; clear; unknown, idle ..."),
]


class BaselineSpec(msgspec.Struct, forbid_unknown_fields=True):
    """What is normal: a `level`, or a line of `intercept` and `slope`."""

    level: Annotated[str, Meta(description="e.g. 4s")] = ""
    intercept: Annotated[str, Meta(description="e.g. 126ms; 0 by default")] = ""
    slope: Annotated[str, Meta(description="For one more of what is given, e.g. 41ms")] = ""
    spread: Annotated[str, Meta(description="Of a single request, e.g. 20%")] = ""
    seen: Annotated[str, Meta(description="Range of what is given, e.g. 50..400")] = ""


class ChangeSpec(msgspec.Struct, forbid_unknown_fields=True):
    """A recorded change."""

    kind: Annotated[str, Meta(extra_json_schema={"enum": sorted(CHANGE_KINDS)})] = ""
    at: Minute = ""
    reference: str = ""


class QuietSpec(msgspec.Struct, forbid_unknown_fields=True):
    """A silence, as in rules/silences.yaml but in minutes since the scenario began."""

    reason: str = "silenced by the scenario"
    owner: str = "its author"
    rules: Annotated[list[str], Meta(description="Globs over names of rules; all by default")] = []
    begin: Minute = msgspec.field(default="", name="from")
    until: Minute = ""


class ScenarioSpec(msgspec.Struct, forbid_unknown_fields=True):
    """What a deployment shows minute by minute, and what a rule has to make of it."""

    name: Annotated[str, Meta(description="What happens, in a short sentence")] = ""
    rule: Annotated[str | list[str], Meta(description="The rule that it is about, or several")] = ""
    series: Annotated[
        dict[str, Series], Meta(description="By signal, or by METRIC:aggregation[Dimension=value]")
    ] = {}
    expect: Annotated[
        dict[str, What | dict[str, What]],
        Meta(description="By time (12m, 10m..15m, 60m..end, always, never), or by rule and time"),
    ] = {}
    lasts: Annotated[str, Meta(description="e.g. 60m, where no series has an end")] = ""
    history: Annotated[
        dict[str, Series] | Literal["none"],
        Meta(description="The 14 days before; each series' first value by default"),
    ] = {}
    baseline: Annotated[
        dict[str, str | BaselineSpec],
        Meta(description="Instead of a fit to history, e.g. for ttlt given tokens_per_answer"),
    ] = {}
    changes: list[ChangeSpec] = []
    silences: list[QuietSpec] = []
    deployment: str = "chat"
    account: str = "example"
    region: str = "swedencentral"


class ScenarioFile(msgspec.Struct, forbid_unknown_fields=True):
    """One file of the folder rules/tests/."""

    scenarios: list[ScenarioSpec] = []


REQUIRED = {
    "ScenarioFile": ["scenarios"],
    "ScenarioSpec": ["name", "rule", "series", "expect"],
    "ChangeSpec": ["kind", "at"],
}


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a file of scenarios, for editors."""
    schema = _lenient(msgspec.json.schema(ScenarioFile))
    for name, keys in REQUIRED.items():
        schema["$defs"][name]["required"] = keys
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _lenient(schema: Any) -> Any:
    """Text may be written without quotes: `requests: 20` is a number to an editor."""
    if isinstance(schema, dict):
        changed = {key: _lenient(value) for key, value in schema.items()}
        if changed.get("type") == "string" and "enum" not in changed:
            changed["type"] = ["string", "number"]
        return changed
    return [_lenient(value) for value in schema] if isinstance(schema, list) else schema
