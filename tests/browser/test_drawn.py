"""Cards as people see them: drawn by Chromium on the inbox page, at phone and desktop width."""

from __future__ import annotations

import pytest

from shared.model import Chart, Event, time_of
from tests.browser.conftest import NAMES, SAMPLES, Gallery, Posted, links_of, said
from tests.teams.samples import walk


def numbers(chart: Chart) -> list[str]:
    """The least that is to be read of a chart: its ends, its last value and its threshold."""
    known = [(value, place) for place, value in enumerate(chart.values) if value is not None]
    seconds = chart.unit == "ms" and max(known)[0] >= 1000
    unit, scale = ("s", 1000) if seconds else (chart.unit, 1)

    def amount(value: float) -> str:
        digits = f"{value / scale:,.0f}" if value / scale >= 1000 else f"{value / scale:.3g}"
        return f"{digits} {unit}".strip()

    told = [
        f"{word} {amount(value)} at {time_of(chart.start + place):%H:%M}"
        for word, (value, place) in (
            ("lowest", min(known)),
            ("highest", max(known, key=lambda one: (one[0], one[1]))),
            ("last", known[-1]),
        )
    ]
    limits = [value for value in chart.threshold if value is not None]
    if limits:
        told.append(f"threshold {amount(min(limits))}")
    return told


def facts(event: Event) -> list[str]:
    parts = [
        part
        for fact in event.facts[:5]
        for part in (
            fact.name[:1].upper() + fact.name[1:],
            fact.now,
            fact.reference,
            fact.threshold,
        )
    ]
    return [said(part) for part in parts if part]


def wanted(posted: Posted) -> list[str]:
    """Every text of an event that a person must be able to read on its card."""
    event = posted.event
    texts = [event.rule, event.summary, *(title for title, _ in links_of(posted))]
    texts += [event.deployment.name, event.deployment.account_name, event.region]
    if posted.whole:
        texts += facts(event)
        texts += [event.worst, event.reason]
        texts += numbers(event.chart) if event.chart else []
    return [said(text) for text in texts if text]


def test_every_card_is_drawn_by_the_renderer(gallery: Gallery) -> None:
    """Firing, reminded, resolved, notice and short cards are drawn, none left as its fallback."""
    kinds = {posted.event.kind for posted in gallery.posted.values()}
    assert kinds == {"fired", "reminded", "resolved", "notice"}
    assert {"fired ProvisionedThrottling", "resolved ProvisionedThrottling"} <= set(gallery.posted)
    for posted, seen in gallery.each():
        assert seen.card(posted)["drawn"], posted.event.id


def test_nothing_is_said_on_the_console_and_nothing_is_loaded(gallery: Gallery) -> None:
    """No script error, no warning of the renderer, and no request but that for the page itself."""
    for seen in gallery.views.values():
        assert seen.page["errors"] == []
        assert seen.page["said"] == []
        assert [url for url in seen.page["loaded"] if url not in (gallery.url, "data:,")] == []


def test_what_the_renderer_does_not_know_has_a_fallback(gallery: Gallery) -> None:
    """Without the page's own charts and code blocks only these are unknown, and replaced."""
    for posted, seen in gallery.each():
        newer = [
            part for part in walk(posted.card) if part.get("type") in ("Chart.Line", "CodeBlock")
        ]
        assert all(part["fallback"]["type"] == "TextBlock" for part in newer)
        unknown = [f'Unknown element type "{part["type"]}". {REPLACED}' for part in newer]
        assert seen.plain(posted)["events"] == unknown


REPLACED = "Fallback will be used if present."


def test_faulty_cards_do_not_pass_unnoticed(gallery: Gallery) -> None:
    """What these tests look for is found on a page of faulty cards."""
    assert gallery.faulty["said"] == [
        f'warning: card: Unknown element type "Nonsense". {REPLACED}',
        'warning: card: Invalid value "Huge" for property "size".',
    ]
    unreadable, broken, wide = gallery.faulty["cards"]
    assert not unreadable["drawn"]
    assert broken["drawn"]
    assert wide["out"]
    assert len(gallery.faulty["pale"]) == 1


def test_t14_sentence_facts_and_numbers_of_the_chart_are_visible_text(gallery: Gallery) -> None:
    """All that an event holds can be read, with charts and without, at every width."""
    for posted, seen in gallery.each():
        for drawn in (seen.card(posted), seen.plain(posted)):
            text = said(drawn["text"])
            assert [part for part in wanted(posted) if part not in text] == [], text


def test_curves_are_drawn(gallery: Gallery) -> None:
    """A chart of the card is a curve on the page, with its threshold beside it."""
    for posted, seen in gallery.each():
        charts = [part for part in walk(posted.card) if part.get("type") == "Chart.Line"]
        assert bool(charts) == (posted.whole and posted.event.chart is not None)
        assert seen.card(posted)["curves"] == sum(len(chart["data"]) for chart in charts)


def test_t12_nothing_leaves_its_card(gallery: Gallery) -> None:
    """Neither text nor element is wider than the card, nor the page than the screen."""
    for posted, seen in gallery.each():
        assert seen.card(posted)["out"] == [], posted.event.id
        assert not seen.page["scrolls"]


def test_text_stands_out_from_its_background(gallery: Gallery) -> None:
    """A contrast of 4.5 at least for every text of the page, light and dark."""
    for size, seen in gallery.views.items():
        assert seen.page["pale"] == [], size


@pytest.mark.parametrize("key", NAMES)
def test_t10_names_are_shown_literally(gallery: Gallery, key: str) -> None:
    """Markdown, HTML, quotes, brackets, Arabic and emoji are shown as they are, on each client."""
    posted, name = gallery.posted[key], said(NAMES[key])
    for seen in gallery.views.values():
        for drawn in (seen.card(posted), seen.plain(posted)):
            text = said(drawn["text"])
            assert text.count(name) >= 5, text
            assert drawn["foreign"] == []
            bold = [said(part) for part in drawn["bold"]]
            assert bold == ["Warning, firing", name, "Time to last token"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_buttons_lead_where_they_should(gallery: Gallery, scheme: str) -> None:
    """Clicking each button opens its address in a tab of its own."""
    seen = gallery.views[900, scheme]
    posted = sorted(gallery.posted.values(), key=lambda one: seen.places[one.delivery])
    addresses = [url for one in posted for _, url in links_of(one)]
    assert seen.page["opened"] == [[url, "_blank", "noopener"] for url in addresses]
    titles = [[title for title, _ in links_of(one)] for one in posted]
    assert [seen.card(one)["buttons"] for one in posted] == titles
    assert len(addresses) > len(SAMPLES)
