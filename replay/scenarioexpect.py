"""Lines such as `10m..15m: fired` -> expectations."""

from __future__ import annotations

import re
from typing import get_args

from replay.scenario import Expectation, Word
from shared.engine.evaluate import Reason
from shared.engine.lifecycle import Ending
from shared.rulebook.problems import ExpressionError, nearest
from shared.rulebook.units import parse_minutes

EVENTS = ("fired", "reminded", "resolved")
STATES = ("inactive", "pending", "firing")
VERDICTS = ("breach", "clear", "between", "unknown", "not judged")
REASONS = tuple(reason.words for reason in Reason if reason is not Reason.NONE)
ENDINGS = ("recovered", "no traffic", "too little traffic", "vanished", *get_args(Ending))
_DETAILS = {"unknown": REASONS, "resolved": ENDINGS}
ALWAYS, NEVER, END = "always", "never", "end"


def parse_line(rule: str, time: str, what: str, length: int) -> Expectation:
    """One line of `expect`; `length` is how many minutes the scenario lasts.

    Raises:
        ExpressionError: with the cure.
    """
    words = parse_words(what)
    if time in (ALWAYS, NEVER):
        begin, end = 0, length - 1
    else:
        begin, end = parse_span(time, length)
    made = Expectation(rule, begin, end, words, time == NEVER, time)
    events = {word.kind == "event" for word in words}
    if time == ALWAYS and True in events:
        raise ExpressionError(f"{what} happens in one minute, not always", "Say when: 10m..15m.")
    if len(events) == 2 and end > begin and not made.never:
        cure = f"Write them in lines of their own, e.g. {begin}m..{end - 1}m for one of them."
        raise ExpressionError(f"{what}: an event comes once, the rest holds throughout", cure)
    return made


def parse_span(text: str, length: int) -> tuple[int, int]:
    """`12m` -> (12, 12), `10m..15m` -> (10, 15), `60m..end`.

    Raises:
        ExpressionError: it is no time, or lies after the end.
    """
    first, dots, last = (part.strip() for part in text.partition(".."))
    begin = _minute(first, length)
    end = _minute(last, length) if dots else begin
    if begin > end:
        raise ExpressionError(f"{text} ends before it begins", f"Write {last}..{first}.")
    if end >= length:
        cure = f"Its last minute is {length - 1}m; lasts: makes it longer."
        raise ExpressionError(f"{text} lies after the end of the scenario", cure)
    return begin, end


def _minute(text: str, length: int) -> int:
    if text == END:
        return length - 1
    try:
        if not re.search("[a-z]", text):
            raise ValueError(f"{text!r} is no duration like 5m or 2h")
        return parse_minutes(text)
    except ValueError as error:
        cure = "A time is written like 12m, 10m..15m, 60m..end, always or never."
        raise ExpressionError(str(error), cure) from None


def parse_words(text: str) -> tuple[Word, ...]:
    """`firing, breach`; `unknown, too little traffic`; `resolved, recovered`.

    Raises:
        ExpressionError: with the cure.
    """
    words: list[Word] = []
    for name in filter(None, (part.strip() for part in text.split(","))):
        last = words[-1] if words else None
        if last and not last.detail and name in _DETAILS.get(last.name, ()):
            words[-1] = Word(last.kind, last.name, name)
        else:
            words.append(_word(name))
    if not words:
        raise ExpressionError("nothing is expected here", "Write e.g. fired, pending or clear.")
    return tuple(words)


def _word(name: str) -> Word:
    if name in EVENTS:
        return Word("event", name)
    if name in STATES:
        return Word("state", name)
    if name in VERDICTS:
        return Word("verdict", name)
    if name in REASONS:
        raise ExpressionError(f"{name} is why, not what", f"Write unknown, {name}.")
    if name in ENDINGS:
        raise ExpressionError(f"{name} is how it ends, not what", f"Write resolved, {name}.")
    known = (*EVENTS, *STATES, *VERDICTS, *REASONS, *ENDINGS)
    cure = nearest(name, known, "words") or f"One of: {', '.join(known[:11])}."
    raise ExpressionError(f"nothing is called {name!r}", cure)
