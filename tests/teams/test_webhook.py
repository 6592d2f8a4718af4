"""One post, over a real server with the real requests library."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from shared.teams.address import Webhook
from shared.teams.webhook import post
from tests.teams.conftest import SIG, TARGET, Hook, Reply, hooked
from tests.teams.proxy import certificate, connect_proxy, server_context

BODY = '{"text":"ü"}'.encode()


def test_t05_empty_202_is_accepted(
    hook: Hook, session: requests.Session, caplog: pytest.LogCaptureFixture
) -> None:
    """202 with nothing in it is accepted, not an error, and logs none."""
    outcome = post(session, hook.webhook, BODY, 5)
    assert outcome.kind == "accepted"
    assert outcome.detail == ""
    assert hook.bodies == [BODY]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_address_is_sent_byte_for_byte(hook: Hook, session: requests.Session) -> None:
    """The query reaches the server as it was configured: the signature covers it."""
    target = "/w/%7Ex/a?sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&b='!()*&sig=aB-_~%2B%3D"
    post(session, Webhook(hook.url + target), BODY, 5)
    assert hook.paths == [target]


def test_no_login_is_added(
    hook: Hook, session: requests.Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A .netrc of the host adds no Authorization, which flows refuse."""
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    post(session, hook.webhook, BODY, 5)
    assert "Authorization" not in hook.headers[0]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_not_followed(hook: Hook, session: requests.Session, status: int) -> None:
    """The card goes to the configured address or nowhere."""
    hook.script.append(Reply(status, headers={"Location": hook.url + "/elsewhere"}))
    outcome = post(session, hook.webhook, BODY, 5)
    assert outcome.kind == "permanent"
    assert "not followed" in outcome.detail
    assert len(hook.paths) == 1


def test_silence_is_ambiguous(hook: Hook, session: requests.Session) -> None:
    """Without an answer in time nobody knows whether it was posted."""
    hook.script.append(Reply(delay=0.5))
    assert post(session, hook.webhook, BODY, 0.1).kind == "ambiguous"


def test_hang_up_is_ambiguous(hook: Hook, session: requests.Session) -> None:
    """A connection that ends after the post says nothing either."""
    hook.script.append(Reply(cut=True))
    assert post(session, hook.webhook, BODY, 5).kind == "ambiguous"


def test_refused_connection_is_tried_again(session: requests.Session) -> None:
    """What was certainly not posted is retried."""
    assert post(session, Webhook("http://127.0.0.1:9/x?sig=" + SIG), BODY, 5).kind == "retry"


@pytest.mark.parametrize(
    "url", ["", "nonsense", "http://", "http://[::1", "http://a b/?sig=abcdef"]
)
def test_address_that_cannot_be_used_is_permanent(session: requests.Session, url: str) -> None:
    """An address that slipped through the check fails in words, without being shown."""
    outcome = post(session, Webhook(url), BODY, 1)
    assert outcome.kind == "permanent"
    assert "copy it again" in outcome.detail


HOST = "prod-1.westeurope.logic.azure.com"


def test_t16_proxy_of_the_environment_leads_to_the_webhook(
    session: requests.Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The post goes through HTTPS_PROXY, which sees the host and nothing of the address."""
    trusted = certificate(HOST, tmp_path)
    with hooked(server_context(trusted)) as hook:
        port = int(hook.url.rpartition(":")[2])
        with connect_proxy(port) as proxy:
            monkeypatch.setenv("HTTPS_PROXY", proxy.url)
            monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(trusted))
            outcome = post(session, Webhook(f"https://{HOST}{TARGET}"), BODY, 5)
            session.close()
    assert outcome.kind == "accepted"
    assert proxy.targets == [f"{HOST}:443"]
    assert (hook.paths, hook.bodies) == ([TARGET], [BODY])
    assert SIG.encode() not in proxy.seen
    assert len(proxy.seen) > len(BODY)


def test_t16_no_proxy_is_honoured(
    hook: Hook, session: requests.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host in NO_PROXY is posted to directly."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert post(session, hook.webhook, BODY, 5).kind == "accepted"


def test_t16_proxy_that_refuses_is_tried_again(
    hook: Hook, session: requests.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a proxy did not connect was certainly not posted; it is said without the address."""
    monkeypatch.setenv("HTTPS_PROXY", hook.url)
    outcome = post(session, Webhook(f"https://{HOST}{TARGET}"), BODY, 5)
    assert hook.paths == [f"{HOST}:443"]
    assert outcome.kind == "retry"
    assert "proxy" in outcome.detail


class Everything(logging.Handler):
    """Keeps each record as the most talkative handler would print it."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record) + repr(vars(record)))


@pytest.fixture
def logged() -> Iterator[list[str]]:
    """All records at DEBUG, as somebody sees them who makes every logger talk."""
    handler = Everything()
    names = ("", "urllib3", "urllib3.connectionpool", "urllib3.util.retry", "requests")
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    loggers[0].addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    yield handler.lines
    loggers[0].removeHandler(handler)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@pytest.mark.parametrize("case", ["429", "time-out", "hang-up", "refused", "DNS", "redirect"])
def test_t17_signature_appears_nowhere(
    hook: Hook, session: requests.Session, logged: list[str], case: str
) -> None:
    """No record at DEBUG and no outcome holds the signature or the path, whatever goes wrong."""
    webhook = hook.webhook
    if case == "429":
        hook.script.append(Reply(429, headers={"Retry-After": "3"}))
    elif case == "time-out":
        hook.script.append(Reply(delay=0.5))
    elif case == "hang-up":
        hook.script.append(Reply(cut=True))
    elif case == "redirect":
        hook.script.append(Reply(307, headers={"Location": hook.url + TARGET}))
    elif case == "refused":
        webhook = Webhook("http://127.0.0.1:9" + TARGET)
    else:
        webhook = Webhook("http://no-such-host.invalid" + TARGET)
    outcome = post(session, webhook, BODY, 0.2)
    assert outcome.kind != "accepted"
    assert logged, "urllib3 logs at DEBUG; if it does no longer, this test proves nothing"
    for text in (*logged, repr(outcome)):
        assert SIG not in text
        assert TARGET not in text


def test_t17_retries_of_a_callers_session_do_not_show_it_either(
    session: requests.Session, logged: list[str]
) -> None:
    """urllib3's warning about a retry quotes the address; it is masked as well."""
    session.mount("http://", requests.adapters.HTTPAdapter(max_retries=1))
    post(session, Webhook("http://127.0.0.1:9" + TARGET), BODY, 1)
    assert any("Retrying" in line for line in logged)
    assert not [line for line in logged if SIG in line]
