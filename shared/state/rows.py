"""Names of rows. Each ends in the attempt that wrote it, so a sweep can tell old from fresh."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_ATTEMPT = re.compile(r"(\d{8}T\d{6})-[a-z0-9]+")


def attempt_id(now: float, token: str) -> str:
    """Names one attempt to commit, sortable by time: `20261201T005500-ab12cd`.

    `now` is in Unix seconds. The token, lower-case letters and digits, tells attempts of one
    second apart.
    """
    attempt = f"{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%S}-{token}"
    if not _ATTEMPT.fullmatch(attempt):
        raise ValueError(f"token {token!r} must be lower-case letters and digits")
    return attempt


def attempt_time(attempt: str) -> float | None:
    """When an attempt began, in Unix seconds; None for what is no attempt of ours."""
    match = _ATTEMPT.fullmatch(attempt)
    if match is None:
        return None
    try:
        return datetime.strptime(f"{match[1]}+0000", "%Y%m%dT%H%M%S%z").timestamp()
    except ValueError:
        return None


def event_row(attempt: str) -> str:
    """The row that holds the events of an attempt."""
    return f"event.{attempt}"


def fit_row(bucket: str | int, attempt: str) -> str:
    """The row that holds the fits of a bucket of deployments."""
    return f"fit.{bucket}.{attempt}"


def attempt_of(row: str) -> str:
    """The attempt that wrote a row."""
    return row.rpartition(".")[2]
