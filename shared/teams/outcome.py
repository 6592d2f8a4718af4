"""What an answer of a webhook means. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal

OutcomeKind = Literal["accepted", "delivered", "retry", "too_large", "permanent", "ambiguous"]


@dataclass(frozen=True)
class Outcome:
    """How a post went; `detail` never holds the webhook's address."""

    kind: OutcomeKind
    detail: str = ""
    retry_after: float | None = None
    """Seconds that the other side asked to wait."""
    reached: bool = True
    """Whether anything may have arrived there."""


TOO_LARGE = "Teams found the card too large (413)"
_RETRIED = (408, 429)
# A relay may answer 200 and tell of the failure in the text.
_RELAYED = re.compile(r"HTTP error (4\d\d|5\d\d)", re.IGNORECASE)

_SWITCHED_OFF = (
    "the flow is switched off: its owner turns it on again in Power Automate (My flows); if the"
    " owner left, an administrator gives the flow a new owner"
)
_MISMATCH = (
    "the flow expects another body: its trigger must be 'When a Teams webhook request is received'"
    " with the schema that the template made"
)
_FORBIDDEN = (
    "the flow does not let us in: in its trigger set 'Who can trigger the flow' to 'Anyone', copy"
    " the address again and store it as this channel's webhook"
)
_GONE = (
    "there is no such flow (deleted, or moved to a new address): make it again from the template"
    " 'Send webhook alerts to a channel' and store its address as this channel's webhook"
)
_MOVED = (
    "the address leads on to another one, which is not followed: copy the address again from the"
    " flow's trigger in Power Automate"
)
_CODES = {
    "WorkflowTriggerIsNotEnabled": _SWITCHED_OFF,
    "TriggerInputSchemaMismatch": _MISMATCH,
    "WorkflowNotFound": _GONE,
}
_STATUSES = {401: _FORBIDDEN, 403: _FORBIDDEN, 404: _GONE, 410: _GONE}


def outcome_of(status: int, headers: Mapping[str, str], text: str) -> Outcome:
    """The meaning of a whole answer."""
    if status == 200 and (relayed := _RELAYED.search(text)):
        status = int(relayed[1])
    if status == 202:
        return Outcome("accepted")
    if 200 <= status < 300:
        return Outcome("delivered")
    if status == 413:
        return Outcome("too_large", TOO_LARGE)
    if status in _RETRIED or status >= 500:
        return Outcome("retry", f"the webhook answered {status}", retry_after(headers))
    return Outcome("permanent", f"{_advice(status, text)} (answer {status})")


def _advice(status: int, text: str) -> str:
    if 300 <= status < 400:
        return _MOVED
    named = next((advice for code, advice in _CODES.items() if code in text), None)
    return named or _STATUSES.get(
        status, "the flow refused the post: look at its run history in Power Automate"
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, given as such or as a date.

    A date is counted from the answer's own Date, so that clocks may differ.
    """
    value = headers.get("Retry-After", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        wait = parsedate_to_datetime(value) - parsedate_to_datetime(headers.get("Date", ""))
    except (ValueError, TypeError):  # a missing date, one without a zone
        return None
    return max(wait.total_seconds(), 0.0)
