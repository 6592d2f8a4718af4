"""Keeps the addresses of webhooks out of logs and texts.

urllib3 logs the path and query of every request at DEBUG, and of retries at WARNING. Raising the
level of its loggers would not last: whoever configures logging later lowers it again. A filter on
the logger itself lasts (configuring replaces handlers and levels, not filters), comes before every
handler, those of the Functions host included, and costs no log line but its secret.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

MASK = "***"
LIBRARIES = ("urllib3", "requests")
SHORTEST = 6
"""Shorter secrets are masked only behind `sig=`: they would blot out half of every text."""

_SIGNATURE = re.compile(r"((?<![a-z])sig(?:=|%3D|%253D))[^&\s\"'<>()]+", re.IGNORECASE)


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text with every spelling of the secrets masked, and whatever follows `sig=`."""
    spellings = {form for secret in secrets for form in _forms(secret) if len(form) >= SHORTEST}
    for form in sorted(spellings, key=len, reverse=True):
        text = re.sub(re.escape(form), MASK, text, flags=re.IGNORECASE)
    return _SIGNATURE.sub(rf"\1{MASK}", text)


def _forms(secret: str) -> set[str]:
    once = {secret, quote(secret, safe=""), quote(secret), quote_plus(secret)}
    return once | {secret.replace("&", "&amp;"), quote(quote(secret, safe=""), safe="")}


class Redactor(logging.Filter):
    """Masks the secrets that it was told of in each record of the loggers that it is put on."""

    def __init__(self) -> None:
        super().__init__()
        self._secrets: frozenset[str] = frozenset()

    def add(self, secrets: Iterable[str]) -> None:
        self._secrets |= frozenset(secrets)

    def filter(self, record: logging.LogRecord) -> bool:
        """Mask the finished message; the traceback as well, as it quotes what was raised."""
        record.msg, record.args = redact(record.getMessage(), self._secrets), None
        if record.exc_info:
            text = logging.Formatter().formatException(record.exc_info)
            record.exc_text, record.exc_info = redact(text, self._secrets), None
        return True


_REDACTOR = Redactor()


def guard(secrets: Iterable[str]) -> None:
    """Mask these in what the HTTP libraries log from now on.

    A filter acts on records of its own logger alone, not on those of loggers below it, so each
    logger of these libraries gets it.
    """
    _REDACTOR.add(secrets)
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in LIBRARIES:
            logging.getLogger(name).addFilter(_REDACTOR)
