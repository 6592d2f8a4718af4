"""Where buttons lead."""

from __future__ import annotations

import json
from urllib.parse import unquote

from msgspec.structs import replace

from shared.clouds import CHINA, US_GOVERNMENT
from shared.model import Deployment, Evidence
from shared.teams.links import LONGEST, Links
from tests.teams.samples import ACCOUNT, FIRED, LINKS, RESOLVED


def test_metrics_link_has_the_parts_that_the_portal_reads() -> None:
    """Each part is encoded whole; decoded it holds the resource, the minutes and the chart."""
    url = LINKS.metrics(FIRED)
    head, rest = url.split("/ResourceId/")
    assert head == (
        "https://portal.azure.com/#@11111111-2222-3333-4444-555555555555/blade/"
        "Microsoft_Azure_MonitoringMetrics/Metrics.ReactView/Referer/MetricsExplorer"
    )
    resource, word, context, name, chart = rest.split("/")
    assert (word, name) == ("TimeContext", "ChartDefinition")
    assert unquote(resource) == ACCOUNT
    assert json.loads(unquote(context)) == {
        "absolute": {
            "startTime": "2026-11-06T20:14:00.000Z",
            "endTime": "2026-11-06T21:25:00.000Z",
        },
        "showUTCTime": True,
        "grain": 1,
    }
    (drawn,) = json.loads(unquote(chart))["v2charts"]
    assert drawn["metrics"] == [
        {
            "resourceMetadata": {"id": ACCOUNT},
            "name": "AzureOpenAITTLTInMS",
            "aggregationType": 4,
            "namespace": "microsoft.cognitiveservices/accounts",
            "metricVisualization": {"displayName": "AzureOpenAITTLTInMS"},
        }
    ]
    assert drawn["filterCollection"]["filters"] == [
        {"key": "ModelDeploymentName", "operator": 0, "values": ["gpt-4o-prod"]}
    ]
    assert "+" not in url
    assert " " not in url
    assert len(url) < LONGEST


def test_links_of_the_longest_names_of_azure_are_short_enough() -> None:
    """Names as long as Azure allows still make links that open."""
    account = ACCOUNT.replace("rg-ai", "r" * 90).replace("contoso-north", "a" * 64)
    event = replace(FIRED, deployment=Deployment(account, "d" * 64))
    assert [title for title, _ in LINKS.actions(event)] == ["Metrics", "Runbook", "Deployment"]


def test_what_is_not_configured_has_no_button() -> None:
    """Without tenant, docs, metric or runbook the buttons are left out."""
    assert Links().actions(FIRED) == []
    assert [title for title, _ in Links(docs_url="https://d").actions(FIRED)] == ["Runbook"]
    bare = replace(FIRED, evidence=None, runbook="")
    assert [title for title, _ in LINKS.actions(bare)] == ["Deployment"]
    assert LINKS.metrics(replace(FIRED, evidence=Evidence("x", "count"))) == ""


def test_too_long_link_is_left_out() -> None:
    """A link that a browser would cut is no button."""
    event = replace(FIRED, runbook="r" * LONGEST)
    assert "Runbook" not in [title for title, _ in LINKS.actions(event)]


def test_runbook_is_docs_address_and_path() -> None:
    """One slash between them, whatever both have."""
    expected = "https://docs.example.org/tokenwatch/runbooks/ttlt-rising.md"
    assert LINKS.runbook(FIRED) == expected
    assert LINKS.runbook(replace(FIRED, runbook="/runbooks/ttlt-rising.md")) == expected


def test_foundry_link_names_deployment_resource_and_tenant() -> None:
    """The path part is encoded whole."""
    url = LINKS.foundry(RESOLVED)
    page, query = url.removeprefix("https://ai.azure.com/resource/deployments/").split("?")
    assert unquote(page) == f"{ACCOUNT}/deployments/gpt-4o-prod"
    assert "/" not in page
    assert query == f"wsid={ACCOUNT}&tid={LINKS.tenant}"


def test_other_clouds_have_their_portals() -> None:
    """Government and China open their own portal and no Foundry."""
    for cloud, host in ((US_GOVERNMENT, "portal.azure.us"), (CHINA, "portal.azure.cn")):
        links = Links(tenant="t", cloud=cloud)
        assert links.metrics(FIRED).startswith(f"https://{host}/#@t/")
        assert links.foundry(FIRED) == ""


def test_half_surrogates_do_not_keep_a_link_from_being_made() -> None:
    """A name that no UTF-8 can hold still leads somewhere."""
    event = replace(FIRED, deployment=Deployment(ACCOUNT, "a\ud800"))
    assert "a%3F" in LINKS.foundry(event)
    assert LINKS.metrics(event)
