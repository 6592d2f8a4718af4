"""Starts a real Azurite (Table, Queue and Blob Storage) for tests, the demo and benchmarks."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO

SCRIPT = Path(__file__).parents[1] / "node_modules/azurite/dist/src/azurite.js"
ACCOUNT = "devstoreaccount1"
# Azurite's well-known development key, the same everywhere; it opens nothing else.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
_READY = re.compile(r"Azurite (Blob|Queue|Table) service is successfully listening at (\S+)")
_PATIENCE = 30.0


class AzuriteError(RuntimeError):
    """Azurite is not installed, or does not start; the text says which and what to do."""


@dataclass(frozen=True)
class Azurite:
    """Where a running Azurite listens, by service: blob, queue, table."""

    endpoints: dict[str, str]

    @property
    def connection_string(self) -> str:
        parts = "".join(f"{n.title()}Endpoint={url};" for n, url in self.endpoints.items())
        return f"DefaultEndpointsProtocol=http;AccountName={ACCOUNT};AccountKey={KEY};{parts}"


@contextmanager
def azurite() -> Iterator[Azurite]:
    """An Azurite in memory on free ports. Raises AzuriteError if it is not installed or fails."""
    node = shutil.which("node")
    if not SCRIPT.exists() or node is None:
        raise AzuriteError("Azurite is not installed: install Node 20 or later, run `make setup`")
    with tempfile.TemporaryDirectory() as directory:
        process = _start(node, directory)
        lines: list[str] = []
        assert process.stdout is not None
        reader = Thread(target=_drain, args=(process.stdout, lines), daemon=True)
        reader.start()
        try:
            yield Azurite(_wait(process, lines))
        finally:
            _stop(process)
            reader.join(timeout=5)
            process.stdout.close()


def _start(node: str, directory: str) -> subprocess.Popen[str]:
    ports = [word for name in ("blob", "queue", "table") for word in (f"--{name}Port", "0")]
    options = ["--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry"]
    return subprocess.Popen(  # noqa: S603  our own arguments, no shell
        [node, str(SCRIPT), *ports, *options],
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _drain(stream: IO[str], lines: list[str]) -> None:
    """Reads to the end, since a full pipe would stop Azurite; keeps the first lines."""
    for line in stream:
        if len(lines) < 100:
            lines.append(line)


def _wait(process: subprocess.Popen[str], lines: list[str]) -> dict[str, str]:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        ready = dict(_READY.findall("".join(lines)))
        if len(ready) == 3:
            return {name.lower(): f"{url}/{ACCOUNT}" for name, url in ready.items()}
        time.sleep(0.02)
    raise AzuriteError("Azurite did not become ready; it said:\n" + "".join(lines))


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        # It can hang after many transactions; it holds nothing that is worth a longer wait.
        process.kill()
        process.wait()
