"""Runs jobs, each in a process of its own: `python -m tests.crash.host`, a job a line.

Processes are forked from this one, which has imported everything and has no threads.
"""

from __future__ import annotations

import os
import sys
import traceback

import msgspec

from tests.crash.story import Job, tick


def main() -> None:
    for line in sys.stdin:
        job = msgspec.json.decode(line, type=Job)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            _live(job, writer)
        os.close(writer)
        with os.fdopen(reader) as said:
            count = said.read()
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), count or 0, flush=True)


def _live(job: Job, writer: int) -> None:
    """Never returns."""
    try:
        os.write(writer, str(tick(job)).encode())
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    main()
