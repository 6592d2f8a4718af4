"""The program: Azure Monitor's batch endpoint, Resource Manager, a Teams webhook, one clock."""

from __future__ import annotations

import asyncio
import time

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from emulator.batch import get_batch
from emulator.manager import ACCOUNT, list_deployments
from emulator.source import Source
from emulator.state import Emulator, emulator_of, logged_body
from emulator.times import iso, seconds_of
from emulator.webhook import UNSIGNED, Answer


def create_app(source: Source, *, max_series: int = 500_000) -> Starlette:
    """An app that serves a world or a recording; `app.state.emulator` is its Emulator."""
    app = Starlette(
        routes=[
            Route("/subscriptions/{subscription}/metrics:getBatch", get_batch, methods=["POST"]),
            Route(
                "/{region}/subscriptions/{subscription}/metrics:getBatch",
                get_batch,
                methods=["POST"],
            ),
            Route(f"{ACCOUNT}/deployments", list_deployments, methods=["GET"]),
            Route("/teams/{channel}", teams, methods=["POST"]),
            Route("/teams/{channel}/messages", messages, methods=["GET"]),
            Route("/_emulator/now", now, methods=["GET", "POST"]),
            Route("/", inbox_page, methods=["GET"]),
        ]
    )
    app.state.emulator = Emulator.of(source, max_series)
    return app


async def teams(request: Request) -> Response:
    emulator = emulator_of(request)
    body = await logged_body(request)
    if not request.query_params.get("sig"):
        return _answer(UNSIGNED)
    channel = request.path_params["channel"]
    answer = emulator.inbox.receive(channel, body, emulator.clock.now, time.time())
    if answer.hang:
        await asyncio.sleep(answer.hang)
    return _answer(answer)


def _answer(answer: Answer) -> Response:
    kind = {"Content-Type": "application/json"} if answer.body else {}
    return Response(answer.body, answer.status, {**kind, **answer.headers})


async def messages(request: Request) -> Response:
    return _json(emulator_of(request).inbox.of(request.path_params["channel"]))


async def now(request: Request) -> Response:
    """The emulator's time; a POST of `{"now": "2026-12-01T08:00:00Z"}` sets it."""
    clock = emulator_of(request).clock
    if request.method == "POST":
        try:
            clock.set(seconds_of(str((await request.json())["now"])))
        except (ValueError, KeyError, TypeError) as error:
            return _json({"error": f"expected {{'now': UTC time}}: {error}"}, 400)
    return _json({"now": iso(clock.minute), "seconds": clock.now})


async def inbox_page(request: Request) -> Response:
    # Drawn by a module that only people need; the endpoints above work without it.
    from emulator.inbox import page

    return HTMLResponse(page(emulator_of(request).inbox.shown()))


def _json(value: object, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status, media_type="application/json")
