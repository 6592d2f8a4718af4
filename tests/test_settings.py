"""Settings: every problem named at once, each with its cure, and no secret in any of them."""

from __future__ import annotations

import pytest

from shared.settings import Settings, SettingsError, read_settings
from shared.teams.address import check_url

ID = "/subscriptions/s/resourceGroups/g/providers/Microsoft.CognitiveServices/accounts/north"
HOOK = "https://prod-1.logic.azure.com/workflows/1?sig=SECRET"
FINE = {
    "TOKENWATCH_ACCOUNTS": f"eastus={ID}",
    "TOKENWATCH_STATE": "sqlite:a.db",
    "TEAMS_WEBHOOK_DEFAULT": HOOK,
}


def settings(**changed: str) -> Settings:
    return read_settings(FINE | changed, check_url)


def problems(**changed: str) -> tuple[str, ...]:
    """What is said of settings with something wrong in them."""
    with pytest.raises(SettingsError) as wrong:
        settings(**changed)
    assert "SECRET" not in str(wrong.value)
    return wrong.value.problems


@pytest.mark.parametrize("build", ["-1", "1.5", "seven", "²", "0x10", "1" * 19, "1" * 5000, "1_0"])
def test_a_build_is_a_whole_number_from_zero_on(build: str) -> None:
    """Whatever else is said to be none, and so is what state cannot hold."""
    (said,) = problems(TOKENWATCH_BUILD=build)
    assert "must be a whole number from 0 on" in said


@pytest.mark.parametrize(("build", "number"), [("", 0), (" 7 ", 7), ("9" * 18, 10**18 - 1)])
def test_a_build_may_be_left_out(build: str, number: int) -> None:
    """Nothing is build 0."""
    assert settings(TOKENWATCH_BUILD=build).build == number


@pytest.mark.parametrize("address", ["", HOOK])
def test_a_webhook_without_a_name_is_told_of(address: str) -> None:
    """TEAMS_WEBHOOK_ alone is a typing error, with an address or without."""
    (said,) = problems(TEAMS_WEBHOOK_=address)
    assert said.startswith("TEAMS_WEBHOOK_ names no channel: write TEAMS_WEBHOOK_DEFAULT")


def test_a_channel_is_given_once() -> None:
    """Two spellings of one name are one channel, of which only one address could count."""
    (said,) = problems(TEAMS_WEBHOOK_OPS=HOOK, TEAMS_WEBHOOK_Ops=HOOK)
    assert said == "TEAMS_WEBHOOK_Ops: the channel ops is given twice: case does not count"


def test_an_account_lies_in_one_region() -> None:
    """The same id with two regions is named with both; the same line twice does no harm."""
    (said,) = problems(TOKENWATCH_ACCOUNTS=f"eastus={ID},WestUS={ID.upper()}/")
    assert "north is given with two regions, eastus and westus: keep the one" in said
    assert len(settings(TOKENWATCH_ACCOUNTS=f"eastus={ID};EastUS={ID.upper()}").accounts) == 1


def test_each_wrong_account_is_named_and_nothing_else() -> None:
    """Two that are not understood are two problems."""
    said = problems(TOKENWATCH_ACCOUNTS="eastus:/subscriptions/x, westus:/subscriptions/y")
    assert len(said) == 2
    assert all("is not REGION=RESOURCE_ID" in one for one in said)
