"""Where the buttons of a card lead. Pure; a link that cannot be made is left out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import quote

from shared.clouds import PUBLIC, Cloud
from shared.model import Event, iso

LONGEST = 2000
"""Links of this many characters and more are cut by browsers and by Teams."""
BEFORE, AFTER = 60, 5
"""Minutes that the chart shows around the episode."""

_NAMESPACE = "microsoft.cognitiveservices/accounts"
_AGGREGATIONS = {"total": 1, "minimum": 2, "maximum": 3, "average": 4}


@dataclass(frozen=True)
class Links:
    """What links are made from; what is empty has no links."""

    tenant: str = ""
    docs_url: str = ""
    cloud: Cloud = PUBLIC

    def actions(self, event: Event) -> list[tuple[str, str]]:
        """Title and address of each button, in the order in which they are shown."""
        links = (
            ("Metrics", self.metrics(event)),
            ("Runbook", self.runbook(event)),
            ("Deployment", self.foundry(event)),
        )
        return [(title, url) for title, url in links if 0 < len(url) < LONGEST]

    def metrics(self, event: Event) -> str:
        """The metric of the event in the portal, over its episode; empty if there is none."""
        evidence = event.evidence
        if not (self.tenant and self.cloud.portal and evidence):
            return ""
        if evidence.aggregation.lower() not in _AGGREGATIONS:
            return ""
        return "/".join(
            (
                f"{self.cloud.portal}/#@{_quoted(self.tenant)}",
                "blade/Microsoft_Azure_MonitoringMetrics/Metrics.ReactView/Referer/MetricsExplorer",
                f"ResourceId/{_quoted(event.deployment.account)}",
                f"TimeContext/{_part(_time_context(event))}",
                f"ChartDefinition/{_part(_chart(event))}",
            )
        )

    def runbook(self, event: Event) -> str:
        if not (self.docs_url and event.runbook):
            return ""
        return f"{self.docs_url.rstrip('/')}/{_quoted(event.runbook.lstrip('/'), '/#?=&')}"

    def foundry(self, event: Event) -> str:
        """The deployment's page in Foundry."""
        if not (self.tenant and self.cloud.foundry and event.deployment.name):
            return ""
        account = event.deployment.account
        page = _quoted(f"{account}/deployments/{event.deployment.name}")
        where = f"wsid={_quoted(account, '/')}&tid={_quoted(self.tenant)}"
        return f"{self.cloud.foundry}/resource/deployments/{page}?{where}"


def _part(value: dict[str, object]) -> str:
    """A part of a portal address: JSON, every character that could part it encoded."""
    return _quoted(json.dumps(value, separators=(",", ":"), ensure_ascii=False))


def _quoted(text: str, safe: str = "") -> str:
    """Half surrogates become question marks: no name may keep a card from being made."""
    return quote(text, safe=safe, errors="replace")


def _time_context(event: Event) -> dict[str, object]:
    start, end = (iso(slot).replace("Z", ".000Z") for slot in _minutes(event))
    return {"absolute": {"startTime": start, "endTime": end}, "showUTCTime": True, "grain": 1}


def _minutes(event: Event) -> tuple[int, int]:
    return event.since - BEFORE, event.slot + AFTER


def _chart(event: Event) -> dict[str, object]:
    assert event.evidence
    metric = {
        "resourceMetadata": {"id": event.deployment.account},
        "name": event.evidence.metric,
        "aggregationType": _AGGREGATIONS[event.evidence.aggregation.lower()],
        "namespace": _NAMESPACE,
        "metricVisualization": {"displayName": event.evidence.metric},
    }
    only = {"key": "ModelDeploymentName", "operator": 0, "values": [event.deployment.name]}
    chart = {
        "metrics": [metric],
        "title": f"{event.evidence.metric} of {event.deployment.name}",
        "titleKind": 2,
        "visualization": {"chartType": 2},
        "filterCollection": {"filters": [only]},
    }
    return {"v2charts": [chart]}
