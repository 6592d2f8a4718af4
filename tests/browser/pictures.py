"""Makes docs/cards.png and docs/cards-dark.png of the cards of a demo:

tokenwatch demo; python -m tests.browser.pictures
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from emulator.inbox import page
from tests.browser.chromium import ROOT, draw

CARDS = {"01.json": "2026-11-24T08:53:00Z", "02.json": "2026-11-24T09:47:00Z"}
"""The demo's first alert, firing and resolved, and when they were posted."""


def main() -> None:
    folder = ROOT / "demo-out/cards"
    shown = [
        {**json.loads((folder / name).read_text("utf-8")), "received": time, "channel": "llm-ops"}
        for name, time in CARDS.items()
    ]
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "cards.html")
        path.write_text(page(shown), encoding="utf-8")
        draw(
            [
                {
                    "url": path.as_uri(),
                    "width": 760,
                    "scheme": scheme,
                    "picture": {"path": str(ROOT / "docs" / name), "articles": [0, 1], "scale": 1},
                }
                for scheme, name in (("light", "cards.png"), ("dark", "cards-dark.png"))
            ]
        )


if __name__ == "__main__":
    main()
