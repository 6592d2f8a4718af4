"""Calls of Table Storage: tried again when that may help, and their errors in our words.

The SDK retries neither a POST nor a transaction, so its retries are off and all are made here.
No text holds a URL, a key or an SAS: the SDK's own texts may, so they are not passed on.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import TypeVar

from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    DecodeError,
    HttpResponseError,
    ServiceRequestError,
    ServiceResponseError,
)

from shared.state.store import Conflict, Exists, StateError, StateUnavailable, TooLarge

TRIES = 4
PATIENCE = 20.0
"""Seconds after which a call is not tried again."""
LONGEST_WAIT = 10.0
_TRANSIENT = frozenset({408, 429, 500, 502, 503, 504})
_ROLE = "Storage Table Data Contributor"

_CODE = re.compile(r'"code"\s*:\s*"(\w{1,60})"')

T = TypeVar("T")


def persist(call: Callable[[], T], sleep: Callable[[float], None]) -> T:
    """Makes a call, again while the trouble is passing and there is patience left."""
    began = time.monotonic()
    for tried in range(1, TRIES + 1):
        try:
            return call()
        except (HttpResponseError, ServiceRequestError, ServiceResponseError) as error:
            late = time.monotonic() - began > PATIENCE
            if not _is_transient(error) or tried == TRIES or late:
                raise
            sleep(_wait(error, tried))
    raise AssertionError("unreachable")


def explain(error: Exception, host: str) -> StateError:
    """The error in our words."""
    if isinstance(error, ClientAuthenticationError) and error.response is None:
        return StateUnavailable(
            f"state at {host}: no token could be had: sign in with `az login`, or give the app a "
            f"managed identity with the role {_ROLE}"
        )
    if isinstance(error, HttpResponseError) and not isinstance(error, DecodeError):
        return _explain_answer(error, host)
    if isinstance(error, ServiceRequestError | ServiceResponseError):
        return StateUnavailable(
            f"state at {host} cannot be reached ({type(error).__name__}): check the name of the "
            "account, the network and the account's firewall"
        )
    return StateUnavailable(
        f"state at {host} answered with something that is not Table Storage "
        f"({type(error).__name__}): check the address, and for a proxy in between"
    )


def code_of(error: AzureError) -> str:
    """Azure's code, such as EntityNotFound; empty if there is none."""
    code = getattr(error, "error_code", None)
    if code:
        return str(getattr(code, "value", code))
    # On an insert the SDK leaves the code in the body, which the text of the error holds.
    found = _CODE.search(str(error))
    return found[1] if found else ""


def _explain_answer(error: HttpResponseError, host: str) -> StateError:
    status, code = error.status_code, code_of(error)
    answer = f"state at {host} answered {status} {code}".rstrip()
    if status in (401, 403):
        return StateUnavailable(f"{answer}: {_refusal(code)}")
    if code == "EntityAlreadyExists":
        return Exists(f"{answer}: the row is already there")
    if status == 412 or code in ("ResourceNotFound", "EntityNotFound"):
        return Conflict(f"{answer}: the row was changed or deleted by another")
    if status == 413 or code in ("EntityTooLarge", "PropertyValueTooLarge"):
        return TooLarge(f"{answer}: watch fewer deployments in one shard")
    if code == "TableBeingDeleted":
        return StateUnavailable(
            f"{answer}: somebody deleted the table; it is made anew in a minute"
        )
    if status in _TRANSIENT:
        return StateUnavailable(f"{answer}, and again when tried {TRIES} times: it may pass")
    return StateUnavailable(f"{answer}: check the address and the name of the table")


def _refusal(code: str) -> str:
    if code == "AuthenticationFailed":
        return "the account key or SAS is wrong or has run out, or this clock is: renew it"
    if code == "AuthorizationFailure":
        return (
            f"open the account's firewall to this network, and give the identity the role {_ROLE}"
        )
    return f"give the identity the role {_ROLE} on the storage account"


def _is_transient(error: AzureError) -> bool:
    if isinstance(error, HttpResponseError):
        return error.status_code in _TRANSIENT
    return True


def _wait(error: AzureError, tried: int) -> float:
    response = getattr(error, "response", None)
    asked = response.headers.get("Retry-After", "") if response is not None else ""
    wait = float(asked) if asked.isdecimal() else 0.25 * 2**tried
    return float(min(wait, LONGEST_WAIT))
