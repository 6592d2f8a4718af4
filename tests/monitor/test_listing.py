"""Listing deployments: pages, refusals, and lists that lead elsewhere, over real HTTP."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from shared.build import credential
from shared.model import Account
from shared.monitor.client import QueryError
from shared.monitor.listing import MOST_PAGES, Lister

ACCOUNT = Account("/subscriptions/s/resourcegroups/g/providers/p/accounts/acc", "eastus")


class Manager(BaseHTTPRequestHandler):
    """Answers the n-th page of `pages`; a page is a body, or a status that refuses."""

    pages: list[object]

    def do_GET(self) -> None:
        page = self.pages[int(self.path.partition("page=")[2] or 0) % len(self.pages)]
        status = page if isinstance(page, int) else 200
        body = page if isinstance(page, str) else json.dumps(page)
        content = body.replace("HERE", f"http://{self.headers['Host']}").encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def lister(request: pytest.FixtureRequest) -> Iterator[Lister]:
    class Own(Manager):
        pages = request.param

    with HTTPServer(("127.0.0.1", 0), Own) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        one = Lister(f"http://127.0.0.1:{server.server_address[1]}", credential, backoff=0.001)
        yield one
        one.close()
        server.shutdown()
        thread.join()


def page(*names: str, link: str | None = None) -> dict[str, object]:
    body: dict[str, object] = {"value": [{"name": name, "sku": {}} for name in names]}
    return body if link is None else {**body, "nextLink": link}


@pytest.mark.parametrize(
    "lister", [[page("Chat", "acc/old", link="HERE/x?page=1"), page("batch")]], indirect=True
)
def test_every_page_is_read(lister: Lister) -> None:
    """A list goes on where it says; names are taken without case and without their account."""
    assert lister.names(ACCOUNT) == {"chat", "old", "batch"}


@pytest.mark.parametrize("lister", [[page("a", link="http://elsewhere.example/x")]], indirect=True)
def test_a_list_that_goes_on_at_another_host_is_refused(lister: Lister) -> None:
    """The token is for one host only."""
    with pytest.raises(QueryError, match="another host"):
        lister.names(ACCOUNT)


@pytest.mark.parametrize("lister", [[page("a", link="HERE/x?page=0")]], indirect=True)
def test_a_list_without_an_end_is_refused(lister: Lister) -> None:
    """A list that leads back to itself is given up after some pages."""
    with pytest.raises(QueryError, match=f"more than {MOST_PAGES} pages"):
        lister.names(ACCOUNT)


@pytest.mark.parametrize(
    ("lister", "said"),
    [([403], "role Reader"), ([500], "500"), (["<html>"], "no list"), ([{"value": 3}], "no list")],
    indirect=["lister"],
)
def test_what_is_no_list_is_named(lister: Lister, said: str) -> None:
    """Refusals, failures, HTML and other JSON raise the one documented error."""
    with pytest.raises(QueryError, match=said):
        lister.names(ACCOUNT)


def test_nobody_there_is_said() -> None:
    """A dead address is a QueryError as well."""
    with pytest.raises(QueryError, match="Resource Manager"):
        Lister("http://127.0.0.1:9", credential, backoff=0.001).names(ACCOUNT)
