"""The watchdog's own alert: an account that cannot be read. Pure.

It lives like any other alert: three failed minutes in a row and it fires, a good one and it ends.
"""

from __future__ import annotations

from msgspec.structs import replace

from shared.engine.evaluate import Verdict
from shared.engine.lifecycle import Sight, Told, step
from shared.model import Account, Alert, Deployment, Event, Slot
from shared.rulebook.ast import Number
from shared.rulebook.rules import Hold, Rule
from shared.rulebook.units import BARE

NAME = "MonitorQueryFailing"
FAILED_MINUTES = 3

_RULE = Rule(
    name=NAME,
    severity="warning",
    owner="",
    summary=(),
    runbook="runbooks/monitor-query-failing.md",
    when=Number(0, BARE),
    hold=Hold(minutes=FAILED_MINUTES - 1),
    keep_firing=0,
)


def after_reading(
    alert: Alert | None, account: Account, slot: Slot, reasons: tuple[str, ...]
) -> tuple[Alert | None, Event | None]:
    """The alert after an attempt to read the account up to `slot`, and what is to be told.

    `reasons` says why it failed; none if everything was read. A slot counts once, however often it
    was attempted.
    """
    if reasons and alert and slot <= alert.last_known:
        return replace(alert, mark=reasons[0]), None
    verdict = Verdict.BREACH if reasons else Verdict.CLEAR
    place = Deployment(account.id, "")
    following, told = step(_RULE, alert, place, Sight(slot, verdict))
    if following and reasons:
        following = replace(following, mark=reasons[0])
    return following, _event(told, account, reasons) if told else None


def _event(told: Told, account: Account, reasons: tuple[str, ...]) -> Event:
    what = "\n".join(reasons[:3])
    failing = (
        f"Azure Monitor has not been read in full for {FAILED_MINUTES} minutes. Rules that need "
        f"what is missing are unknown, and alerts stay as they are.\n{what}"
    )
    return told.event(
        severity=_RULE.severity,
        runbook=_RULE.runbook,
        region=account.region,
        summary=failing if told.kind == "fired" else "Azure Monitor is read in full again.",
    )
