"""What answers mean, as a table."""

from __future__ import annotations

import pytest

from shared.teams.outcome import OutcomeKind, outcome_of, retry_after

OFF = '{"error":{"code":"WorkflowTriggerIsNotEnabled","message":"..."}}'
MISMATCH = '{"error":{"code":"TriggerInputSchemaMismatch"}}'
RELAYED = "Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error"


@pytest.mark.parametrize(
    ("status", "text", "kind", "said"),
    [
        (200, "", "delivered", ""),
        (200, "1", "delivered", ""),
        (202, "", "accepted", ""),
        (200, f"{RELAYED} 413 with ContextId x", "too_large", "413"),
        (200, f"{RELAYED} 429 with ContextId x", "retry", "429"),
        (413, "", "too_large", "413"),
        (408, "", "retry", "408"),
        (429, "", "retry", "429"),
        (500, "", "retry", "500"),
        (502, "", "retry", "502"),
        (503, "", "retry", "503"),
        (504, "", "retry", "504"),
        (400, OFF, "permanent", "switched off"),
        (400, MISMATCH, "permanent", "trigger must be"),
        (400, "", "permanent", "run history"),
        (401, "", "permanent", "'Anyone'"),
        (403, "", "permanent", "'Anyone'"),
        (404, '{"error":{"code":"WorkflowNotFound"}}', "permanent", "no such flow"),
        (404, "", "permanent", "no such flow"),
        (302, "", "permanent", "not followed"),
        (307, "", "permanent", "not followed"),
    ],
)
def test_answers(status: int, text: str, kind: OutcomeKind, said: str) -> None:
    """Each answer has one meaning; permanent ones say what to do in Power Automate."""
    outcome = outcome_of(status, {}, text)
    assert outcome.kind == kind
    assert said in outcome.detail


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": " 9999 "}, 9999.0),
        (
            {
                "Retry-After": "Tue, 01 Dec 2026 00:02:00 GMT",
                "Date": "Tue, 01 Dec 2026 00:00:30 GMT",
            },
            90.0,
        ),
        (
            {
                "Retry-After": "Tue, 01 Dec 2026 00:00:00 GMT",
                "Date": "Tue, 01 Dec 2026 00:00:30 GMT",
            },
            0.0,
        ),
        ({"Retry-After": "Tue, 01 Dec 2026 00:02:00 GMT"}, None),
        ({"Retry-After": "soon", "Date": "Tue, 01 Dec 2026 00:00:30 GMT"}, None),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "²"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds or a date, counted from the answer's own clock; anything else is no wish."""
    assert retry_after(headers) == seconds
