"""Resource Manager: which deployments an account has, as the real client asks."""

from __future__ import annotations

import pytest
import requests

from shared.build import credential
from shared.model import Account
from shared.monitor.client import QueryError
from shared.monitor.listing import Lister
from tests.emulator.conftest import Caller


def test_an_account_lists_its_deployments(caller: Caller) -> None:
    """Every deployment of the world, for an id in any case."""
    lister = Lister(caller.server.url, credential)
    names = lister.names(Account(caller.world.accounts[caller.north].id.upper(), "eastus"))
    lister.close()
    assert names == frozenset(map(str.casefold, caller.world.deployments(caller.north)))
    assert names


def test_an_account_that_is_gone_cannot_be_listed(caller: Caller) -> None:
    """404, which is no list of no deployments."""
    lister = Lister(caller.server.url, credential, backoff=0.01)
    with pytest.raises(QueryError, match=r"404 .*ResourceNotFound"):
        lister.names(Account(caller.north + "-gone", "eastus"))
    lister.close()


def test_a_list_is_not_for_everybody(caller: Caller) -> None:
    """No token is 401, no version 400."""
    url = f"{caller.server.url}{caller.north}/deployments"
    assert requests.get(url, timeout=10).status_code == 401
    signed = {"Authorization": "Bearer x"}
    assert requests.get(url, headers=signed, timeout=10).status_code == 400


def test_a_deployment_that_was_deleted_is_listed_no_more(caller: Caller) -> None:
    """Its metrics stay, as in Azure Monitor; the others are listed on."""
    first, *others = caller.world.deployments(caller.north)
    caller.server.emulator.deleted.add(first)
    lister = Lister(caller.server.url, credential)
    names = lister.names(Account(caller.north, "eastus"))
    lister.close()
    assert names == frozenset(others)
