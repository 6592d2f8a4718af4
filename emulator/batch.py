"""The endpoint `metrics:getBatch`: refusals, the answer, and the faults that strike it."""

from __future__ import annotations

import asyncio

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from emulator.answer import Teller
from emulator.faults import Fault, Reply, concerning
from emulator.query import AzureError, Query, bad, read
from emulator.state import Emulator, emulator_of, logged_body
from emulator.visibility import Visibility


class CutResponse(Response):
    """Promises its whole body, sends half of it and hangs up."""

    async def __call__(
        self,
        scope: Scope,  # noqa: ARG002
        receive: Receive,  # noqa: ARG002
        send: Send,
    ) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        half = bytes(self.body)[: len(self.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})


async def get_batch(request: Request) -> Response:
    emulator = emulator_of(request)
    body = await logged_body(request)
    striking = emulator.faults.striking(emulator.clock.minute)
    reply = Reply(200, b"", {"Content-Type": "application/json"})
    query: Query | None = None
    try:
        authorize(request, emulator)
        query = read(request.path_params["subscription"], request.query_params, body)
        _same_region(request, emulator, query)
        reply.body = _told(emulator, query, striking)
    except AzureError as error:
        reply.status, reply.body = error.status, error.body
    if query is not None:
        _strike(emulator, query, striking, reply)
    if reply.delay:
        await asyncio.sleep(reply.delay)
    kind = CutResponse if reply.cut else Response
    return kind(reply.body, reply.status, reply.headers)


def _told(emulator: Emulator, query: Query, striking: tuple[Fault, ...]) -> bytes:
    seen = Visibility(emulator.clock.minute, emulator.ingest_delay)
    teller = Teller(emulator.source, query, seen, striking, emulator.max_series)
    return msgspec.json.encode(teller.body())


def _strike(emulator: Emulator, query: Query, striking: tuple[Fault, ...], reply: Reply) -> None:
    """Let the faults that concern any resource and metric of the query change the answer."""
    accounts = [emulator.source.accounts.get(name.casefold()) for name in query.ids]
    hit = {
        id(effect): effect
        for account in accounts
        if account is not None
        for metric in query.metrics
        for effect in concerning(striking, account.id.casefold(), account.region, metric.name)
    }
    for effect in hit.values():
        effect.respond(reply)


def authorize(request: Request, emulator: Emulator) -> None:
    """Any token will do for a subscription that there is."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.casefold() != "bearer" or not token.strip():
        raise AzureError(401, "Unauthorized", "Authentication failed: a bearer token is required.")
    subscription = request.path_params["subscription"].casefold()
    if not any(key.split("/")[2] == subscription for key in emulator.source.accounts):
        message = f"The client has no Monitoring Reader role on subscription {subscription}."
        raise AzureError(401, "Unauthorized", message)


def _same_region(request: Request, emulator: Emulator, query: Query) -> None:
    """All resources of a batch lie in one region: the one of the endpoint, where it is named."""
    accounts = [emulator.source.accounts.get(name.casefold()) for name in query.ids]
    regions = {account.region for account in accounts if account is not None}
    named = request.path_params.get("region")
    if len(regions | ({named} if named else set())) > 1:
        raise bad(f"All resources must be of one region, not of {', '.join(sorted(regions))}.")
