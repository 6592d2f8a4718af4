"""Where recordings are kept from one backtest to the next."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from replay.recordplan import Asked

FORGOTTEN = 30 * 24 * 3600
"""Seconds after which a file is deleted."""


def kept_as(asked: Asked, variables: Mapping[str, str], *, allow_gaps: bool) -> Path:
    """The file for what is asked, whether it is there or not; old ones are deleted."""
    folder = Path(variables.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tokenwatch"
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.parquet"):
        if time.time() - path.stat().st_mtime > FORGOTTEN:
            path.unlink(missing_ok=True)
    name = hashlib.sha256(msgspec.json.encode(asked)).hexdigest()[:16]
    return folder / f"{name}{'-gaps' * allow_gaps}.parquet"
