"""Secrets in texts and log records."""

from __future__ import annotations

import logging
from urllib.parse import quote

import pytest

from shared.teams.address import Webhook
from shared.teams.redact import Redactor, redact
from tests.teams.conftest import SIG, TARGET

WEBHOOK = Webhook(f"https://prod-1.westeurope.logic.azure.com{TARGET}")


@pytest.mark.parametrize(
    "text",
    [
        WEBHOOK.reveal(),
        f'"POST {TARGET} HTTP/1.1" 429',
        f"sig={SIG}",
        SIG,
        quote(WEBHOOK.reveal(), safe=""),
        quote(quote(WEBHOOK.reveal(), safe=""), safe=""),
        WEBHOOK.reveal().replace("&", "&amp;"),
        WEBHOOK.reveal().replace("%2F", "%2f"),
    ],
)
def test_every_spelling_is_masked(text: str) -> None:
    """The whole address, the part that is logged, the signature, encoded or not."""
    masked = redact(f"before {text} after", WEBHOOK.secrets)
    assert SIG not in masked
    assert SIG.replace("~", "%7E") not in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")


def test_unknown_signatures_are_masked_as_well() -> None:
    """What follows `sig=` is masked even of an address that was not told."""
    assert redact("x?sv=1&sig=abcdef&y=1", ()) == "x?sv=1&sig=***&y=1"
    assert redact("x%3Fsv%3D1%26sig%3Dabcdef", ()) == "x%3Fsv%3D1%26sig%3D***"
    assert redact("design=good", ()) == "design=good"


def test_short_secret_does_not_blot_out_the_text() -> None:
    """A signature of a few characters is masked in its place only."""
    assert redact("a?sig=te test", {"te"}) == "a?sig=*** test"


def test_filter_masks_message_arguments_and_traceback() -> None:
    """A record leaves the filter without the secret in any of its parts."""
    redactor = Redactor()
    redactor.add(WEBHOOK.secrets)
    try:
        raise OSError(WEBHOOK.reveal())
    except OSError as error:
        info = (type(error), error, error.__traceback__)
    record = logging.LogRecord("urllib3", 10, "", 0, "%s failed", (WEBHOOK.reveal(),), info)
    assert redactor.filter(record)
    assert SIG not in logging.Formatter().format(record)
    assert "OSError" in logging.Formatter().format(record)
    assert SIG not in repr(vars(record))
