"""What may be written in a rule file. The JSON Schema for editors is generated from here."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from shared.rulebook.words import NAME_PATTERN

_NAMED = {"propertyNames": {"pattern": NAME_PATTERN}}


class SignalSpec(msgspec.Struct, forbid_unknown_fields=True):
    """A named value: `metric` and `aggregation`, or `formula`."""

    unit: Annotated[str, Meta(description="ms, %, requests, tokens, tokens/request, ms/token, 1")]
    metric: Annotated[str, Meta(description="A platform metric of Microsoft.CognitiveServices")] = (
        ""
    )
    aggregation: Literal["average", "total", "maximum", "minimum", ""] = ""
    where: Annotated[
        dict[str, str], Meta(description='Part of the metric, e.g. {StatusCode: "429"} or 2xx')
    ] = {}
    weight: Annotated[str, Meta(description="The signal that weighs the minutes of an average")] = (
        ""
    )
    formula: Annotated[str, Meta(description="An expression over other signals")] = ""
    title: Annotated[str, Meta(description="How cards name it; the name by default")] = ""
    good: Annotated[
        Literal["high", "low", ""], Meta(description="Which way is healthy, so check can warn")
    ] = ""


class ScopeSpec(msgspec.Struct, forbid_unknown_fields=True):
    """Globs; a leading `!` leaves out."""

    accounts: list[str] = []
    deployments: list[str] = []
    regions: list[str] = []


class OverrideSpec(msgspec.Struct, forbid_unknown_fields=True):
    """Other parameters for some deployments."""

    scope: ScopeSpec
    parameters: dict[str, str]


class RuleSpec(msgspec.Struct, forbid_unknown_fields=True):
    """A condition over signals, how long it must hold, how bad it is, what to tell."""

    name: Annotated[str, Meta(pattern="^[A-Z][A-Za-z0-9]{2,63}$")]
    when: Annotated[str, Meta(description="Breached while this is true", min_length=1)]
    severity: Literal["critical", "warning", "info"]
    owner: Annotated[str, Meta(description="Who mends it", min_length=1)]
    summary: Annotated[
        str, Meta(description="One sentence; {expressions} are filled in", min_length=1)
    ]
    runbook: Annotated[
        str,
        Meta(
            description="Path below the docs, e.g. runbooks/ttlt-rising.md",
            min_length=1,
            extra_json_schema={"pattern": r"^(?!/)(?!.*\.\./)[^:\\]+$"},
        ),
    ]
    until: Annotated[str, Meta(description="Clear while this is true; default: not `when`")] = ""
    needs: Annotated[str, Meta(description="Unknown while this is not true")] = ""
    over: Annotated[str, Meta(description="Window, e.g. 5m, or 10m..30m: grows until `needs`")] = (
        "5m"
    )
    hold: Annotated[str, Meta(description="5m, 0, or `3 of 5` known minutes")] = msgspec.field(
        default="5m", name="for"
    )
    keep_firing_for: Annotated[str, Meta(description="Clear for so long ends it")] = "10m"
    remind_every: Annotated[
        str, Meta(description="Told again while it fires; 4h for critical rules, else 0: never")
    ] = ""
    unless: Annotated[
        list[str], Meta(description="Rules that say more: while one fires, this is not told")
    ] = []
    mode: Literal["notify", "observe"] = "notify"
    scope: ScopeSpec = msgspec.field(default_factory=ScopeSpec)
    parameters: Annotated[dict[str, str], Meta(extra_json_schema=_NAMED)] = {}
    overrides: list[OverrideSpec] = []


class RuleFile(msgspec.Struct, forbid_unknown_fields=True):
    """One file of the folder rules/."""

    signals: Annotated[dict[str, SignalSpec], Meta(extra_json_schema=_NAMED)] = {}
    rules: list[RuleSpec] = []


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a rule file, for editors."""
    schema = _lenient(msgspec.json.schema(RuleFile))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _lenient(schema: Any) -> Any:
    """Text may be written without quotes: `for: 0` is a number to an editor, and text to us."""
    if isinstance(schema, dict):
        changed = {key: _lenient(value) for key, value in schema.items()}
        if changed.get("type") == "string" and not {"pattern", "minLength"} & changed.keys():
            changed["type"] = ["string", "number"]
        return changed
    return [_lenient(value) for value in schema] if isinstance(schema, list) else schema
