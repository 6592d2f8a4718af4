"""The Teams end keeps what is posted and answers as scripted."""

from __future__ import annotations

import time
from typing import Any

import pytest
import requests

from emulator.webhook import Answer
from tests.emulator.conftest import Caller


def post(caller: Caller, channel: str = "ops", query: str = "?sig=s", **sent: Any) -> Any:
    body = sent or {"json": {"type": "message"}}
    url = f"{caller.server.url}/teams/{channel}{query}"
    return caller.session.post(url, timeout=0.5, **body)


def test_a_post_is_accepted_and_kept(caller: Caller) -> None:
    """202 with nothing in it, as Workflows answer; the body and the times are kept."""
    answer = post(caller)
    assert (answer.status_code, answer.content) == (202, b"")
    (kept,) = caller.server.inbox.of("ops")
    assert bytes(kept.body) == b'{"type": "message"}'
    assert kept.time == caller.server.clock.now
    assert abs(kept.received - time.time()) < 5
    listed = caller.session.get(f"{caller.server.url}/teams/ops/messages", timeout=5).json()
    assert [(one["status"], one["body"]) for one in listed] == [(202, {"type": "message"})]


def test_without_its_signature_a_post_is_refused(caller: Caller) -> None:
    """401, and nothing is kept."""
    assert post(caller, query="").status_code == 401
    assert post(caller, query="?sig=").status_code == 401
    assert caller.server.inbox.posts == []


def test_what_is_no_json_does_not_fit_the_trigger(caller: Caller) -> None:
    """400 with the code that Workflows give."""
    answer = post(caller, data=b"hello")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "TriggerInputSchemaMismatch"


def test_answers_follow_the_script_of_their_channel(caller: Caller) -> None:
    """One each, then the ordinary answer; other channels notice nothing."""
    inbox = caller.server.inbox
    inbox.script("ops", Answer(429, headers={"Retry-After": "3"}), Answer(200, "HTTP error 413"))
    throttled, relayed, last = (post(caller) for _ in range(3))
    assert (throttled.status_code, throttled.headers["Retry-After"]) == (429, "3")
    assert (relayed.status_code, relayed.text) == (200, "HTTP error 413")
    assert last.status_code == post(caller, "other").status_code == 202
    assert [one.status for one in inbox.of("ops")] == [429, 200, 202]
    assert [one.accepted for one in inbox.of("ops")] == [False, True, True]


def test_a_standing_answer_stays(caller: Caller) -> None:
    """A channel that is down is down until told otherwise."""
    caller.server.inbox.always("ops", Answer(404))
    assert [post(caller).status_code for _ in range(3)] == [404] * 3


def test_a_webhook_can_hang(caller: Caller) -> None:
    """The post was received although the client saw no answer."""
    caller.server.inbox.script("ops", Answer(hang=60))
    with pytest.raises(requests.ReadTimeout):
        post(caller)
    assert len(caller.server.inbox.of("ops")) == 1


def test_the_page_shows_what_was_accepted(caller: Caller) -> None:
    """The inbox page has the channel and the text of accepted posts, and of no others."""
    caller.server.inbox.script("ops", Answer(500), Answer(202))
    post(caller, json={"summary": "refused by the channel"})
    post(caller, json={"summary": "taken by the channel"})
    page = caller.session.get(caller.server.url, timeout=5)
    assert page.headers["Content-Type"].startswith("text/html")
    assert "taken by the channel" in page.text
    assert "refused by the channel" not in page.text
    assert "ops" in page.text


def test_requests_are_logged(caller: Caller) -> None:
    """Path, query and body of what came in, in order."""
    caller.ask()
    post(caller)
    batch, webhook = caller.server.log
    assert batch.path.endswith("/metrics:getBatch")
    assert batch.query["metricnames"] == "AzureOpenAIRequests"
    assert caller.north.encode() in batch.body
    assert webhook.path == "/teams/ops"


def test_the_emulator_starts_at_once(caller: Caller) -> None:
    """Half a second at most."""
    from emulator.app import create_app
    from emulator.server import serve

    began = time.perf_counter()
    with serve(create_app(caller.world)):
        assert time.perf_counter() - began < 0.5
