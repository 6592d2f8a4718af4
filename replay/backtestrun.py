"""A backtest from beginning to end: who is judged over what, and what is reported of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from replay.backtest import Outcome, Span
from replay.backtestpool import Reached, Work, judge_all
from replay.compare import Comparison, compare
from replay.recorded import Recorded
from replay.report import Report, report
from replay.reportnotes import learning_of, notes_of
from shared.model import Change, Slot, iso
from shared.rulebook.rules import Rulebook


class SpanError(Exception):
    """There is nothing to judge in that time; the text says what there is."""


@dataclass(frozen=True)
class Against:
    """The rules before a change, and how they were asked for."""

    reference: str
    rulebook: Rulebook


@dataclass(frozen=True)
class Found:
    report: Report
    outcomes: Sequence[Outcome]
    comparison: Comparison | None = None


def span_of(recorded: Recorded, first: Slot | None, end: Slot | None) -> Span:
    """What is judged: all after the lead-in unless said otherwise.

    Raises:
        SpanError: the recording does not reach so far.
    """
    begin = recorded.first if first is None else first
    after = recorded.end if end is None else end
    if not recorded.begin <= begin < after <= recorded.end:
        raise SpanError(
            f"the recording covers {iso(recorded.begin)} to {iso(recorded.end)}: choose --from and "
            "--to within it"
        )
    return Span(recorded.begin, begin, after - 1)


def run(
    recorded: Recorded,
    book: Rulebook,
    span: Span,
    changes: tuple[Change, ...],
    against: Against | None,
    jobs: int,
    curves: int,
    reached: Reached,
) -> Found:
    """Judges all of a recording, under the old rules too where there are any to compare with."""
    books = (book, *([against.rulebook] if against else []))
    both = judge_all(Work(books, recorded, span, changes, curves), jobs, reached)
    new, *rest = ([outcomes[n] for outcomes in both] for n in range(len(books)))
    found = _report(recorded, book, new, span)
    if not against:
        return Found(found, new)
    (old,) = rest
    before = _report(recorded, against.rulebook, old, span)
    broken = [str(problem) for problem in against.rulebook.errors]
    notes = [f"{against.reference}: {text}; it costs the old rules this one" for text in broken]
    notes += [f"{against.reference}: {n}" for n in before.notes if n not in found.notes]
    comparison = compare(against.reference, (before, old), (found, new), notes)
    return Found(found, new, comparison)


def _report(recorded: Recorded, book: Rulebook, outcomes: Sequence[Outcome], span: Span) -> Report:
    return report(book, outcomes, span, notes_of(recorded, book, span, learning_of(outcomes)))
