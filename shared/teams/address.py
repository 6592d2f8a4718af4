"""The address of a webhook: a secret, checked before it is used and never shown."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NoReturn
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from shared.clouds import CLOUDS

HOSTS = tuple(host for cloud in CLOUDS.values() for host in cloud.webhook_hosts)
"""Where flows live, in any cloud. Paths change too often to be checked."""
RETIRED = (".webhook.office.com", ".outlook.office.com", ".outlook.office365.com")

_CREATE = (
    "in Teams open the channel's menu, Workflows, choose 'Send webhook alerts to a channel' and"
    " copy the address that it shows"
)


class Webhook:
    """Where a channel is posted to. Only `reveal` shows the address, for the post itself."""

    __slots__ = ("_url",)

    def __init__(self, url: str) -> None:
        self._url = url

    def __repr__(self) -> str:
        return "Webhook(***)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Webhook) and other._url == self._url

    def __hash__(self) -> int:
        return hash(self._url)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a webhook holds a secret and is not stored")

    def reveal(self) -> str:
        return self._url

    @property
    def secrets(self) -> frozenset[str]:
        """The address, the part of it that HTTP libraries log, and its signature."""
        # Without urlsplit: an address that cannot be read is a secret as well.
        target = "/" + self._url.partition("://")[2].partition("/")[2]
        raw = re.findall(r"[?&]sig=([^&#]*)", self._url)
        return frozenset({self._url, target, *raw, *map(unquote, raw)} - {"", "/"})


def check_url(url: str, hosts: Collection[str] = HOSTS) -> str | None:
    """What is wrong with the address of a webhook and how to mend it; its value is not shown.

    `hosts` are the suffixes of the hosts of flows, those of one cloud or of all.
    """
    if problem := _spelling(url):
        return problem
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        _ = parts.port
    except ValueError:
        return "is not an address that can be read: copy it again from the flow's trigger"
    return _host(parts, host, hosts) or _signature(parts)


def _spelling(url: str) -> str | None:
    if not url:
        return f"is empty: {_CREATE}"
    if url.startswith("@Microsoft.KeyVault("):
        return "is a Key Vault reference that was not resolved: give the app access to the secret"
    if re.search(r"\s", url):
        return "contains white space: copy it again as one line without quotes or line ends"
    if "&amp;" in url.lower():
        return "contains '&amp;' where an address has '&': copy it from the flow, not from a page"
    if not url.isascii() or not url.isprintable():
        return "contains characters that no address has: copy it again from the flow's trigger"
    return None


def _host(parts: SplitResult, host: str, hosts: Collection[str]) -> str | None:
    loopback = host in ("localhost", "::1") or re.fullmatch(r"127(\.\d+){3}", host)
    if parts.scheme not in (("https", "http") if loopback else ("https",)):
        return "must begin with https://"
    if f".{host}".endswith(RETIRED):
        return (
            "belongs to an Office 365 connector; these are retired and deliver nothing. Make a"
            f" Workflows webhook instead: {_CREATE}"
        )
    if host.endswith(HOSTS) and not host.endswith(tuple(hosts)):
        return "belongs to another cloud than the one that TOKENWATCH_CLOUD names"
    if parts.username is not None or not (loopback or host.endswith(tuple(hosts))):
        return f"is not on a host of Power Automate or Logic Apps: {_CREATE}"
    return None


def _signature(parts: SplitResult) -> str | None:
    if parse_qs(parts.query).get("sig"):
        return None
    return (
        "has no signature (the part after 'sig='): in the flow's trigger 'When a Teams webhook"
        " request is received' set 'Who can trigger the flow' to 'Anyone', save, and copy the"
        " address again"
    )
