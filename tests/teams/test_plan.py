"""What shares a message, what is folded and what is posted next: tables of cases."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from shared.model import Channel, Deployment, Event, Fact, Message, Severity
from shared.teams.digest import digest_of, is_told_by, leftovers
from shared.teams.grouping import MOST_EVENTS, grouped
from shared.teams.limit import LIMITS, Limits, Spent, beyond, noted
from shared.teams.messages import due, follows, message_id, messages_for
from shared.teams.plan import folds, following
from tests.teams.samples import ACCOUNT, CHART, FIRED, RESOLVED, storm

NOW = 1.8e9
NEW = Channel()


def on(name: str, **changes: object) -> Event:
    """The sample event on another deployment."""
    fields = {"id": f"{name}-fired-0", "episode": name, "deployment": Deployment(ACCOUNT, name)}
    return replace(FIRED, **{**fields, **changes})


def of(severity: Severity, count: int) -> list[Message]:
    events = [
        replace(e, severity=severity, id=f"{severity}-{e.id}", episode=f"{severity}-{e.episode}")
        for e in storm(count)
    ]
    return list(messages_for(events, ["ops"]))


# Groups


def test_events_of_one_rule_account_and_minute_share_a_message() -> None:
    """In each channel one message for all three, which keeps what a table needs."""
    messages = messages_for([on("a"), on("b"), on("c")], ["ops", "team"])
    assert sorted((m.channel, len(m.events)) for m in messages) == [("ops", 3), ("team", 3)]
    assert {event.chart for event in messages[0].events} == {None}
    assert {event.facts for event in messages[0].events} == {FIRED.facts[:1]}


@pytest.mark.parametrize(
    "other",
    [
        on("b", kind="reminded"),
        on("b", rule="LatencyHigh"),
        on("b", slot=FIRED.slot + 1),
        on("b", severity="critical"),
        on("b", deployment=Deployment(ACCOUNT + "x", "b")),
    ],
    ids=["kind", "rule", "minute", "severity", "account"],
)
def test_what_differs_has_a_message_of_its_own(other: Event) -> None:
    """One event alone keeps everything."""
    messages = messages_for([on("a"), other], ["ops"])
    assert {m.events for m in messages} == {(on("a"),), (other,)}


def test_the_id_of_a_group_is_the_same_in_whatever_order() -> None:
    """So a crash while messages are made repeats nothing."""
    one = messages_for([on("a"), on("b")], ["ops"])
    assert one == messages_for([on("b"), on("a")], ["ops"])
    assert one[0].id == message_id("ops", on("b"), on("a"))


def test_the_worst_of_a_group_comes_first() -> None:
    """Furthest beyond its threshold, in whichever direction."""
    far = on("far", chart=replace(CHART, values=(9000.0,) * 30))
    low = on("low", chart=replace(CHART, values=(100.0,) * 30))
    bare = on("bare", chart=None)
    (group,) = grouped([bare, low, on("near"), far])
    assert [e.deployment.name for e in group] == ["far", "low", "near", "bare"]


def test_a_group_fits_a_row() -> None:
    """A thousand deployments make three messages."""
    groups = grouped([on(f"d{n:04}", facts=(Fact("x", "y" * 50),)) for n in range(1000)])
    assert [len(group) for group in groups] == [MOST_EVENTS, MOST_EVENTS, 200]


# What is due


def test_an_end_waits_where_sets_of_episodes_overlap() -> None:
    """Of two episodes that end in one card one has a beginning that waits: the card waits too."""
    fire = replace(messages_for([on("a")], ["ops"])[0], next_try=NOW + 60)
    (ends,) = messages_for(
        [on(n, kind="resolved", id=f"{n}-resolved-0", slot=FIRED.slot + 9) for n in "ab"], ["ops"]
    )
    assert due([fire, ends], NOW) == []
    assert following([fire, ends], NEW, NOW + 60, LIMITS) == fire
    assert following([ends], NEW, NOW, LIMITS) == ends


def test_a_digest_of_a_beginning_and_its_end_waits_for_nobody() -> None:
    """What one message tells is in order in it."""
    both = Message("d", "ops", (FIRED, RESOLVED), digest="storm", digest_id="d")
    assert following([both], NEW, NOW, LIMITS) == both


def test_two_that_wait_for_each_other_do_not_wait_for_ever() -> None:
    """The more urgent one goes."""
    late_b = on("b", kind="resolved", id="b-r", slot=FIRED.slot + 9)
    late_a = on("a", kind="resolved", id="a-r", slot=FIRED.slot + 9)
    one = Message("1", "ops", (on("a"), late_b), digest="storm", digest_id="1")
    two = Message("2", "ops", (on("b"), late_a), digest="storm", digest_id="2")
    assert following([one, two], NEW, NOW, LIMITS) == one


# The limit


def test_most_severe_first_and_the_rest_beyond() -> None:
    """Forty cards, ten more that are critical, and what is left is beyond."""
    messages = [*of("critical", 30), *of("warning", 30), *of("info", 30)]
    left = beyond(due(messages, NOW), NEW, NOW, LIMITS)
    assert [m.events[0].severity for m in left] == ["warning"] * 20 + ["info"] * 30
    many = [*of("critical", 60), *of("info", 1)]
    assert len(beyond(due(many, NOW), NEW, NOW, LIMITS)) == 11


def test_posts_count_for_sixty_minutes() -> None:
    """The hour slides: a post is forgotten an hour after it."""
    channel = NEW
    accepted = replace(of("info", 1)[0], state="accepted")
    for second in range(40):
        channel = noted(channel, accepted, 1, NOW + second)
    assert len(beyond(of("info", 3), channel, NOW + 3599, LIMITS)) == 3
    assert len(beyond(of("info", 3), channel, NOW + 3600, LIMITS)) == 2
    assert len(beyond(of("info", 3), channel, NOW + 3640, LIMITS)) == 0
    assert len(noted(channel, accepted, 1, NOW + 3620).posts) == 20


def test_there_is_always_a_post_for_a_digest() -> None:
    """Cards take fifty at the most; what digests take is not taken from cards."""
    digest = replace(of("info", 1)[0], digest_id=of("info", 1)[0].id)
    full = Channel(posts=(NOW,) * 50)
    assert Spent.of(full, NOW).allows(digest, LIMITS)
    assert not Spent.of(full, NOW).allows(of("critical", 1)[0], LIMITS)
    assert not Spent.of(Channel(posts=(NOW,) * 60), NOW).allows(digest, LIMITS)
    mixed = Channel(posts=(NOW,) * 49, digests=(NOW,) * 10)
    assert Spent.of(mixed, NOW).allows(of("info", 1)[0], LIMITS)


def test_digests_of_what_is_beyond_are_apart_and_one_at_a_time() -> None:
    """Six minutes, so that ten an hour do for whatever comes."""
    messages = of("info", 45)
    full = Channel(posts=(NOW,) * 40)
    (fold,) = folds(messages, full, NOW, LIMITS)
    assert len(fold.members) == 45
    recent = replace(full, digested=NOW)
    assert folds(messages, recent, NOW + 359, LIMITS) == []
    assert len(folds(messages, recent, NOW + 360, LIMITS)) == 1
    assert folds([*messages, replace(digest_of(fold), next_try=NOW + 9)], full, NOW, LIMITS) == []


def test_a_large_fold_makes_several_digests_in_the_order_of_time() -> None:
    """No beginning is in a later one than its end."""
    limits = Limits(ordinary=0, critical=0)
    begun = [replace(e, slot=e.slot + n % 7) for n, e in enumerate(storm(450))]
    over = [
        replace(e, id=f"{e.episode}-r", kind="resolved", slot=e.slot + 20, rule=f"{e.rule}!")
        for e in begun
    ]
    made = folds(messages_for([*over, *begun], ["ops"]), NEW, NOW, limits)
    assert [len(fold.members) for fold in made] == [400, 400, 100]
    first, second, third = (digest_of(fold) for fold in made)
    begins = {("ops", e.episode): [(e.slot, "later")] for m in (second, third) for e in m.events}
    assert not follows(first, begins)


def test_an_end_whose_beginning_waits_elsewhere_is_not_folded() -> None:
    """So a digest never waits for another message."""
    fire, end = (messages_for([e], ["ops"])[0] for e in (FIRED, RESOLVED))
    claimed = replace(fire, state="claimed", claimed_until=NOW - 1)
    assert folds([claimed, end], NEW, NOW, Limits(ordinary=0, critical=0)) == []
    assert len(folds([fire, end], NEW, NOW, Limits(ordinary=0, critical=0))[0].members) == 2


def test_what_was_for_another_channel_has_a_digest_of_its_own() -> None:
    """A card says for which channel it is; one that mixes them could not."""
    mine, other = of("info", 4)[:2], of("info", 4)[2:]
    other = [replace(m, meant_for=("team",)) for m in other]
    made = folds([*mine, *other], NEW, NOW, Limits(ordinary=0, critical=0))
    assert sorted(digest_of(fold).meant_for for fold in made) == [(), ("team",)]


# Digests


def test_a_digest_holds_exactly_its_members_in_brief() -> None:
    """Every event is in it, worst first, without curve, facts and evidence."""
    messages = [*of("info", 3), *of("critical", 3)]
    (fold,) = folds(messages, NEW, NOW, Limits(ordinary=0, critical=0))
    digest = digest_of(fold)
    assert [e.severity for e in digest.events] == ["critical"] * 3 + ["info"] * 3
    assert all(e.chart is None and e.facts == () and e.evidence is None for e in digest.events)
    assert all(is_told_by(digest, member) for member in messages)
    assert not is_told_by(digest, of("warning", 1)[0])
    assert (digest.is_digest, digest.digest) == (True, "storm")


def test_leftovers_are_what_nobody_works_on() -> None:
    """While one lease still runs, the folding is under way."""
    one, two = (replace(m, state="folded", digest_id="d") for m in of("info", 2))
    assert leftovers([one, replace(two, claimed_until=NOW + 1)], NOW) == []
    (left,) = leftovers([one, replace(two, claimed_until=NOW)], NOW)
    assert (left.id, left.kind, len(left.members)) == ("d", "storm", 2)
