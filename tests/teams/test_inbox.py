"""The emulator's page of posted cards."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace

from emulator import inbox
from shared.teams.body import body
from tests.teams.samples import FIRED, LINKS, RESOLVED


def message(received: str = "2026-12-01T08:00:00Z", **changes: str) -> Mapping[str, object]:
    post = json.loads(body(replace(FIRED, **changes), "0" * 16, LINKS))
    return {**post, "received": received, "channel": "ops"}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A stand-in for the adaptivecards script."""
    path = tmp_path / "adaptivecards.min.js"
    path.write_text('window.AdaptiveCards = "</script><b>";')
    monkeypatch.setattr(inbox, "SCRIPT", path)


@pytest.fixture
def no_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(inbox, "SCRIPT", tmp_path / "missing.js")


class Tags(HTMLParser):
    """Collects what a browser would see as elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        addresses = [value for name, value in attrs if name in ("src", "href")]
        assert set(addresses) <= {"data:,"}  # an empty icon: no browser asks for one


def test_newest_comes_first(no_script: None) -> None:
    """Messages stand in the order of their time, latest on top."""
    old, new = message("2026-12-01T08:00:00Z"), message("2026-12-01T09:00:00Z")
    page = inbox.page([old, new])
    assert page.index("2026-12-01 09:00:00 UTC") < page.index("2026-12-01 08:00:00 UTC")


def test_page_needs_nothing_else(script: None) -> None:
    """Nothing is loaded from anywhere: no address in any element, the script is in the page."""
    page = inbox.page([message()])
    assert Tags(page).tags.count("script") == 3
    assert "window.AdaptiveCards" in page


def test_without_the_script_the_text_is_readable(no_script: None) -> None:
    """The fallback text and the JSON stand in the page as text."""
    page = inbox.page([message()])
    assert "🟠 Warning, firing · TTLTRisingWithoutTokens" in page
    assert "<pre>{\n  &quot;type&quot;: &quot;message&quot;" in page
    assert "npm ci" in page


def test_nothing_embedded_breaks_out(script: None) -> None:
    """Neither a card nor the script itself can end its element or begin another."""
    evil = "</script><img src=x onerror=alert(1)><!--"
    page = inbox.page([message(summary=evil, rule=evil), {"channel": evil, "received": evil}], evil)
    assert "img" not in Tags(page).tags
    assert Tags(page).tags.count("script") == 4


def test_card_is_embedded_unchanged(script: None) -> None:
    """What is drawn is what was posted."""
    evil = "</script><!-- & \u2028"
    post = message(summary=evil)
    data = re.findall(r'<script type="application/json">(.*?)</script>', inbox.page([post]))
    attachments = post["attachments"]
    assert isinstance(attachments, list)
    assert json.loads(data[0]) == attachments[0]["content"]


@pytest.mark.parametrize("odd", [{}, {"attachments": []}, {"attachments": [{"content": 3}]}])
def test_message_without_a_card_is_shown_too(no_script: None, odd: Mapping[str, object]) -> None:
    """Whatever was posted, the page is drawn."""
    assert "A message without a card" in inbox.page([odd])


def test_empty_inbox_says_so(no_script: None) -> None:
    """No messages is a page as well."""
    page = inbox.page([])
    assert "Nothing was posted yet" in page
    assert "0 messages" in page


def test_resolved_is_shown(no_script: None) -> None:
    """The end of an episode reads as such."""
    post = json.loads(body(RESOLVED, "0" * 16, LINKS))
    assert "✅ Resolved: recovered" in inbox.page([{**post, "received": "", "channel": ""}])
