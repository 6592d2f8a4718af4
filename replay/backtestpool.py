"""Every deployment of a recording through the live engine, on several processors."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace

from emulator.tape import Tape
from replay.backtest import Outcome, Span, judge_deployment
from replay.recorded import Recorded, past_of
from shared.model import Account, Change
from shared.rulebook.rules import Rulebook

Reached = Callable[[int], None]
"""Hears how many deployments are judged."""


class PoolError(Exception):
    """The work could not be done; the text says what to do."""


@dataclass(frozen=True, eq=False)
class Work:
    """What all deployments are judged by; `rulebooks` each by themselves."""

    rulebooks: tuple[Rulebook, ...]
    recorded: Recorded
    """Without its tapes, where another process is to have it."""
    span: Span
    changes: tuple[Change, ...] = ()
    curves: int = 0
    """Curves a rule of the first rulebook."""

    def judge(self, tape: Tape) -> tuple[Outcome, ...]:
        """The outcome of a deployment under each rulebook."""
        account = self.recorded.account(tape)
        return tuple(
            self._judge(book, tape, account, self.curves if n == 0 else 0)
            for n, book in enumerate(self.rulebooks)
        )

    def _judge(self, book: Rulebook, tape: Tape, account: Account, curves: int) -> Outcome:
        needed, end = book.needed, self.span.last + 1
        past = past_of(tape, account, self.span.begin, end, needed)
        blind = self.recorded.blind(account, needed)
        outcome = judge_deployment(book, account, past, self.span, self.changes, blind, curves)
        return replace(outcome, events=())


def judge_all(work: Work, jobs: int, reached: Reached) -> list[tuple[Outcome, ...]]:
    """What came of every deployment, by rulebook; in the order of the tapes.

    Raises:
        PoolError: a process was ended from outside.
    """
    tapes = work.recorded.tapes
    jobs = min(jobs, len(tapes))
    found: dict[int, tuple[Outcome, ...]] = {}
    results = _here(work, tapes) if jobs <= 1 else _spread(work, tapes, jobs)
    for number, outcomes in results:
        found[number] = outcomes
        reached(len(found))
    return [found[number] for number in range(len(tapes))]


def _here(work: Work, tapes: Sequence[Tape]) -> Iterator[tuple[int, tuple[Outcome, ...]]]:
    for number, tape in enumerate(tapes):
        yield number, work.judge(tape)


def _spread(
    work: Work, tapes: Sequence[Tape], jobs: int
) -> Iterator[tuple[int, tuple[Outcome, ...]]]:
    """Few tapes are on their way at a time, so that they need not lie in memory twice."""
    lean = replace(work, recorded=replace(work.recorded, tapes=()))
    # Spawned, because a fork copies the threads of Arrow in the middle of what they do.
    context, strangers = (
        multiprocessing.get_context("spawn"),
        set(multiprocessing.active_children()),
    )
    pool = ProcessPoolExecutor(jobs, context, _begin, (lean,))
    running: dict[Future[tuple[Outcome, ...]], int] = {}
    queue = iter(enumerate(tapes))
    try:
        while True:
            while len(running) < 2 * jobs and (following := next(queue, None)):
                number, tape = following
                running[pool.submit(_judge, tape)] = number
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()
    except BrokenProcessPool:
        raise PoolError(
            "a process was ended from outside, perhaps for want of memory: try --jobs 1"
        ) from None
    finally:
        if running:
            for child in set(multiprocessing.active_children()) - strangers:
                child.terminate()
        pool.shutdown(cancel_futures=True)


_WORK: list[Work] = []


def _begin(work: Work) -> None:
    # Ctrl-C is answered by the process that the person started; whatever ends that one, ends this.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _WORK[:] = [work]


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _judge(tape: Tape) -> tuple[Outcome, ...]:
    return _WORK[0].judge(tape)
