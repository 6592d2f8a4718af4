"""Settings -> a Watch with every client it needs: the only place that makes clients."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from shared.monitor.client import Client
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
def credential() -> TokenCredential:
    """The app's managed identity, or whoever is signed in with the Azure CLI."""
    from azure.identity import DefaultAzureCredential  # slow to import, and not needed on loopback

    return DefaultAzureCredential()


def open_watch(settings: Settings) -> Watch:
    """Raises StateError, ValueError or FileNotFoundError with a text that says what to do."""
    return Watch(
        accounts=settings.accounts,
        rulebook=load(settings.rules, settings.build),
        poster=Client(settings.metrics_endpoint, credential),
        ledger=Ledger(open_store(settings.state, credential)),
        channels={name: Webhook(address) for name, address in settings.webhooks.items()},
        links=Links(tenant=settings.tenant, docs_url=settings.docs_url),
    )
