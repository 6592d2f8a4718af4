"""Prints the last section of docs/operations.md: `python -m tests.worker.transcript`, on 3.13.

Each command is run by bash, against the app's functions in the real language worker library.
"""

from __future__ import annotations

import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from textwrap import indent

from emulator.azurite import KEY, azurite
from tests.pipeline.story import scene
from tests.worker.app import present, running, settings_of

HEAD = """\
## The endpoints, as curl sees them

Recorded by `python -m tests.worker.transcript`: bash ran each command, curl is curl, and the
functions ran in the language worker library of Azure Functions (`azure-functions-runtime`, Python
3.13), with state in Azurite and metrics from the emulator. The Functions host was not there:
`tests/worker/serve.py` stood in for it, translates HTTP and nothing else, and asks for no key. In
Azure, `$APP` is `https://NAME.azurewebsites.net`, and `POST /api/changes` needs the header
`x-functions-key`.
"""
JSON = "-H 'content-type: application/json'"
CHANGES = f"curl -si $APP/api/changes {JSON}"
HEALTH = "curl -si $APP/api/health"
TIMER = '{"Schedule":{"AdjustForDST":true},"ScheduleStatus":null,"IsPastDue":true}'
LIVE = (
    ("Before the first tick nothing was judged", HEALTH),
    ("A tick, as the timer starts it", f"curl -si $APP/admin/functions/judge -d '{TIMER}'"),
    ("After it, all is well; an answer is given again for five seconds", f"sleep 5; {HEALTH}"),
    (
        "A change is recorded",
        f"""{CHANGES} -d '{{"kind": "prompt_template", "deployment": "chat-*",
  "reference": "pull request 118", "time": "'$TIME'"}}'""",
    ),
    (
        "The same again is there already",
        f"""{CHANGES} -d '{{"kind": "prompt_template", "deployment": "chat-*",
  "reference": "pull request 118", "time": "'$TIME'"}}'""",
    ),
    (
        "For every deployment of an account, now",
        f"""{CHANGES} -d '{{"kind": "capacity", "account": "story", "reference": "more PTUs"}}'""",
    ),
    (
        "Every problem is named at once, and nothing is recorded",
        f"""{CHANGES} -d '{{"kind": "promt_template", "deployment": "a/b/c", "account": "story",
  "time": "yesterday", "who": "me"}}'""",
    ),
    (
        "Wrong types",
        f"""{CHANGES} -d '{{"kind": 1, "deployment": ["chat"], "reference": null}}'""",
    ),
    (
        "Not yet",
        f"""{CHANGES} -d '{{"kind": "other", "deployment": "chat", "reference": "x",
  "time": "2999-01-01T00:00:00Z"}}'""",
    ),
    ("No JSON", f"{CHANGES} -d '{{\"kind\": '"),
    ("No object", f"{CHANGES} -d '[]'"),
    ("Not said to be JSON", "curl -si $APP/api/changes -d '{}'"),
    ("Too large", f"head -c 9000 /dev/zero | {CHANGES} --data-binary @-"),
)
GONE = (
    ("The state cannot be reached: health", HEALTH),
    (
        "The state cannot be reached: a change",
        f"""{CHANGES} -d '{{"kind": "other", "deployment": "chat", "reference": "x"}}'""",
    ),
)


def told(title: str, command: str, url: str, time: str) -> str:
    """The command and what it printed."""
    done = subprocess.run(
        ["bash", "-c", command],
        env={"APP": url, "TIME": time, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    answer = done.stdout.replace("\r\n", "\n").strip()
    return f"\n### {title}\n\n" + indent(f"$ {command}\n{answer}", "    ")


def main() -> None:
    now = datetime.now(UTC)
    time = now.strftime("%Y-%m-%dT%H:%M:00Z")
    with (
        tempfile.TemporaryDirectory() as folder,
        azurite() as storage,
        scene(present(now), Path(folder)) as azure,
    ):
        azure.server.clock.set(now)
        print(HEAD, end="")
        settings = settings_of(azure, f"table:{storage.connection_string}")
        with running(Path(folder) / "log", settings) as app:
            for title, command in LIVE:
                print(told(title, command, app.url, time))
        nowhere = f"DefaultEndpointsProtocol=http;AccountName=a;AccountKey={KEY};"
        settings["TOKENWATCH_STATE"] = f"table:{nowhere}TableEndpoint=http://127.0.0.1:9/a;"
        with running(Path(folder) / "log", settings) as app:
            for title, command in GONE:
                print(told(title, command, app.url, time))


if __name__ == "__main__":
    main()
