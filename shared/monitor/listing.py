"""Which deployments an account has, from Resource Manager: asked only where an answer matters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec
from azure.core import PipelineClient
from azure.core.exceptions import AzureError
from azure.core.pipeline.policies import BearerTokenCredentialPolicy, RetryPolicy, UserAgentPolicy
from azure.core.rest import HttpRequest, HttpResponse

from shared.model import Account
from shared.monitor.client import TIMEOUT, NoCredential, QueryError, said, short

if TYPE_CHECKING:
    from azure.core.credentials import TokenCredential

API_VERSION = "2024-10-01"
MOST_PAGES = 50


class _Named(msgspec.Struct):
    name: str


class _Page(msgspec.Struct, rename="camel"):
    value: list[_Named]
    next_link: str | None = None


@dataclass
class Lister:
    """Asks Resource Manager; the client is made when it is first needed."""

    endpoint: str
    credential: Callable[[], TokenCredential]
    backoff: float = 0.8
    _client: PipelineClient[Any, Any] | None = None

    def names(self, account: Account) -> frozenset[str]:
        """The names of the account's deployments, case folded.

        Raises:
            QueryError: they cannot be listed, with the cure.
        """
        url = f"{self.endpoint.rstrip('/')}{account.id}/deployments?api-version={API_VERSION}"
        names: set[str] = set()
        for _ in range(MOST_PAGES):
            page = self._page(url, account)
            names |= {one.name.rsplit("/", 1)[-1].casefold() for one in page.value}
            if not page.next_link:
                return frozenset(names)
            url = page.next_link
            if urlsplit(url).netloc != urlsplit(self.endpoint).netloc:
                raise QueryError("the list goes on at another host", transient=False)
        raise QueryError(f"the list has more than {MOST_PAGES} pages", transient=False)

    def _page(self, url: str, account: Account) -> _Page:
        try:
            response: HttpResponse = self._connected().send_request(HttpRequest("GET", url))
            body = response.read()
        except AzureError as error:
            raise QueryError(f"Resource Manager: {short(error)}", transient=True) from None
        if response.status_code != 200:
            reason = f"Resource Manager answered {response.status_code} for {account.name}"
            cure = "; give the identity the role Reader" if response.status_code == 403 else ""
            raise QueryError(f"{reason}: {said(body)}{cure}", transient=True)
        try:
            return msgspec.json.decode(body, type=_Page)
        except msgspec.DecodeError as error:
            raise QueryError(f"Resource Manager: no list: {error}", transient=True) from None

    def _connected(self) -> PipelineClient[Any, Any]:
        if self._client is None:
            plain = self.endpoint.startswith("http://")
            scope = f"{self.endpoint.rstrip('/')}/.default"
            signed: Any = (
                NoCredential() if plain else BearerTokenCredentialPolicy(self.credential(), scope)
            )
            retry: Any = RetryPolicy(retry_total=2, retry_backoff_factor=self.backoff)
            agent: Any = UserAgentPolicy("tokenwatch")
            self._client = PipelineClient(
                self.endpoint,
                policies=[agent, retry, signed],
                connection_timeout=TIMEOUT,
                read_timeout=TIMEOUT,
            )
        return self._client

    def close(self) -> None:
        if self._client:
            self._client.close()
            self._client = None
