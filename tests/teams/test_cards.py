"""What cards say, in which order and form."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from shared.model import Account, Chart, Deployment, Event, Fact
from shared.notices import unjudged
from shared.teams.body import MOST_BYTES, MOST_ENCODED, body, fits, short_body
from shared.teams.cards import card, duration, envelope, short_card, toast
from shared.teams.chart import POINTS, amount
from shared.teams.down import channel_down
from shared.teams.escape import JOINER
from shared.teams.links import Links
from shared.teams.messages import messages_for
from tests.teams.samples import ACCOUNT, CHART, FIRED, LINKS, RESOLVED, of_type, plain, strings

SCHEMA = json.loads((Path(__file__).parent / "data" / "adaptive-card-1.5.json").read_text())
VALIDATOR = jsonschema.Draft6Validator(SCHEMA)
DELIVERY = "0123456789abcdef"

EVENTS = {
    "critical": replace(FIRED, severity="critical"),
    "warning": FIRED,
    "info": replace(FIRED, severity="info"),
    "reminded": replace(FIRED, kind="reminded", sequence=1, slot=FIRED.slot + 240),
    "resolved": RESOLVED,
    "unjudged": unjudged(Account(ACCOUNT, "westeurope"), FIRED.slot, FIRED.slot + 90),
    "channel down": channel_down(
        "ops",
        replace(messages_for([FIRED], ["ops"])[0], state="failed", error="the flow is off"),
        datetime(2026, 12, 1, tzinfo=UTC),
    ),
    "bare": replace(
        FIRED, facts=(), chart=None, evidence=None, summary="", owner="", runbook="", region=""
    ),
    "ended bare": replace(RESOLVED, facts=(), chart=None, worst="", reason="", summary=""),
}


def made(event: Event, links: Links = LINKS) -> Any:
    return json.loads(json.dumps(card(event, DELIVERY, links)))


def texts(event: Event) -> str:
    """All that the card says, without the joiners."""
    return "\n".join(strings(made(event))).replace(JOINER, "")


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS.keys())
@pytest.mark.parametrize("make", [card, short_card], ids=["whole", "short"])
def test_card_follows_the_schema(event: Event, make: Any) -> None:
    """Every card is valid by the strict schema once newer elements are their fallbacks."""
    VALIDATOR.validate(plain(make(event, DELIVERY, LINKS)))
    VALIDATOR.validate(plain(make(event, DELIVERY, Links())))


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS.keys())
def test_card_declares_what_teams_needs(event: Event) -> None:
    """Version 1.4, full width, a fallback text; only buttons that open an address."""
    content = made(event)
    assert content["version"] == "1.4"
    assert content["msteams"] == {"width": "Full"}
    assert content["fallbackText"]
    assert {action["type"] for action in content.get("actions", ())} <= {"Action.OpenUrl"}


@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS.keys())
def test_t12_all_text_wraps(event: Event) -> None:
    """Every TextBlock wraps, in fallbacks too."""
    blocks = of_type(made(event), "TextBlock")
    assert blocks
    assert all(block["wrap"] is True for block in blocks)


def test_t12_long_text_is_not_lost() -> None:
    """A long sentence stands in the card whole, wrapped."""
    sentence = "very long text " * 40
    assert sentence.strip() in texts(replace(FIRED, summary=sentence))


def test_answers_come_in_order() -> None:
    """What, where, how bad, the sentence, facts, the chart, the beginning, the small print."""
    said = "\n".join(strings(made(FIRED)["body"]))
    wanted = (
        FIRED.rule,
        "gpt-4o-prod · contoso-north · westeurope",
        "🟠 **Warning, firing**",
        FIRED.summary,
        "**4.2 s** (1.9 s expected; threshold: above 2.47 s)",
        "Chart.Line",
        "Began 2026-11-06 21:14 UTC, 6 min before this alert",
        f"owner ml-platform · episode {FIRED.episode} · delivery {DELIVERY}",
    )
    places = [said.index(part) for part in wanted]
    assert places == sorted(places)
    assert [action["title"] for action in made(FIRED)["actions"]] == [
        "Metrics",
        "Runbook",
        "Deployment",
    ]


@pytest.mark.parametrize(
    ("event", "style", "word"),
    [
        ("critical", "attention", "🔴 **Critical, firing**"),
        ("warning", "warning", "🟠 **Warning, firing**"),
        ("info", "accent", "🔵 **Info, firing**"),
        ("reminded", "warning", "🟠 **Warning, still firing after 4 h 6 min**"),
        ("resolved", "good", "✅ **Resolved: recovered**"),
        ("unjudged", "warning", "🟠 **Warning, from the watchdog itself**"),
    ],
)
def test_severity_is_colour_emoji_and_word(event: str, style: str, word: str) -> None:
    """How bad it is never hangs on the colour alone."""
    head = made(EVENTS[event])["body"][0]
    assert head["style"] == style
    assert word in strings(head)


def test_resolved_says_how_long_how_bad_and_how_it_ended() -> None:
    """The end of an episode has its reason above, its duration and worst value with the facts."""
    assert "✅ **Resolved: recovered**" in strings(made(RESOLVED)["body"][0])
    facts = of_type(made(RESOLVED), "FactSet")[0]["facts"]
    assert [(fact["title"], fact["value"]) for fact in facts[:2]] == [
        ("Lasted", "**48 min**, until 2026-11-06 22:02 UTC"),
        ("Worst value", "**5.1 s**"),
    ]
    assert len(facts) == 7


def test_at_most_five_facts() -> None:
    """A card with more facts shows the first five."""
    event = replace(FIRED, facts=tuple(Fact(f"f{n}", str(n)) for n in range(9)))
    assert len(of_type(made(event), "FactSet")[0]["facts"]) == 5


def test_t14_no_fact_is_lost_without_charts() -> None:
    """The text alone gives the curve, its extremes, their times, the last value, the threshold."""
    said = "\n".join(strings(plain(made(FIRED))))
    for part in (
        "**Time to last token**, 20:51 to 21:20 UTC",
        "lowest 1.9 s at 20:51, highest 4.76 s at 21:20, last 4.76 s at 21:20, threshold 2.47 s",
    ):
        assert part in said
    assert "█" in said
    removed = [part for part in made(FIRED)["body"] if part["type"] != "Chart.Line"]
    assert "highest 4.76 s at 21:20" in "\n".join(strings(removed))


def test_chart_is_thinned_and_has_a_fallback() -> None:
    """At most 24 points, the peak among them, and text for who draws no charts."""
    peak = tuple(9.0 if n == 33 else 1.0 for n in range(100))
    event = replace(FIRED, chart=Chart("Requests", "requests", FIRED.slot - 99, peak))
    (chart,) = of_type(made(event), "Chart.Line")
    (series,) = chart["data"]
    assert len(series["values"]) == POINTS
    assert max(point["y"] for point in series["values"]) == 9.0
    assert chart["fallback"]["type"] == "TextBlock"


def test_chart_leaves_out_minutes_without_a_value() -> None:
    """A missing minute is no point in the chart and a dot in the text; never a zero."""
    chart = replace(CHART, values=(None, 5.0, None, 7.0), threshold=())
    (drawn,) = of_type(made(replace(FIRED, chart=chart)), "Chart.Line")
    assert [point["y"] for point in drawn["data"][0]["values"]] == [5.0, 7.0]
    assert "·▁·█" in texts(replace(FIRED, chart=chart))


def test_empty_chart_is_left_out() -> None:
    """A curve without any value is neither drawn nor told."""
    event = replace(FIRED, chart=replace(CHART, values=(None, None)))
    assert not of_type(made(event), "Chart.Line")


def test_t10_marked_up_names_are_shown_literally_and_can_be_copied() -> None:
    """The heading shows `my_gpt*x` escaped; a code block has it exactly."""
    event = replace(FIRED, deployment=Deployment(ACCOUNT, "my_gpt*x"))
    assert f"my{JOINER}_gpt{JOINER}*x" in "".join(strings(made(event)["body"][0]))
    (block,) = of_type(made(event), "CodeBlock")
    assert block["codeSnippet"] == "deployment: my_gpt*x"


def test_long_name_is_cut_in_the_heading_and_whole_below() -> None:
    """A very long name ends in an ellipsis above and is complete in the code block."""
    name = "gpt-" + "x" * 200
    content = made(replace(FIRED, deployment=Deployment(ACCOUNT, name)))
    assert name not in "".join(strings(content["body"][0]))
    assert "…" in "".join(strings(content["body"][0]))
    assert of_type(content, "CodeBlock")[0]["codeSnippet"] == f"deployment: {name}"


def test_t11_new_line_in_a_value_is_two_lines() -> None:
    """Lines of a value stay apart in the card."""
    event = replace(FIRED, summary="first\nsecond", facts=(Fact("a", "one\r\ntwo"),))
    said = strings(made(event))
    assert "first\n\nsecond" in said
    assert "**one\n\ntwo**" in said


def test_t15_no_mention_without_its_entity() -> None:
    """Mentions in values are stripped everywhere, so no entity is missing."""
    mention = "<at>everyone</at>"
    event = replace(
        FIRED,
        rule=mention,
        summary=mention,
        owner=mention,
        region=mention,
        deployment=Deployment(ACCOUNT + mention, mention),
        facts=(Fact(mention, mention, mention, mention),),
        chart=replace(CHART, title=mention, unit=mention),
    )
    for content in (made(event, Links()), short_card(event, DELIVERY, Links())):
        assert not [text for text in strings(content) if "<at" in text]
        assert "entities" not in json.dumps(content)


def test_t19_envelope_always_has_attachments() -> None:
    """The body is a message with one attachment of the right type and a summary."""
    for event in EVENTS.values():
        for post in (body(event, DELIVERY, LINKS), short_body(event, DELIVERY, LINKS)):
            message = json.loads(post)
            (attachment,) = message["attachments"]
            assert message["type"] == "message"
            assert message["summary"] == toast(event)
            assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
            assert attachment["contentUrl"] is None
    assert envelope({"type": "AdaptiveCard"}, "s")["attachments"]


def test_toast_tells_it_in_one_line() -> None:
    """The notice says how bad, what, where and the sentence."""
    assert toast(FIRED) == (
        "🟠 Warning, firing · TTLTRisingWithoutTokens on gpt-4o-prod (contoso-north) · "
        "Answers take 1.8x as long as their 182 tokens explain"
    )


def test_ordinary_card_is_far_below_the_limit() -> None:
    """A card with everything on it stays whole."""
    post = body(FIRED, DELIVERY, LINKS)
    assert len(post) < MOST_BYTES / 2
    assert "Chart.Line" in post.decode()


def test_oversized_card_is_sent_in_short() -> None:
    """What does not fit keeps title, sentence, ids and links, within the limit."""
    event = replace(FIRED, facts=(Fact("x", "*" * 9000),), summary="_" * 5000)
    post = body(event, DELIVERY, LINKS)
    assert fits(post)
    assert "FactSet" not in post.decode()
    assert FIRED.rule in post.decode()
    assert len(json.dumps(post.decode())) <= MOST_ENCODED


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=4000), st.text(max_size=4000))
def test_any_text_makes_a_valid_card_that_fits(one: str, two: str) -> None:
    """Whatever Azure or a rule file holds, the card is valid and small enough."""
    event = replace(
        RESOLVED,
        rule=one,
        summary=two,
        owner=two,
        region=one,
        runbook=one,
        reason=two,
        worst=one,
        deployment=Deployment(ACCOUNT, one),
        facts=(Fact(one, two, two, one),) * 5,
        chart=replace(CHART, title=two, unit=one),
    )
    post = body(event, DELIVERY, LINKS)
    assert fits(post)
    VALIDATOR.validate(plain(json.loads(post)["attachments"][0]["content"]))


@pytest.mark.parametrize(
    ("minutes", "said"),
    [(0, "0 min"), (59, "59 min"), (60, "1 h"), (185, "3 h 5 min"), (3120, "2 d 4 h")],
)
def test_duration_reads_well(minutes: int, said: str) -> None:
    """Durations have at most two units."""
    assert duration(minutes) == said


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [(61.04, "%", "61 %"), (1250.0, "tokens", "1,250 tokens"), (1.8, "1", "1.8"), (2.0, "", "2")],
)
def test_amount_reads_well(value: float, unit: str, said: str) -> None:
    """Values of the chart are rounded and have their unit."""
    assert amount(value, unit) == said
