"""What has to be known to read the numbers of a backtest right. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from replay.backtest import Outcome, Span
from replay.recorded import Recorded
from replay.recordgaps import described, joined
from replay.recordplan import LEAD_IN, spell
from shared.engine.evaluate import Reason
from shared.rulebook.ast import BeforeChange
from shared.rulebook.rules import Rule, Rulebook


def notes_of(recorded: Recorded, book: Rulebook, span: Span, learning: int) -> list[str]:
    """What has to be known to read the numbers right."""
    notes = [*_short_of_history(book, span, learning), *_missing(recorded, book)]
    gaps = described(joined(recorded.gaps))
    notes += [f"could not be read, and is `query failed`: {gap}" for gap in gaps]
    if any(_regional(rule) for rule in book.rules) and not recorded.regions:
        notes.append(
            "the recording does not say in which regions its accounts lie, and rules ask for it: "
            "set TOKENWATCH_ACCOUNTS"
        )
    return notes


def _short_of_history(book: Rulebook, span: Span, learning: int) -> Iterator[str]:
    fitted = [rule.name for rule in book.rules if _of_two_weeks(rule)]
    if fitted and span.lead_in < LEAD_IN:
        yield (
            f"{spell(span.lead_in)} of history lie before the first judged minute, and a full "
            f"baseline takes {spell(LEAD_IN)}: {', '.join(fitted)} had less to go by at first, and "
            f"{learning:,} verdicts are `learning`"
        )


def _of_two_weeks(rule: Rule) -> bool:
    """Whether it compares with a baseline; the hour before a change takes no lead-in."""
    return any(not isinstance(node, BeforeChange) for node in rule.asked)


def _missing(recorded: Recorded, book: Rulebook) -> Iterator[str]:
    for component in recorded.missing(book.needed):
        users = [r.name for r in book.rules if component in book.components(*r.signals)]
        yield (
            f"the recording has no {component}, which {', '.join(users) or 'a summary'} needs: "
            "record it again with these rules"
        )


def _regional(rule: Rule) -> bool:
    return bool(rule.scope.regions) or any(o.scope.regions for o in rule.overrides)


def learning_of(outcomes: Iterable[Outcome]) -> int:
    return sum(counts[Reason.LEARNING.words] for o in outcomes for counts in o.tally.values())
