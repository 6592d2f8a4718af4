"""One post to a webhook. Every failure comes back as an Outcome: exceptions of requests quote the
address."""

from __future__ import annotations

import requests
from urllib3.exceptions import HTTPError, NewConnectionError

from shared.teams.address import Webhook
from shared.teams.outcome import Outcome, outcome_of
from shared.teams.redact import guard

CONNECT_TIMEOUT = 5.0
MOST_READ = 16_384
"""Bytes of an answer that are looked at."""
_HEADERS = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "tokenwatch"}


def post(session: requests.Session, webhook: Webhook, body: bytes, timeout: float) -> Outcome:
    """Post once; never raises, never follows a redirect, retries nothing by itself."""
    guard(webhook.secrets)
    try:
        with _send(session, webhook, body, timeout) as response:
            return outcome_of(response.status_code, response.headers, _text(response))
    # ValueError: what the libraries raise for addresses and headers that they cannot use.
    except (requests.RequestException, HTTPError, OSError, ValueError) as error:
        return _failure(error)


def _send(
    session: requests.Session, webhook: Webhook, body: bytes, timeout: float
) -> requests.Response:
    """Prepared apart from the session, which would add a login from .netrc and cookies."""
    request = requests.Request("POST", webhook.reveal(), data=body, headers=_HEADERS).prepare()
    request.url = webhook.reveal()  # preparing writes some characters anew; the signature counts
    settings = session.merge_environment_settings(request.url, {}, True, None, None)
    times = (min(CONNECT_TIMEOUT, timeout), timeout)
    return session.send(request, timeout=times, allow_redirects=False, **settings)


def _text(response: requests.Response) -> str:
    """The beginning of the body. Where it never comes the status counts, unless that is a 200:
    its body may say that the post failed."""
    try:
        read = response.raw.read(MOST_READ, decode_content=True)
    except (HTTPError, OSError):
        if response.status_code == 200:
            raise
        return ""
    return bytes(read).decode("utf-8", "replace")


def _failure(error: Exception) -> Outcome:
    """What has certainly not been posted may be posted again as often as need be."""
    cause = getattr(error.args[0] if error.args else None, "reason", None)
    if isinstance(error, requests.exceptions.ProxyError):
        return _unreached("the proxy did not connect us to the webhook")
    if isinstance(error, requests.exceptions.SSLError):
        return _unreached("no trusted TLS connection to the webhook")
    if isinstance(error, requests.ConnectTimeout) or isinstance(cause, NewConnectionError):
        return _unreached(f"no connection to the webhook ({type(cause or error).__name__})")
    if isinstance(error, (requests.RequestException, HTTPError, OSError)) and not isinstance(
        error, ValueError
    ):
        return Outcome("ambiguous", f"no answer came back ({type(error).__name__})")
    detail = "the address cannot be posted to: copy it again from the flow"
    return Outcome("permanent", detail, reached=False)


def _unreached(detail: str) -> Outcome:
    return Outcome("retry", detail, reached=False)
