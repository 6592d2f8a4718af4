"""Resource Manager, as far as a watchdog asks it: which deployments an account has."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from emulator.batch import authorize
from emulator.query import AzureError
from emulator.source import Account
from emulator.state import emulator_of

ACCOUNT = "/{_1}/{subscription}/{_2}/{group}/{_3}/{provider}/{_4}/{name}"
"""In any case; which account it is, the source decides."""


async def list_deployments(request: Request) -> Response:
    """All on one page; of an account that is not there, 404."""
    emulator = emulator_of(request)
    try:
        authorize(request, emulator)
        if "api-version" not in request.query_params:
            raise AzureError(400, "MissingApiVersionParameter", "The api-version is required.")
        key = request.url.path.removesuffix("/deployments").casefold()
        account = emulator.source.accounts.get(key)
        if account is None:
            said = f"The Resource '{key.rsplit('/', 1)[-1]}' was not found."
            raise AzureError(404, "ResourceNotFound", said)
    except AzureError as error:
        return Response(error.body, error.status, media_type="application/json")
    every = emulator.source.deployments(account.id)
    names = [name for name in every if name not in emulator.deleted]
    body = {"value": [_deployment(account, name) for name in names]}
    return Response(msgspec.json.encode(body), media_type="application/json")


def _deployment(account: Account, name: str) -> dict[str, object]:
    return {
        "id": f"{account.id}/deployments/{name}",
        "type": "Microsoft.CognitiveServices/accounts/deployments",
        "name": name,
        "properties": {"provisioningState": "Succeeded"},
    }
