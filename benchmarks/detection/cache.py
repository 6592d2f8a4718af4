"""Set (e): the cache hits of a real hour, cut, rewarming, dipping and cold.

All delivered rules are judged. The hour begins with an empty cache; its minutes from the tenth on
stand for a warm one and are repeated. Each story is a deployment of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.data import TRACES, columns, numbers
from benchmarks.detection.play import START, Alarm, alarms, answered, play, rulebook, series
from benchmarks.detection.score import Figure, Score
from shared.model import Change, Series

WARM, REWARMED = 10, 8
"""Minutes until the hour's cache is warm; minutes in which it fills again in a story."""
MOMENT, CUT, LENGTH = 240, 30, 420
"""Minute of a story at which it happens; how many minutes hits stay away; its length."""

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Story:
    name: str
    what: str
    rows: Rows
    """Which minute of the hour each minute plays."""
    none: tuple[int, int] = (0, 0)
    """[begin, end) of minutes without any hit."""
    changed: bool = False


def stories(rows: int) -> list[Story]:
    warm = WARM + np.arange(LENGTH) % (rows - WARM)
    cold = np.concatenate([np.arange(rows), warm])[:LENGTH]
    again = warm.copy()
    again[MOMENT : MOMENT + REWARMED] = np.arange(REWARMED)
    away = (MOMENT, MOMENT + CUT)
    return [
        Story("cut", "hits gone for 30 minutes after a change", warm, away, changed=True),
        Story("rewarming", "cold after a change, warm within 8 minutes", again, changed=True),
        Story("dip", "hits gone for 30 minutes, no change", warm, away),
        Story("cold-start", "the hour as it was, from an empty cache on", cold),
    ]


def play_all() -> tuple[list[Story], list[Alarm]]:
    table = {
        n: numbers(cells) for n, cells in columns(TRACES / "cache-match-conversation.csv").items()
    }
    told = stories(len(table["minute"]))
    found = [one for story in told for one in _series(story, table)]
    changes = tuple(
        Change("prompt_template", START + MOMENT, story.name, "score", START + MOMENT)
        for story in told
        if story.changed
    )
    judged = play(rulebook(), START, found, changes=changes)
    return told, alarms(judged, START + LENGTH)


def _series(story: Story, table: dict[str, NDArray[np.float64]]) -> list[Series]:
    hits = 100 * table["cached_tokens"][story.rows] / table["prompt_tokens"][story.rows]
    hits[slice(*story.none)] = 0.0
    prompt = table["prompt_tokens"][story.rows]
    return [
        answered(story.name, table["requests"][story.rows]),
        series(story.name, "ProcessedPromptTokens", prompt),
        series(story.name, "AzureOpenAIContextTokensCacheMatchRate", hits, "average"),
    ]


def score() -> Score:
    told, fired = play_all()
    after = {a.deployment: a.fired + 1 - START - MOMENT for a in fired}
    others = sum(alarm.deployment != "cut" for alarm in fired)
    figures = (
        Figure("minutes until the cut alerts", after.get("cut", np.inf), "at most", 20.0),
        Figure("alerts in the other stories", float(others), "at most", 0.0),
    )
    rows = [
        (story.name, story.what, f"{after[story.name]} min" if story.name in after else "silent")
        for story in told
    ]
    return Score("e", "cache", figures, ("story", "what happens", "alert"), tuple(rows))
