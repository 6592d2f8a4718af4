"""Scopes: what a glob takes in, and those that could never take in anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.model import Account, Deployment
from shared.rulebook.globs import takes_in_nothing
from shared.rulebook.scope import matches
from tests.rulebook.files import folder, only, the_rule, with_keys


def test_scopes_are_globs_without_case_and_may_leave_out(tmp_path: Path) -> None:
    """A scope takes what one glob fits and no leading `!` leaves out; empty takes everything."""
    rule = the_rule(
        folder(tmp_path, own=with_keys('scope: {deployments: ["gpt*", "!*BATCH*"], regions: []}'))
    )
    place = Account("/subscriptions/s/accounts/a", "eastus")
    names = ["gpt-4o", "GPT-4o", "gpt-4o-batch", "o3", "my-gpt"]
    covered = [n for n in names if rule.scope.matches(place, Deployment(place.id, n))]
    assert covered == ["gpt-4o", "GPT-4o"]


@pytest.mark.parametrize(
    ("line", "message", "cure"),
    [
        ('deployments: [""]', "'' is an empty glob", 'Write "*" for all, or leave it out.'),
        ('deployments: ["!"]', "'!' is an empty glob", 'Write "*" for all, or leave it out.'),
        ('deployments: [" chat "]', "can match none of the deployments", 'Write "chat".'),
        ('deployments: ["!!chat"]', "can match none of the deployments", 'Write "!chat".'),
        ("deployments: [team-a/chat]", "can match none of the deployments", 'Write "chat".'),
        ("accounts: [/subscriptions/s/accounts/a*]", "none of the accounts", 'Write "a*".'),
        ("accounts: [team a]", "can match none of the accounts", 'Write "teama".'),
        ("regions: [Sweden Central]", "none of the regions", 'Write "swedencentral".'),
        ('regions: ["!west-europe"]', "none of the regions", 'Write "!westeurope".'),
        ('deployments: ["!*"]', "deployments takes in nothing", "Leave a glob out"),
        ('deployments: [chat, "!CHAT"]', "deployments takes in nothing", "Leave a glob out"),
        ('deployments: [gpt-4*, "!gpt*"]', "deployments takes in nothing", "Leave a glob out"),
        (
            "deployments: chat",
            "scope of rule Slow: must be a list",
            'Write ["chat"].',
        ),
        ("deployments: [[chat]]", "must be plain text", "Write one value."),
        ("deployment: [chat]", "unknown key 'deployment'", "Did you mean deployments?"),
    ],
)
def test_a_glob_that_takes_in_nothing_is_refused(
    tmp_path: Path, line: str, message: str, cure: str
) -> None:
    """A scope that could never match would leave a rule silent for ever."""
    problem = only(folder(tmp_path, own=with_keys(f"scope: {{{line}}}")))
    assert message in problem.message
    assert problem.cure.startswith(cure)
    assert problem.mark.line == 8


@pytest.mark.parametrize(
    "line",
    [
        'deployments: ["*"]',
        'deployments: ["!*batch*", "!o1*"]',
        'deployments: [gpt*, "!gpt-4?"]',
        'deployments: ["it\'s (new) 100%"]',
        "deployments: [(unattributed)]",
        'deployments: ["gpt-[34]*"]',
        "accounts: [Team_a.b-*]",
        'regions: [SwedenCentral, "*us*", "!eastus2"]',
    ],
)
def test_a_glob_that_may_take_in_something_is_accepted(tmp_path: Path, line: str) -> None:
    """Names of deployments are whatever Azure shows."""
    assert the_rule(folder(tmp_path, own=with_keys(f"scope: {{{line}}}")))


GLOBS = st.lists(st.text("ab*!", min_size=1, max_size=3), min_size=1, max_size=4)


@given(GLOBS, st.text("ab", min_size=1, max_size=4))
def test_no_glob_is_refused_that_takes_in_a_name(globs: list[str], name: str) -> None:
    """What matches some name is never said to take in nothing."""
    plain = [glob for glob in globs if "!" not in glob[1:] and glob != "!"]
    if plain and matches(tuple(plain), name):
        assert not takes_in_nothing(plain)
