"""Settings -> a Watch with every client it needs: the only place that makes clients."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from shared.clouds import PUBLIC, Cloud
from shared.monitor.client import Client
from shared.monitor.listing import Lister
from shared.pipeline import Watch
from shared.rulebook.load import load
from shared.settings import Settings
from shared.state import open_store
from shared.state.ledger import Ledger
from shared.teams.address import Webhook
from shared.teams.links import Links

if TYPE_CHECKING:
    from azure.core.credentials import TokenCredential


@cache
def credential(cloud: Cloud = PUBLIC) -> TokenCredential:
    """The app's managed identity, or whoever is signed in with the Azure CLI."""
    from azure.identity import DefaultAzureCredential  # slow to import, and not needed on loopback

    return DefaultAzureCredential(authority=cloud.authority)


def open_watch(settings: Settings) -> Watch:
    """Raises StateError, ValueError or FileNotFoundError with a text that says what to do."""
    cloud = settings.cloud
    identity = partial(credential, cloud)
    rulebook = load(settings.rules, settings.build)  # first: without rules no state is begun
    store = open_store(settings.state, identity, cloud.storage_audience)
    return Watch(
        accounts=settings.accounts,
        rulebook=rulebook,
        poster=Client(settings.metrics_endpoint, identity, cloud.metrics_audience),
        ledger=Ledger(store),
        channels={name: Webhook(address) for name, address in settings.webhooks.items()},
        lister=Lister(settings.resource_manager, identity),
        heartbeat=Webhook(settings.heartbeat) if settings.heartbeat else None,
        links=Links(settings.tenant, settings.docs_url, cloud),
    )
