"""One request to Azure Monitor, through the SDK's own pipeline: credential, retries, tracing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import msgspec
from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    ServiceRequestError,
    ServiceResponseError,
)
from azure.core.pipeline.policies import RetryPolicy, SansIOHTTPPolicy
from azure.core.rest import HttpRequest
from azure.monitor.querymetrics import MetricsClient
from typing_extensions import override

if TYPE_CHECKING:
    from azure.core.credentials import TokenCredential

log = logging.getLogger("tokenwatch.monitor")

API_VERSION = "2024-02-01"
TIMEOUT = 20.0
"""Seconds; the SDK's own default is 300."""
PATIENCE = 10
"""A longer Retry-After is not waited for: the account is held and asked again next minute."""
_RETRIED = frozenset({429, 500, 502, 503, 504, 529})
_TRANSIENT = _RETRIED | {408}


class QueryError(Exception):
    """A query that failed. `transient`: it may pass; `divisible`: a smaller one may pass;
    `silent`: nobody answered, so that asking the same region more only costs time."""

    def __init__(
        self, reason: str, *, transient: bool, divisible: bool = False, silent: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason, self.transient = reason, transient
        self.divisible, self.silent = divisible, silent


class _Retry(RetryPolicy[Any, Any]):
    """Retries POST, which getBatch is, on throttling and server errors, but never waits long."""

    @override
    def _is_method_retryable(self, settings: Any, request: Any, response: Any = None) -> bool:
        return True

    @override
    def is_retry(self, settings: Any, response: Any) -> bool:
        wait = self.get_retry_after(response) or 0
        if response.http_response.status_code not in _RETRIED or wait > PATIENCE:
            return False
        return bool(settings["total"] > 0)


class NoCredential(SansIOHTTPPolicy[Any, Any]):
    """Stands in for a bearer token on loopback, where the SDK refuses to send one."""

    @override
    def on_request(self, request: Any) -> None:
        request.http_request.headers["Authorization"] = "Bearer loopback"


class _Anonymous:
    """The credential of a loopback client; the policy above keeps it from being asked."""

    def get_token(self, *_scopes: str, **_options: Any) -> Any:
        raise RuntimeError("no token is needed on loopback")


@dataclass
class Client:
    """Asks the metrics endpoint of any region; one SDK client a region, made when needed.

    `endpoint` has a place for the region, e.g. `https://{region}.metrics.monitor.azure.com`.
    """

    endpoint: str
    credential: Callable[[], TokenCredential]
    audience: str = "https://metrics.monitor.azure.com"
    backoff: float = 0.8
    timeout: float = TIMEOUT
    """Seconds to connect, and to wait for an answer."""
    _clients: dict[str, MetricsClient] = field(default_factory=dict)

    def post(
        self, region: str, subscription: str, parameters: Mapping[str, str], ids: list[str]
    ) -> bytes:
        """The body of a successful answer.

        Raises:
            QueryError: anything else.
        """
        query = urlencode({**parameters, "api-version": API_VERSION}, quote_via=quote)
        url = f"{self._url(region)}/subscriptions/{subscription}/metrics:getBatch?{query}"
        request = HttpRequest("POST", url, json={"resourceids": ids})
        try:
            response = self._client(region).send_request(request, stream=True)
            try:
                body = response.read()
            finally:
                response.close()
        except ClientAuthenticationError as error:
            raise QueryError(_signing_in(error), transient=False) from None
        except (ServiceRequestError, ServiceResponseError) as error:
            raise QueryError(_unreachable(region, error), transient=True, silent=True) from None
        except AzureError as error:
            raise QueryError(f"Azure Monitor: {short(error)}", transient=True) from None
        if response.status_code != 200:
            raise _refused(response.status_code, body, ids, response.headers)
        return body

    def _url(self, region: str) -> str:
        return self.endpoint.replace("{region}", region).rstrip("/")

    def _client(self, region: str) -> MetricsClient:
        if region not in self._clients:
            self._clients[region] = self._connect(self._url(region))
        return self._clients[region]

    def _connect(self, url: str) -> MetricsClient:
        options: dict[str, Any] = {
            "audience": self.audience,
            "connection_timeout": self.timeout,
            "read_timeout": self.timeout,
            # A region that does not answer is not asked again in this tick: the others wait for it.
            "retry_policy": _Retry(
                retry_total=3,
                retry_connect=1,
                retry_read=0,
                retry_backoff_factor=self.backoff,
                retry_backoff_max=PATIENCE,
            ),
        }
        if url.startswith("http://"):
            anonymous: Any = _Anonymous()
            return MetricsClient(url, anonymous, authentication_policy=NoCredential(), **options)
        return MetricsClient(url, self.credential(), **options)

    def close(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()


def _refused(
    status: int, body: bytes, ids: Sequence[str], headers: Mapping[str, str]
) -> QueryError:
    words, subscription = said(body), ids[0].split("/")[2] if ids else ""
    log.warning(
        "Azure Monitor answered %s for %s: %s (correlation id %s)",
        status,
        ", ".join(name.rsplit("/", 1)[-1] for name in ids),
        words,
        headers.get("x-ms-correlation-request-id") or headers.get("x-ms-request-id") or "missing",
    )
    if status == 401 and any(word in words for word in ("Expired", "InvalidAuthenticationToken")):
        # The SDK asks for a fresh token with the next request.
        return QueryError(f"HTTP 401: {words}", transient=True)
    if status in (401, 403):
        cure = {
            401: f"give the identity the role Monitoring Reader on subscription {subscription}",
            403: f"register the provider Microsoft.Insights on subscription {subscription}",
        }[status]
        return QueryError(f"HTTP {status}: {words}; {cure}", transient=False)
    series = "series" in words.casefold() and ("500" in words or "too many" in words.casefold())
    return QueryError(
        f"HTTP {status}: {words}",
        transient=status in _TRANSIENT,
        divisible=status == 400 or series or status in (500, 502, 504),
    )


class _Error(msgspec.Struct):
    code: str = ""
    message: str = ""
    innererror: Any = None
    details: Any = None


class _ErrorBody(msgspec.Struct):
    error: _Error


def said(body: bytes) -> str:
    """The words of an error answer, the inner ones too, or its beginning where it is no JSON."""
    try:
        error = msgspec.json.decode(body, type=_ErrorBody).error
    except msgspec.DecodeError:
        return repr(body[:120].decode("utf-8", "replace"))
    inner = [str(part) for part in (error.innererror, error.details) if part]
    return " ".join([f"{error.code}: {error.message}", *inner])[:500]


def _signing_in(error: ClientAuthenticationError) -> str:
    return (
        f"signing in failed: {short(error)}; in Azure, switch the app's managed identity on; "
        "elsewhere, sign in with `az login`"
    )


def _unreachable(region: str, error: AzureError) -> str:
    return (
        f"the metrics endpoint of {region} cannot be reached: {short(error)}; check the region's "
        "name, DNS, proxy and firewall"
    )


def short(error: Exception) -> str:
    lines = str(error).splitlines()
    return lines[0][:300] if lines else type(error).__name__
