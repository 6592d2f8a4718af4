"""The notice that a channel is down."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from shared.model import Deployment, Message, MessageState
from shared.teams.down import channel_down, down_messages, is_down
from shared.teams.messages import messages_for
from shared.teams.outcome import TOO_LARGE, outcome_of
from tests.teams.samples import FIRED, RESOLVED

NOW = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
ERROR = outcome_of(400, {}, "WorkflowTriggerIsNotEnabled").detail


def failed(channel: str = "ops", error: str = ERROR, state: MessageState = "failed") -> Message:
    return replace(messages_for([FIRED], [channel])[0], state=state, error=error)


def test_t21_notice_says_which_channel_why_and_what_was_lost() -> None:
    """It has the cure and the alert that was not told; it is critical if that was."""
    event = channel_down("ops", failed(), NOW)
    assert (event.kind, event.rule, event.severity) == ("notice", "ChannelDown", "warning")
    assert event.summary == (
        "Channel ops takes no messages: the flow is switched off: its owner turns it on again in"
        " Power Automate (My flows); if the owner left, an administrator gives the flow a new owner"
        " (answer 400).\nIt was not told of TTLTRisingWithoutTokens on gpt-4o-prod (fired); what"
        " else is meant for it may be missing there as well."
    )
    assert event.deployment == Deployment("", "")
    urgent = replace(failed(), events=(replace(FIRED, severity="critical"),))
    assert channel_down("ops", urgent, NOW).severity == "critical"
    minor = replace(failed(), events=(replace(FIRED, severity="info"),))
    assert channel_down("ops", minor, NOW).severity == "warning"


def test_t21_notice_is_the_same_all_day() -> None:
    """Whatever failed and whenever, one id a day and channel; severity does not change it."""
    first = channel_down("ops", failed(), NOW)
    other = replace(failed(), events=(replace(RESOLVED, severity="critical"),))
    assert channel_down("ops", other, NOW + timedelta(hours=15)).id == first.id
    assert channel_down("ops", failed(), NOW + timedelta(hours=16)).id != first.id
    assert channel_down("team", failed("team"), NOW).id != first.id


def test_t21_only_the_other_channels_are_told() -> None:
    """Of two failed messages the others hear once; one channel alone has nobody to tell."""
    messages = [failed(), replace(failed(), id="2")]
    told = down_messages(messages, ["ops", "team", "mail"], NOW)
    assert [message.channel for message in told] == ["team", "mail"]
    assert down_messages(messages, ["ops"], NOW) == ()


def test_t21_two_channels_that_are_down_do_not_go_on_for_ever() -> None:
    """Each is told of the other once; that this fails too makes no new message."""
    first = down_messages([failed()], ["ops", "team"], NOW)
    lost = [replace(message, state="failed", error=ERROR) for message in first]
    second = down_messages(lost, ["ops", "team"], NOW)
    assert [message.channel for message in second] == ["ops"]
    lost = [replace(message, state="failed", error=ERROR) for message in second]
    third = down_messages(lost, ["ops", "team"], NOW)
    assert [message.id for message in third] == [message.id for message in first]


@pytest.mark.parametrize("state", ["pending", "accepted", "delivered", "ambiguous"])
def test_only_what_failed_for_good_means_down(state: MessageState) -> None:
    """Neither a retry nor silence nor a card that was too large marks a channel down."""
    assert is_down(failed())
    assert not is_down(failed(state=state))
    assert not is_down(failed(error=TOO_LARGE))
