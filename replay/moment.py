"""Where the minutes before a moment come from: a recording, or Azure Monitor itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from replay.past import Past
from replay.recorded import Recorded, past_of
from shared.engine.baseline import Due
from shared.engine.case import all_offsets, lead
from shared.engine.frame import Frame
from shared.engine.walk import History
from shared.model import Account, Deployment, Slot
from shared.monitor.read import Poster, Range, read
from shared.rulebook.rules import Rulebook
from shared.shards import Work, read_history


class NotFoundError(Exception):
    """Nothing is known of what was asked for; the text says what there is."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One deployment, its minutes, and where its fits come from."""

    account: Account
    past: Past
    history: History | None = None
    failures: tuple[str, ...] = ()
    """What could not be read."""


def recorded_scene(recording: Recorded, book: Rulebook, deployment: str, account: str) -> Scene:
    """A deployment of a recording, found by name without case.

    Raises:
        NotFoundError: it is not there, or in several accounts.
    """
    named = [tape for tape in recording.tapes if _same(tape.deployment, deployment)]
    found = [tape for tape in named if not account or _same(recording.account(tape).name, account)]
    places = [f"{tape.deployment} ({recording.account(tape).name})" for tape in found]
    if not found:
        every = sorted({tape.deployment for tape in recording.tapes})
        raise NotFoundError(f"there is no {deployment} in it; it has {', '.join(every[:20])}")
    if len(found) > 1:
        raise NotFoundError(f"{', '.join(places)}: say which with --account")
    owner = recording.account(found[0])
    past = past_of(found[0], owner, recording.begin, recording.end, book.needed)
    return Scene(owner, past)


def azure_scene(
    poster: Poster,
    accounts: Sequence[Account],
    book: Rulebook,
    deployment: str,
    account: str,
    begin: Slot,
    last: Slot,
) -> Scene:
    """A deployment as Azure Monitor has it, with the minutes that judging [begin, last] takes.

    Raises:
        NotFoundError: no account has points of it, or several have.
    """
    asked = [one for one in accounts if not account or _same(one.name, account)]
    if not asked:
        names = ", ".join(one.name for one in accounts)
        raise NotFoundError(f"there is no account {account} in TOKENWATCH_ACCOUNTS; it has {names}")
    start = begin - lead(book) + 1 - max(all_offsets(book), default=0)
    over = Range(start, last - start + 1)
    scenes = [_read(poster, one, book, deployment, over) for one in asked]
    found = [scene for scene in scenes if scene.past.deployments]
    if not found:
        why = [line for scene in scenes for line in scene.failures] or ["there are no points of it"]
        raise NotFoundError(f"{deployment}: {'; '.join(dict.fromkeys(why))}")
    if len(found) > 1:
        names = ", ".join(scene.account.name for scene in found)
        raise NotFoundError(f"{deployment} is in {names}: say which with --account")
    return found[0]


def _read(poster: Poster, account: Account, book: Rulebook, deployment: str, over: Range) -> Scene:
    reading = read(poster, [account], book.needed, over, [deployment])
    mine = [one for one in reading.series if _same(one.deployment.name, deployment)]
    past = Past.of(over.start, mine, book.needed)
    work = Work(book, (account,), (), poster, over.start)

    def history(dues: Sequence[Due]) -> dict[Due, Frame]:
        return read_history(work, {account.id: account}, dues, [])

    failed = (f"{c.metric}: {why.reason}" for (_, c), why in reading.failures.items())
    return Scene(account, past, history, tuple(dict.fromkeys(failed)))


def alone(scene: Scene) -> Deployment:
    (deployment,) = scene.past.deployments
    return deployment


def _same(one: str, two: str) -> bool:
    return one.casefold() == two.casefold()
