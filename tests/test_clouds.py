"""Each cloud by the requests that go out: a proxy notes hosts, a credential notes audiences."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import AzureError
from azure.monitor.query import LogsQueryClient

from shared import build
from shared.clouds import CHINA, CLOUDS, PUBLIC, US_GOVERNMENT, Cloud
from shared.model import Event
from shared.monitor.client import Client, QueryError
from shared.settings import SettingsError, read_settings
from shared.state.store import StateError
from shared.state.tables import TableStore, connect
from shared.teams.address import check_url
from tests.teams.samples import FIRED

EVERY = pytest.mark.parametrize("cloud", CLOUDS.values(), ids=CLOUDS)


class Asked:
    """A credential that notes for which audience it was asked."""

    def __init__(self) -> None:
        self.scopes: set[str] = set()

    def get_token(self, *scopes: str, **options: Any) -> AccessToken:
        self.scopes |= set(scopes)
        return AccessToken("token", 2**33)


class Refusing(socketserver.StreamRequestHandler):
    """A proxy that notes where it should connect to, and does not."""

    def handle(self) -> None:
        request = self.rfile.readline().decode()
        while self.rfile.readline().strip():
            pass
        if request.startswith("CONNECT "):
            self.server.hosts.add(request.split()[1].removesuffix(":443"))  # type: ignore[attr-defined]
        self.wfile.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")


@pytest.fixture
def hosts(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """The hosts that were asked for while the proxy stood in the way."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Refusing) as server:
        server.hosts = set()  # type: ignore[attr-defined]
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{server.server_address[1]}")
        yield server.hosts  # type: ignore[attr-defined]
        server.shutdown()


def settings_of(cloud: Cloud, **more: str) -> Any:
    account = (
        "swedencentral=/subscriptions/s/resourceGroups/g/providers/Microsoft.CognitiveServices/"
        "accounts/a"
    )
    variables = {
        "TOKENWATCH_ACCOUNTS": account,
        "TOKENWATCH_CLOUD": cloud.name,
        "AzureWebJobsStorage__accountName": "state",
        "TEAMS_WEBHOOK_DEFAULT": f"https://flow{cloud.webhook_hosts[0]}/workflows/1?sig=x",
        **more,
    }
    return read_settings(variables, check_url)


@EVERY
def test_metrics_are_asked_of_the_cloud_s_endpoint(cloud: Cloud, hosts: set[str]) -> None:
    """REGION.metrics.monitor..., with a token for the cloud's own audience."""
    asked, settings = Asked(), settings_of(cloud)
    client = Client(settings.metrics_endpoint, lambda: asked, cloud.metrics_audience, backoff=0.01)
    with pytest.raises(QueryError):
        client.post("swedencentral", "s", {}, [])
    client.close()
    assert hosts == {cloud.metrics_endpoint.removeprefix("https://").format(region="swedencentral")}
    assert asked.scopes == {f"{cloud.metrics_audience}/.default"}


@EVERY
def test_logs_are_asked_of_the_cloud_s_endpoint(cloud: Cloud, hosts: set[str]) -> None:
    """The logs client takes endpoint and audience from the cloud."""
    asked = Asked()
    with (
        LogsQueryClient(asked, endpoint=cloud.logs_endpoint, retry_total=0) as client,
        pytest.raises(AzureError),
    ):
        client.query_workspace("w", "AzureMetrics", timespan=timedelta(hours=1))
    assert hosts == {cloud.logs_endpoint.removeprefix("https://")}
    assert asked.scopes == {f"{cloud.logs_endpoint}/.default"}


@EVERY
def test_state_lies_in_the_cloud_s_storage(cloud: Cloud, hosts: set[str]) -> None:
    """The Functions app's storage account by name, in the cloud's domain and audience."""
    asked, settings = Asked(), settings_of(cloud)
    endpoint = settings.state.removeprefix("table:")
    client = connect(endpoint, "tokenwatch", asked, cloud.storage_audience)
    store = TableStore(client, sleep=lambda _: None)
    with pytest.raises(StateError):
        store.partition("heads")
    store.close()
    assert hosts == {f"state{cloud.storage_suffix}"}
    assert asked.scopes == {f"{cloud.storage_audience}/.default"}


@EVERY
def test_signing_in_goes_to_the_cloud_s_authority(
    cloud: Cloud, hosts: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token is asked of the cloud's own sign-in host."""
    monkeypatch.setenv("AZURE_TOKEN_CREDENTIALS", "EnvironmentCredential")
    for name in ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"):
        monkeypatch.setenv(name, "11111111-1111-1111-1111-111111111111")
    build.credential.cache_clear()
    with suppress(AzureError):
        build.credential(cloud).get_token("https://example.org/.default")
    build.credential.cache_clear()
    assert hosts == {cloud.authority}


@EVERY
def test_links_lead_to_the_cloud_s_portal(cloud: Cloud) -> None:
    """The metrics chart opens in the portal of the cloud; Foundry only where there is one."""
    settings = settings_of(cloud, TOKENWATCH_TENANT="contoso", TOKENWATCH_STATE="sqlite::memory:")
    watch = build.open_watch(settings)
    event: Event = FIRED
    assert watch.links.metrics(event).startswith(f"{cloud.portal}/#@contoso/")
    assert bool(watch.links.foundry(event)) == bool(cloud.foundry)
    watch.ledger.store.close()
    watch.sessions.close()


def test_a_webhook_of_another_cloud_is_refused() -> None:
    """A flow of the public cloud is no channel of the government's, and the text says why."""
    foreign = f"https://prod-1{PUBLIC.webhook_hosts[0]}/workflows/1?sig=SECRET"
    with pytest.raises(SettingsError, match="another cloud") as refused:
        settings_of(US_GOVERNMENT, TEAMS_WEBHOOK_DEFAULT=foreign)
    assert "SECRET" not in str(refused.value)


def test_an_unknown_cloud_is_named() -> None:
    """A typing error in TOKENWATCH_CLOUD lists the clouds there are."""
    with pytest.raises(SettingsError, match="public, usgovernment, china"):
        settings_of(PUBLIC, TOKENWATCH_CLOUD="germany")


def test_no_two_clouds_share_an_address() -> None:
    """Nothing of one cloud is asked of another."""
    seen: set[str] = set()
    for cloud in (PUBLIC, US_GOVERNMENT, CHINA):
        own = {cloud.metrics_endpoint, cloud.logs_endpoint, cloud.resource_manager, cloud.authority}
        own |= {cloud.portal, cloud.storage_suffix, *cloud.webhook_hosts}
        assert not own & seen
        seen |= own
