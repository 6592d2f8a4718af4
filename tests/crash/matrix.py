"""One crash: a process dies at a boundary, others start after it; what was told in the end."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from shared.model import Message
from shared.state import open_store
from shared.state.codec import unpack
from shared.state.ledger import Ledger
from shared.state.outbox import SENT
from tests.crash.mortal import DEAD
from tests.crash.story import START, TOLD, Job, minutes, nobody
from tests.teams.conftest import Hook, Reply, hooked

ROOT = Path(__file__).parents[2]
TICKS = (0, 60, 130, 260, 400, 530, 3700, 7400, 11_100)
"""Seconds after the first tick at which processes start, until nothing is left to tell."""
_DELIVERY = re.compile(r"delivery ([0-9a-f]{16})")
_COUNT = re.compile(r"(\d+) alerts? in one card")


@dataclass
class Host:
    """Starts processes, each for one tick."""

    process: subprocess.Popen[str]

    def run(self, job: Job) -> tuple[int, int]:
        """The exit code, and the number of boundaries if it lived."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(msgspec.json.encode(job).decode() + "\n")
        self.process.stdin.flush()
        code, count = self.process.stdout.readline().split()
        return int(code), int(count)


@contextmanager
def host() -> Iterator[Host]:
    command = [sys.executable, "-m", "tests.crash.host"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        yield Host(process)
        assert process.stdin
        process.stdin.close()


@dataclass(frozen=True)
class Verdict:
    """What people saw in the end."""

    crashed: bool
    boundaries: tuple[int, ...]
    """Of each tick that lived."""
    lost: tuple[str, ...] = ()
    """Channel and event of what no accepted message told, or more than one."""
    repeats: dict[str, int] = field(default_factory=dict)
    """By channel: posts of a delivery id that had been accepted before."""
    wrong: tuple[str, ...] = ()


def crash(host: Host, state: str, tick: int, boundary: int) -> Verdict:
    """Processes run tick by tick; the one of `tick` dies at the boundary (0: none does)."""
    with ExitStack() as stack:
        hooks = {name: stack.enter_context(hooked()) for name in (*TOLD, "backup")}
        hooks["gone"].script.extend([Reply(404, "WorkflowNotFound")] * 99)
        urls = {name: hook.webhook.reveal() for name, hook in hooks.items()}
        crashed, counts, failed = False, [], []
        for number, after in enumerate(TICKS):
            die_at = boundary if number == tick else 0
            code, count = host.run(Job(state, urls, START * 60.0 + after, die_at))
            crashed = crashed or code == DEAD
            failed += [f"tick {number} ended with {code}"] if code not in (0, DEAD) else []
            counts.append(count)
        return _verdict(state, hooks, crashed, tuple(counts), failed)


def _verdict(
    state: str, hooks: dict[str, Hook], crashed: bool, counts: tuple[int, ...], failed: list[str]
) -> Verdict:
    ledger = Ledger(open_store(state, nobody))
    sent = {e.key: unpack(e, Message) for e in ledger.store.partition(SENT)}
    left = [m.value for m in ledger.open_messages()]
    ledger.store.close()
    wrong = [*failed, *(f"{m.channel}: {m.id} is left as {m.state}" for m in left)]
    told, repeats = {}, {}
    for name in ("ops", "backup"):
        posted = Counter(_DELIVERY.findall(body.decode())[-1] for body in hooks[name].bodies)
        repeats[name] = sum(posted.values()) - len(posted)
        wrong += [f"{name}: unknown delivery {id_}" for id_ in posted if id_ not in sent]
        told[name] = Counter(e.id for id_ in posted if id_ in sent for e in sent[id_].events)
        wrong += _miscounted(hooks[name], sent)
    events = [event for minute in minutes() for event in minute]
    lost = [
        f"{event.id} {told[name][event.id]} times in {name}"
        for name in ("ops", "backup")
        for event in events
        if told[name][event.id] != 1
    ]
    return Verdict(crashed, counts, tuple(lost), repeats, tuple(wrong))


def _miscounted(hook: Hook, sent: dict[str, Message]) -> list[str]:
    """Digests whose card does not count what they hold."""
    wrong = []
    for body in hook.bodies:
        text = body.decode()
        id_, said = _DELIVERY.findall(text)[-1], _COUNT.search(text)
        if said and id_ in sent and int(said[1]) != len(sent[id_].events):
            wrong.append(f"digest {id_} counts {said[1]}")
    return wrong
