"""An inbox of real cards on a running emulator, and what Chromium shows of it."""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests
from msgspec.structs import replace

from emulator.inbox import page
from shared.model import Account, Deployment, Event, Fact
from shared.notices import unjudged
from shared.teams.address import Webhook
from shared.teams.body import body, short_body
from shared.teams.down import channel_down
from shared.teams.escape import HAIR, JOINER
from shared.teams.links import Links
from shared.teams.messages import message_id, messages_for
from shared.teams.webhook import post
from tests.browser.chromium import draw, missing
from tests.pipeline import story
from tests.pipeline.story import START, recording, scene
from tests.teams.samples import ACCOUNT, FIRED, LINKS, RESOLVED

NAMES = {
    "marks": "my_gpt*x",
    "stars": "a*b*c **d** _e_ `f` ~~g~~ 2**10",
    "html": "<b>bold</b> & &lt;i&gt; <img src=x onerror=alert(1)> <https://evil.example>",
    "quotes": 'it\'s "quoted" and [linked](https://evil.example) \\[so\\]',
    "arabic": "نموذج-gpt עברית",
    "emoji": "🚀 gpt 👩🏽‍💻 ✅",
    "list": "- one",
    "long": "gpt-" + "x" * 75,
}
"""Names that mean something in Markdown or HTML, or are written otherwise."""


def named(key: str, name: str) -> Event:
    """An event that has the name everywhere."""
    return replace(
        FIRED,
        id=f"{key}-fired-0",
        episode=key,
        deployment=Deployment(ACCOUNT, name),
        summary=f"{name} is slow",
        facts=(Fact("Prompt template changed", name, name, name),),
        owner=name,
    )


NOW = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
OFF = replace(
    messages_for([FIRED], ["ops"])[0], state="failed", error="the flow is switched off (answer 400)"
)
SAMPLES: Mapping[str, Event] = {
    "fired": FIRED,
    "critical": replace(FIRED, id="c-fired-0", severity="critical"),
    "info": replace(FIRED, id="i-fired-0", severity="info"),
    "reminded": replace(FIRED, id="r-reminded-1", kind="reminded", sequence=1, slot=FIRED.slot + 9),
    "resolved": RESOLVED,
    "notice": unjudged(Account(ACCOUNT, "westeurope"), FIRED.slot, FIRED.slot + 90),
    "channel down": channel_down("ops", OFF, NOW),
    **{key: named(key, name) for key, name in NAMES.items()},
}
WIDE: list[dict[str, Any]] = [
    {
        "type": "ColumnSet",
        "columns": [
            {
                "type": "Column",
                "width": "900px",
                "items": [{"type": "TextBlock", "text": "pale", "color": "Light"}],
            }
        ],
    }
]
BROKEN = [{"type": "Nonsense"}, {"type": "TextBlock", "text": "x", "size": "Huge"}]


def message(received: str, body: list[dict[str, Any]]) -> dict[str, object]:
    card = {"type": "AdaptiveCard", "version": "1.4", "body": body}
    return {"received": received, "attachments": [{"content": card}]}


FAULTY: list[dict[str, object]] = [
    {"received": "3", "summary": "no card"},
    message("2", BROKEN),
    message("1", WIDE),
]
SIZES = ((360, "light"), (360, "dark"), (900, "light"), (900, "dark"))


@dataclass(frozen=True)
class Posted:
    """A card as it was posted, and what it tells of."""

    event: Event
    delivery: str
    card: Any
    whole: bool


@dataclass(frozen=True)
class Seen:
    """The inbox page at one width and scheme."""

    page: Any
    places: Mapping[str, int]
    """By delivery id, which card of the page it is."""

    def card(self, posted: Posted) -> Any:
        return self.page["cards"][self.places[posted.delivery]]

    def plain(self, posted: Posted) -> Any:
        """The card as a client draws it that knows no charts but more of Markdown."""
        return self.page["plain"][self.places[posted.delivery]]


@dataclass(frozen=True)
class Gallery:
    """All that was posted, and each view of it."""

    url: str
    posted: Mapping[str, Posted]
    views: Mapping[tuple[int, str], Seen]
    faulty: Any
    """A page of cards that are wrong in each way that is looked for."""

    def each(self) -> Iterator[tuple[Posted, Seen]]:
        for posted in self.posted.values():
            for seen in self.views.values():
                yield posted, seen


def said(text: str) -> str:
    """Text as a person reads it: without what is drawn by nothing, white space as one space."""
    return re.sub(r"\s+", " ", text.replace(JOINER, "").replace(HAIR, "")).strip()


@pytest.fixture(scope="session")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    """Samples posted by the real client, and a story told by a real watchdog, drawn in all sizes.

    One Node process and one browser for all tests, on however many workers they run.
    """
    if problem := missing():
        pytest.skip(problem)
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # which the workers of a run share
    kept = folder / "gallery.pickle"
    with (folder / "gallery.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(drawn(tmp_path_factory.mktemp("story"))))
    found: Gallery = pickle.loads(kept.read_bytes())
    return found


def drawn(folder: Path) -> Gallery:
    full = story.Deployment(60).set("utilization", 104, 20, 30).set("throttled", 3, 20, 30)
    variables = {"TOKENWATCH_TENANT": "contoso.example", "TOKENWATCH_DOCS_URL": "https://d.example"}
    with scene(recording(full), folder) as stage:
        stage.variables = variables
        told = [e for e in stage.live(range(START + 15, START + 55)) if e.notify]
        posted = {
            f"{event.kind} {event.rule}": found(stage.server.inbox.of("default"), event)
            for event in told
        }
        with requests.Session() as session:
            webhook = Webhook(stage.server.webhook("samples"))
            for key, event in SAMPLES.items():
                posted[key] = sent(session, webhook, event, short=False)
            for key in ("fired", "resolved", "notice"):
                posted[f"short {key}"] = sent(session, webhook, SAMPLES[key], short=True)
        url = stage.server.url + "/"
        views = [
            {"url": url, "width": width, "scheme": scheme, "click": width == 900}
            for width, scheme in SIZES
        ]
        path = folder / "faulty.html"
        path.write_text(page(FAULTY), encoding="utf-8")
        *pages, faulty = draw([*views, {"url": path.as_uri(), "width": 360, "scheme": "light"}])
    seen = {size: Seen(one, places(one, posted)) for size, one in zip(SIZES, pages, strict=True)}
    return Gallery(url, posted, seen, faulty)


def found(posts: list[Any], event: Event) -> Posted:
    """The card of an event among those that the watchdog posted."""
    delivery = message_id("default", event)
    cards = [json.loads(bytes(one.body))["attachments"][0]["content"] for one in posts]
    (card,) = [card for card in cards if f"delivery {delivery}" in json.dumps(card)]
    return Posted(event, delivery, card, whole=True)


def sent(session: requests.Session, webhook: Webhook, event: Event, *, short: bool) -> Posted:
    delivery = message_id("short" if short else "whole", event)
    content = (short_body if short else body)(event, delivery, LINKS)
    assert post(session, webhook, content, 5).kind == "accepted"
    card = json.loads(content)["attachments"][0]["content"]
    return Posted(event, delivery, card, whole=not short)


def places(seen: Any, posted: Mapping[str, Posted]) -> dict[str, int]:
    texts = [card["text"] for card in seen["cards"]]
    assert len(texts) == len(posted)
    return {
        one.delivery: next(n for n, text in enumerate(texts) if f"delivery {one.delivery}" in text)
        for one in posted.values()
    }


def links_of(posted: Posted) -> list[tuple[str, str]]:
    links = LINKS if posted.event in SAMPLES.values() else STORY_LINKS
    return links.actions(posted.event)


STORY_LINKS = Links(tenant="contoso.example", docs_url="https://d.example")
