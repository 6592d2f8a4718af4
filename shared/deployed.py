"""What the triggers call: one watchdog a process, made from the app settings when first needed."""

from __future__ import annotations

import logging
import os
from datetime import UTC, datetime
from functools import cache

from shared.build import open_watch
from shared.pipeline import Watch, tick
from shared.settings import read_settings
from shared.teams.address import check_url

log = logging.getLogger("tokenwatch")


@cache
def watch() -> Watch:
    """The watchdog of this process.

    Raises:
        SettingsError: naming every app setting that is missing or wrong.
    """
    opened = open_watch(read_settings(os.environ, check_url))
    for problem in opened.rulebook.problems:
        log.log(logging.WARNING if problem.warning else logging.ERROR, "%s", problem)
    return opened


def run_tick() -> None:
    """Judges and tells whatever is due now. Trouble is logged and fails the invocation."""
    report = tick(watch(), datetime.now(UTC))
    if report.troubles:
        raise RuntimeError("; ".join(report.troubles))
