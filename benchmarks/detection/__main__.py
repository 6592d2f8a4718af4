"""`python -m benchmarks.detection [SET ...]`: scores the rules, exit code 1 if a target is missed.

With all sets it writes the tables of docs/detection.md as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from rich.console import Console

from benchmarks.detection import cache, cloud, day, grid, load_runs, nab
from benchmarks.detection.report import PAGE, show, written
from benchmarks.detection.score import Score

SETS: Mapping[str, Callable[[], Score]] = {
    "a": cloud.score,
    "b": load_runs.score,
    "c": grid.score,
    "d": day.score,
    "e": cache.score,
    "f": nab.score,
}


def main(keys: Sequence[str]) -> int:
    console = Console()
    if unknown := [key for key in keys if key not in SETS]:
        console.print(f"no score set {', '.join(unknown)}; there are {', '.join(SETS)}")
        return 2
    scores = []
    for key in keys or SETS:
        with console.status(f"score set {key}"):
            scores.append(SETS[key]())
    show(scores, console)
    if not keys:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(written(page, scores), encoding="utf-8")
    return int(any(figure.missed for score in scores for figure in score.figures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
