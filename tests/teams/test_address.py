"""Addresses of webhooks: what passes, what is refused, and that none is shown."""

from __future__ import annotations

import pickle

import pytest

from shared.teams.address import Webhook, check_url
from tests.teams.conftest import SIG, TARGET

ENVIRONMENT = "default0123456789abcdef0123456789ab.cd.environment.api.powerplatform.com"
QUERY = f"api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig={SIG}"
DIRECT = f"https://{ENVIRONMENT}:443/powerautomate/automations/direct"
INVOKE = f"triggers/manual/paths/invoke?{QUERY}"
SHAPES = [
    f"https://prod-12.westeurope.logic.azure.com:443/workflows/{'a' * 32}/{INVOKE}",
    f"{DIRECT}/workflows/{'b' * 32}/{INVOKE}",
    f"{DIRECT}/cu/7/workflows/{'c' * 32}/{INVOKE}",
    f"https://prod-01.usgovtexas.logic.azure.us/workflows/x?{QUERY}",
    f"https://x.environment.api.gov.powerplatform.microsoft.us/powerautomate/y?{QUERY}",
    f"https://x.environment.api.high.powerplatform.microsoft.us/powerautomate/y?{QUERY}",
    f"https://x.environment.api.appsplatform.us/powerautomate/y?{QUERY}",
    f"https://prod-01.chinaeast2.logic.azure.cn/workflows/x?{QUERY}",
    f"https://x.environment.api.powerplatform.partner.microsoftonline.cn/y?{QUERY}",
    f"http://127.0.0.1:8080{TARGET}",
    f"http://localhost:8080/teams/ops?sig={SIG}",
    f"http://[::1]:8080/teams/ops?sig={SIG}",
]
GOOD = SHAPES[0]
REFUSED = {
    "": "is empty",
    f" {GOOD}": "white space",
    f"{GOOD}\n": "white space",
    GOOD.replace("&", "&amp;"): "'&amp;'",
    f"https://contoso.webhook.office.com/webhookb2/{SIG}/IncomingWebhook/1/2": "Workflows",
    f"https://outlook.office.com/webhook/{SIG}?sig={SIG}": "Workflows",
    GOOD.replace("https", "http"): "https://",
    f"http://10.0.0.1{TARGET}": "https://",
    f"https://hooks.example.org{TARGET}": "not on a host",
    f"https://logic.azure.com.example.org{TARGET}": "not on a host",
    f"https://evillogic.azure.com{TARGET}": "not on a host",
    f"https://{SIG}@prod-1.westeurope.logic.azure.com{TARGET}": "not on a host",
    f"https://prod-1.westeurope.logic.azure.com:{SIG}/x": "cannot be read",
    f"https://[{SIG}/x": "cannot be read",
    f"prod-1.westeurope.logic.azure.com{TARGET}": "https://",
    f"https://prod-1.westeurope.logic.azure.com/{SIG}/ü?sig={SIG}": "no address has",
    f"@Microsoft.KeyVault(SecretUri=https://v.vault.azure.net/secrets/{SIG})": "Key Vault",
}


@pytest.mark.parametrize("url", SHAPES)
def test_t06_current_shapes_pass(url: str) -> None:
    """Every shape that Power Automate hands out passes, and plain http on loopback."""
    assert check_url(url) is None


@pytest.mark.parametrize(("url", "said"), REFUSED.items())
def test_wrong_addresses_are_refused_without_being_shown(url: str, said: str) -> None:
    """The problem is named in words; no part of the value is repeated."""
    problem = check_url(url)
    assert problem is not None
    assert said.replace("cannot be read", "not an address that can be read") in problem
    assert SIG not in problem


def test_t06_retired_connector_is_refused_with_the_way_out() -> None:
    """`webhook.office.com` is answered with how to make a Workflows webhook."""
    problem = check_url("https://contoso.webhook.office.com/webhookb2/x") or ""
    assert "retired" in problem
    assert "Send webhook alerts to a channel" in problem


def test_t07_paste_error_is_named_and_not_shown() -> None:
    """`&amp;` in an address is a paste error, said without the address."""
    problem = check_url(GOOD.replace("&", "&amp;")) or ""
    assert "&amp;" in problem
    assert "workflows" not in problem


@pytest.mark.parametrize("url", [GOOD.partition("&sig")[0], GOOD.replace(SIG, "")])
def test_t08_missing_signature_says_what_to_set_in_the_flow(url: str) -> None:
    """Without `sig` the text names the setting of the trigger."""
    problem = check_url(url) or ""
    assert "'Who can trigger the flow' to 'Anyone'" in problem


def test_webhook_never_shows_its_address() -> None:
    """Neither repr, str, format nor pickle reveal it."""
    webhook = Webhook(GOOD)
    for shown in (repr(webhook), str(webhook), f"{webhook}", repr([webhook])):
        assert shown.strip("[]") == "Webhook(***)"
    with pytest.raises(TypeError):
        pickle.dumps(webhook)
    assert webhook.reveal() == GOOD


def test_webhooks_are_compared_by_address() -> None:
    """Two webhooks of one address are one."""
    assert len({Webhook(GOOD), Webhook(GOOD), Webhook(SHAPES[1])}) == 2


def test_secrets_are_address_target_and_signature() -> None:
    """All that HTTP libraries log of an address is among the secrets, decoded or not."""
    webhook = Webhook("https://x.logic.azure.com/w?sp=a&sig=a%2Bb%3D")
    assert webhook.secrets == {webhook.reveal(), "/w?sp=a&sig=a%2Bb%3D", "a%2Bb%3D", "a+b="}
