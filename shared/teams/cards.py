"""Cards: what an event says to people in Teams. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from shared.model import Event, Fact, Severity, time_of
from shared.teams.chart import drawn
from shared.teams.elements import Element, code, container, facts, open_url, small, text
from shared.teams.escape import capital, clean, cut, escape, one_line
from shared.teams.links import Links

HEADING, SENTENCE, SHORT_SENTENCE, TOAST = 80, 1000, 300, 200
"""The most characters of a name in a heading, of the sentence, and of the notice on a screen."""
MOST_FACTS = 5
CONTENT_TYPE = "application/vnd.microsoft.card.adaptive"

# Emoji and word say it too: colours alone reach neither everybody nor every client.
STYLES: dict[Severity, str] = {"critical": "attention", "warning": "warning", "info": "accent"}
_EMOJI: dict[Severity, str] = {"critical": "🔴", "warning": "🟠", "info": "🔵"}


def card(event: Event, delivery_id: str, links: Links, note: str = "") -> Element:
    """The card that tells of an event; `note` says why it comes to this channel."""
    evidence = [] if event.chart is None else drawn(event.chart)
    lines = _ended(event) + _evidence(event)
    body = [
        _head(event),
        *noted(note),
        *_sentence(event, SENTENCE),
        *([facts(lines)] if lines else []),
        *evidence,
        *_began(event),
        *_exact_names(event),
        small_print(event.owner, f"episode {event.episode}", delivery_id),
    ]
    return bare_card(toast(event), body, links.actions(event))


def short_card(event: Event, delivery_id: str, links: Links, note: str = "") -> Element:
    """The card for when the whole one is too large: the title, the sentence, the links."""
    body = [
        _head(event),
        *noted(note),
        *_sentence(event, SHORT_SENTENCE),
        *_began(event),
        small_print(event.owner, f"episode {event.episode}", delivery_id),
    ]
    return bare_card(toast(event), body, links.actions(event))


def envelope(card: Element, summary: str) -> Element:
    """The body of a post to a webhook; `summary` is what the notice on the screen says."""
    attachment = {"contentType": CONTENT_TYPE, "contentUrl": None, "content": card}
    return {"type": "message", "summary": summary, "attachments": [attachment]}


def toast(event: Event) -> str:
    """The event in one line of plain text."""
    name, account = event.deployment.name, event.deployment.account_name
    where = f"{name} ({account})" if name else account
    what = f"{event.rule} on {where}" if where else event.rule
    parts = (f"{emoji(event)} {status(event)}", what, event.summary)
    return cut(" · ".join(line for part in parts if (line := one_line(part))), TOAST)


def duration(minutes: int) -> str:
    """`42 min`, `3 h 5 min`, `2 d 4 h`."""
    if minutes < 60:
        return f"{minutes} min"
    size, names = (60, ("h", "min")) if minutes < 1440 else (1440, ("d", "h"))
    first, rest = divmod(minutes, size)
    second = rest if size == 60 else rest // 60
    return f"{first} {names[0]}" + (f" {second} {names[1]}" if second else "")


def bare_card(summary: str, body: list[Element], actions: Iterable[tuple[str, str]]) -> Element:
    """A card of these elements, and of buttons with title and address."""
    card: Element = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        # 1.5 has been blanked for some, 1.6 fails. Newer elements work below their version.
        "version": "1.4",
        "fallbackText": summary,
        "msteams": {"width": "Full"},
        "body": body,
    }
    buttons = [open_url(title, url) for title, url in actions]
    return card | {"actions": buttons} if buttons else card


def noted(note: str) -> list[Element]:
    return [text(f"**{escape(note)}**", size="Small", spacing="Small")] if note else []


def _head(event: Event) -> Element:
    """What, where, how bad."""
    names = (event.deployment.name, event.deployment.account_name, event.region)
    items = [
        text(short_name(event.rule), size="Large", weight="Bolder"),
        text(" · ".join(filter(None, map(short_name, names))), spacing="None"),
        text(f"{emoji(event)} **{short_name(status(event))}**", spacing="Small"),
    ]
    return container(band(event), items)


def short_name(name: str) -> str:
    return escape(cut(one_line(name), HEADING))


def band(event: Event) -> str:
    return "good" if event.kind == "resolved" else STYLES[event.severity]


def emoji(event: Event) -> str:
    return "✅" if event.kind == "resolved" else _EMOJI[event.severity]


def status(event: Event) -> str:
    if event.kind == "resolved":
        return f"Resolved: {event.reason}" if event.reason else "Resolved"
    if event.kind == "notice":
        return f"{event.severity.capitalize()}, from the watchdog itself"
    state = "firing" if event.kind == "fired" else f"still firing after {_age(event)}"
    return f"{event.severity.capitalize()}, {state}"


def _age(event: Event) -> str:
    return duration(max(event.slot - event.since, 0))


def _sentence(event: Event, most: int) -> list[Element]:
    sentence = escape(cut(clean(event.summary), most))
    return [text(sentence, spacing="Medium")] if sentence else []


def _ended(event: Event) -> list[tuple[str, str]]:
    """How long, how bad at worst; the heading says how it ended."""
    if event.kind != "resolved":
        return []
    lines = [("Lasted", f"**{_age(event)}**, until {utc(event.slot)}")]
    return lines + ([("Worst value", f"**{escape(event.worst)}**")] if event.worst else [])


def _evidence(event: Event) -> list[tuple[str, str]]:
    return [(escape(capital(fact.name)), _fact(fact)) for fact in event.facts[:MOST_FACTS]]


def _fact(fact: Fact) -> str:
    threshold = f"threshold: {fact.threshold}" if fact.threshold else ""
    beside = escape("; ".join(part for part in (fact.reference, threshold) if part))
    now = escape(fact.now)
    return (f"**{now}**" if now else "") + (f" ({beside})" if beside else "")


def _began(event: Event) -> list[Element]:
    if event.kind == "notice":
        return []
    began = f"Began {utc(event.since)}"
    if event.kind == "fired" and event.slot > event.since:
        began += f", {_age(event)} before this alert"
    return [text(began, size="Small", spacing="Medium")]


def utc(slot: int) -> str:
    return f"{time_of(slot):%Y-%m-%d %H:%M} UTC"


def _exact_names(event: Event) -> list[Element]:
    """Names that the heading cut or escaped, whole and ready to copy."""
    deployment = event.deployment
    names = {
        "rule": event.rule,
        "deployment": deployment.name,
        "account": deployment.account_name,
    }
    altered = [f"{word}: {name}" for word, name in names.items() if short_name(name) != name]
    return [code(altered)] if altered else []


def small_print(owner: str, about: str, delivery_id: str) -> Element:
    owned = [f"owner {short_name(owner)}"] if owner else []
    return small(" · ".join([*owned, about, f"delivery {delivery_id}"]))
