"""These tests need promtool, Prometheus's own rule engine on the command line."""

from __future__ import annotations

import pytest

from tests.prometheus.theirs import missing


@pytest.fixture(scope="session", autouse=True)
def promtool() -> None:
    if problem := missing():
        pytest.skip(problem)
