"""History comes into a file whole, whatever happens on the way."""

from __future__ import annotations

import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from cli.sources import WORLDS
from emulator.faults import ErrorCode, Fault, Hang, Status, WrongCase
from emulator.recordingfile import read
from emulator.tape import Tape
from emulator.world import World
from replay.record import UnfinishedError
from replay.recorded import about_of, load
from replay.recordgaps import Gap, described, joined
from replay.recordparts import Parts
from replay.recordplan import DAY, LEAD_IN, Asked, RecordError, components_of, order_of, pieces
from shared.build import credential
from shared.model import Account, slot_of
from shared.monitor.client import Client
from shared.rulebook.load import load as load_rules
from tests.pipeline.story import START, Deployment, recording, rule, rules_folder
from tests.replay.azure import BOOK, Azure, Patient, azure, command, started, variables

MINUTES = 2 * DAY + 100
NOW = datetime(2026, 12, 1, 12, 0, 30, tzinfo=UTC)
SLOT = slot_of(NOW)
HERE = Account("/subscriptions/s/resourcegroups/g/providers/p/accounts/a", "swedencentral")
OTHER = (
    "/subscriptions/00000000-0000-0000-0000-000000000009/resourceGroups/rg-story/providers/"
    "Microsoft.CognitiveServices/accounts/other"
)


@pytest.fixture
def there() -> Iterator[Azure]:
    """Two accounts; the second has a deployment that throttles for a while and one that is new."""
    busy = Deployment(MINUTES, "busy", OTHER).set("throttled", 3, 500, 900).silent(1200, 1300)
    new = Deployment(MINUTES, "New", OTHER).silent(0, DAY + 50)
    with azure(recording(Deployment(MINUTES), busy, new)) as running:
        yield running


def asked(there: Azure) -> Asked:
    return there.asked(START + 60, START + MINUTES, lead_in=60)


def content(path: Path) -> dict[tuple[str, str], Tape]:
    return {(tape.account.casefold(), tape.deployment): tape for tape in read(path)}


def same(left: Tape, right: Tape) -> bool:
    columns = [{c: v for c, v in t.columns.items() if not np.isnan(v).all()} for t in (left, right)]
    return columns[0].keys() == columns[1].keys() and all(
        np.array_equal(columns[0][c], columns[1][c], equal_nan=True) for c in columns[0]
    )


def test_every_point_is_recorded(there: Azure, tmp_path: Path) -> None:
    """The file holds the numbers that Azure Monitor had, and says what it is."""
    out = tmp_path / "a.parquet"
    about = there.record(out, asked(there))
    found = content(out)
    for account, tracks in there.source.tracks.items():  # type: ignore[attr-defined]
        for track in tracks:
            tape = found[account, track.deployment]
            assert tape.begin == START + (DAY + 50 if track.deployment == "New" else 0)
            for component, values in tape.columns.items():
                wanted = track.columns.get(component, np.full(MINUTES, np.nan))
                assert np.array_equal(values, wanted[-len(values) :], equal_nan=True), component
    assert about_of(out) == about
    assert (about.begin, about.first, about.end) == (START, START + 60, START + MINUTES)
    assert {account.region for account in about.accounts} == {"swedencentral"}
    assert not list(tmp_path.glob("*.part"))


def test_csv_holds_the_same(there: Azure, tmp_path: Path) -> None:
    """CSV is for people and other programs; the points are those of the Parquet file."""
    there.record(tmp_path / "a.parquet", asked(there))
    there.record(tmp_path / "a.csv", asked(there))
    left, right = content(tmp_path / "a.parquet"), content(tmp_path / "a.csv")
    assert left.keys() == right.keys()
    assert all(same(left[key], right[key]) for key in left)


def test_an_interrupted_recording_goes_on(there: Azure, tmp_path: Path) -> None:
    """Stopped after any piece, the next run asks only for the rest, and the bytes are the same."""
    there.record(tmp_path / "whole.parquet", asked(there))
    out = tmp_path / "a.parquet"
    for n in (1, 2):
        with pytest.raises(KeyboardInterrupt):
            there.record(out, asked(there), Patient(stop_after=1))
        assert len(list(Parts.beside(out).folder.glob("*.parquet"))) == n
        assert not out.exists()
    last = Patient()
    there.record(out, asked(there), last)
    assert last.pieces == 1, "three days, of which two are there"
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    """`kill -9` in the middle of a day: the command goes on, and the bytes are the same."""
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    world = World.load(WORLDS / "small.yaml", now - timedelta(days=3))
    begin = (now - timedelta(days=3)).strftime("%Y-%m-%dT%H:%M")
    until = (now - timedelta(hours=5)).strftime("%Y-%m-%dT%H:%M")
    with azure(world) as there:
        there.server.clock.set(now)

        def words(name: str) -> list[str]:
            span = ["--from", begin, "--to", until, "--lead-in", "0"]
            return ["record", *span, "--out", str(tmp_path / name)]

        done = command(*words("whole.parquet"), environment=there.settings)
        assert done.returncode == 0, done.stderr
        there.server.faults.set(Fault(effect=Hang(seconds=0.3)))
        process = subprocess.Popen(started(*words("a.parquet")), env=variables(there.settings))
        while not list((tmp_path / "a.parquet.part").glob("00001.parquet")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        there.server.faults.set()
        assert not (tmp_path / "a.parquet").exists()
        again = command(*words("a.parquet"), environment=there.settings)
    assert again.returncode == 0, again.stderr
    assert "pieces are there" in again.stderr
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_throttling_is_waited_for(there: Azure, tmp_path: Path) -> None:
    """Twenty answers of 429 in a row cost time and no point."""
    there.server.faults.set(Fault(effect=Status(status=429), calls=(1, 20)))
    patient = Patient()
    out = tmp_path / "a.parquet"
    there.record(out, asked(there), patient)
    assert any("429" in reason for reason in patient.waits)
    there.server.faults.set()
    there.record(tmp_path / "b.parquet", asked(there))
    assert out.read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_one_throttled_metric_is_asked_again_alone(there: Azure, tmp_path: Path) -> None:
    """`Throttled` inside a 200, of one account: what succeeded is not asked a second time."""
    fault = Fault(
        effect=ErrorCode(code="Throttled"), account="other", metric="GeneratedTokens", calls=(1, 3)
    )
    there.server.faults.set(fault)
    about = there.record(tmp_path / "a.parquet", asked(there), patient := Patient())
    assert len(patient.waits) == 1
    assert not about.gaps
    again, after = there.server.log[3:5]
    assert again.query["metricnames"] == "GeneratedTokens"
    assert again.body.count(b"/accounts/") == 1
    assert after.query["starttime"] > again.query["starttime"]


def test_a_network_that_stays_dead_ends_it(there: Azure, tmp_path: Path) -> None:
    """Nobody answers, try after try: the reason is said, and what was fetched stays."""
    out = tmp_path / "a.parquet"
    with pytest.raises(KeyboardInterrupt):
        there.record(out, asked(there), Patient(stop_after=1))
    alive, there.client = there.client, Client("http://127.0.0.1:9/{region}", credential)
    there.client.backoff = 0.001
    with pytest.raises(UnfinishedError, match="cannot be reached"):
        there.record(out, asked(there))
    there.client = alive
    assert not there.record(out, asked(there)).gaps


def test_a_failed_account_keeps_the_file_from_being_written(there: Azure, tmp_path: Path) -> None:
    """Missing is not idle: without --allow-gaps there is no file, and each failure has its name."""
    out = tmp_path / "a.parquet"
    there.server.faults.set(Fault(effect=ErrorCode(code="Forbidden"), account="other"))
    with pytest.raises(UnfinishedError) as failed:
        there.record(out, asked(there))
    lines = described(failed.value.gaps)
    assert any(line.startswith("other: AzureOpenAIRequests from ") for line in lines)
    assert not any(line.startswith("story:") for line in lines)
    assert all("Forbidden" in line for line in lines)
    assert not out.exists()
    calls = len(there.server.log)
    about = there.record(out, asked(there), allow_gaps=True)
    assert len(there.server.log) == calls, "nothing need be asked again"
    assert {gap.account for gap in about.gaps} == {OTHER.casefold()}
    assert load(out).gaps == about.gaps
    out.unlink()
    there.server.faults.set()
    assert not there.record(out, asked(there)).gaps, "once it is mended all is there"


def test_gaps_in_words() -> None:
    """One line an account, time and reason; metrics beyond three are counted."""
    gaps = [Gap("a/x", f"M{n}", "total", 0, 1440, "no role") for n in range(5)]
    gaps += [Gap("a/y", "M1", "total", 1440 * day, 1440 * (day + 1), "why") for day in range(3)]
    assert described(joined(gaps)) == [
        "x: M0, M1, M2 +2 from 1970-01-01T00:00:00Z to 1970-01-02T00:00:00Z: no role",
        "y: M1 from 1970-01-01T00:00:00Z to 1970-01-04T00:00:00Z: why",
    ]
    assert described(gaps[5:], most=1)[-1] == "and 2 more"


def test_what_failed_for_good_is_not_asked_every_day(there: Azure, tmp_path: Path) -> None:
    """A missing role is the same on the next day of history."""
    there.server.faults.set(Fault(effect=ErrorCode(code="Forbidden"), account="other"))
    with pytest.raises(UnfinishedError):
        there.record(tmp_path / "a.parquet", asked(there))
    asking = [line for line in there.server.log if b"other" in line.body]
    assert len({line.query["starttime"] for line in asking}) == 1


def test_names_in_changing_case_are_one_deployment(there: Azure, tmp_path: Path) -> None:
    """Azure changes the case of names from answer to answer; the first spelling stays."""
    out = tmp_path / "a.parquet"
    there.server.faults.set(Fault(effect=WrongCase(), calls=(3, 5)))
    there.record(out, asked(there))
    names = [tape.deployment for tape in read(out)]
    assert len(names) == len({name.casefold() for name in names}) == 3


def test_two_at_one_file_are_refused(there: Azure, tmp_path: Path) -> None:
    """While one run records, another on the same file ends at once and says why."""
    out = tmp_path / "a.parquet"
    with (
        Parts.beside(out).alone(),
        pytest.raises(RecordError, match="another run of tokenwatch"),
    ):
        there.record(out, asked(there))
    there.record(out, asked(there))


def test_something_else_under_the_same_name_is_refused(there: Azure, tmp_path: Path) -> None:
    """A begun recording of another time is neither continued nor overwritten."""
    out = tmp_path / "a.parquet"
    with pytest.raises(KeyboardInterrupt):
        there.record(out, asked(there), Patient(stop_after=1))
    with pytest.raises(RecordError, match="was begun for other times"):
        there.record(out, there.asked(START + 120, START + MINUTES))
    there.record(out, asked(there))
    with pytest.raises(RecordError, match="is there already"):
        there.record(out, asked(there))


@pytest.mark.parametrize(("name", "gaps"), [("a.json", False), ("a", False), ("a.csv", True)])
def test_a_file_that_cannot_hold_it_is_refused(
    there: Azure, tmp_path: Path, name: str, gaps: bool
) -> None:
    """Only Parquet and CSV; and CSV cannot say what is missing."""
    with pytest.raises(RecordError, match=r"\.parquet"):
        there.record(tmp_path / name, asked(there), allow_gaps=gaps)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_said_and_loses_nothing(tmp_path: Path) -> None:
    """A part that cannot be written ends it with exit code 1; with room it goes on."""
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    world = World.load(WORLDS / "small.yaml", now - timedelta(hours=20))
    begin = (now - timedelta(hours=20)).strftime("%Y-%m-%dT%H:%M")
    words = ["record", "--from", begin, "--lead-in", "0", "--out", str(tmp_path / "a.parquet")]
    with azure(world) as there:
        there.server.clock.set(now)
        limited = subprocess.run(
            started(*words),
            # A module that is compiled meanwhile would be cut off as well, and stay so.
            env={**variables(there.settings), "PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000)),
            capture_output=True,
            text=True,
            check=False,
        )
        assert limited.returncode == 1
        assert "cannot be written: File too large; run the same command again" in limited.stderr
        done = command(*words, environment=there.settings)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.parquet").exists()


def test_no_point_at_all_is_no_recording(there: Azure, tmp_path: Path) -> None:
    """Accounts without a deployment in that time are said, and nothing is left behind."""
    with pytest.raises(RecordError, match="no point of any deployment"):
        there.record(tmp_path / "a.parquet", there.asked(START - 500, START - 100))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("first", "end", "lead_in", "wanted", "note"),
    [
        (SLOT - 3000, SLOT - 2000, 0, (SLOT - 3000, SLOT - 3000, SLOT - 2000), ""),
        (SLOT - 3000, SLOT - 2000, 100, (SLOT - 3105, SLOT - 3000, SLOT - 2000), ""),
        (SLOT - 3000, None, 0, (SLOT - 3000, SLOT - 3000, SLOT - 3), ""),
        (SLOT - 3000, SLOT, 0, (SLOT - 3000, SLOT - 3000, SLOT - 3), "not settled yet"),
        (
            SLOT - 92 * DAY,
            SLOT - 80 * DAY,
            LEAD_IN,
            (SLOT - 93 * DAY + 60, SLOT - 92 * DAY, SLOT - 80 * DAY),
            "the lead-in is 23 h instead of 14 d",
        ),
        (
            SLOT - 99 * DAY,
            SLOT - 80 * DAY,
            0,
            (SLOT - 93 * DAY + 60, SLOT - 93 * DAY + 60, SLOT - 80 * DAY),
            "it begins at 2026-08-30T13:00:00Z",
        ),
    ],
)
def test_what_can_be_recorded(
    first: int, end: int | None, lead_in: int, wanted: tuple[int, int, int], note: str
) -> None:
    """Azure keeps 93 days and the newest minutes are not settled: what is left out is said."""
    order = order_of(Asked((HERE,), BOOK.needed, first, end, lead_in), NOW)
    assert (order.begin, order.first, order.end) == wanted
    assert note in " ".join(order.notes)
    assert bool(note) == bool(order.notes)


@pytest.mark.parametrize(
    ("first", "end", "why"),
    [
        (SLOT - 10, SLOT - 10, "is not after"),
        (SLOT - 2, None, "newest settled minute"),
        (SLOT - 100 * DAY, SLOT - 95 * DAY, "keeps 93 days"),
    ],
)
def test_what_cannot_be_recorded(first: int, end: int | None, why: str) -> None:
    """Where nothing is left to record, that is said before anything is asked."""
    with pytest.raises(RecordError, match=why):
        order_of(Asked((HERE,), BOOK.needed, first, end), NOW)


def test_pieces_keep_to_the_limits() -> None:
    """A day of a few accounts of one region at a time, in the order of time."""
    accounts = tuple(
        Account(f"/subscriptions/s/resourcegroups/g/providers/p/accounts/{n}", region)
        for region in ("eastus2", "swedencentral")
        for n in range(7)
    )
    every = pieces(order_of(Asked(accounts, BOOK.needed, SLOT - 3000, SLOT - 1000, 0), NOW))
    assert [piece.number for piece in every] == list(range(len(every)))
    assert max(piece.steps for piece in every) == DAY
    assert max(len(piece.accounts) for piece in every) <= 50
    assert all(len({account.region for account in piece.accounts}) == 1 for piece in every)
    assert sum(piece.steps * len(piece.accounts) for piece in every) == 2000 * len(accounts)


def test_only_what_the_rules_need_is_asked(tmp_path: Path) -> None:
    """One rule over utilization: requests by status code and that, nothing else."""
    folder = rules_folder(tmp_path, rule("Full", "utilization >= 100%"))
    names = [str(component) for component in components_of(load_rules(folder))]
    assert names == [
        "AzureOpenAIProvisionedManagedUtilizationV2:average",
        "AzureOpenAIRequests:total",
        "AzureOpenAIRequests:total[StatusCode=2xx]",
    ]


def test_an_average_in_two_splits_is_refused(tmp_path: Path) -> None:
    """A whole and a part of an average cannot be told apart in one recording."""
    signals = """
  respond: {metric: AzureOpenAITimeToResponse, aggregation: average, unit: ms}
  respond_ok: {metric: AzureOpenAITimeToResponse, aggregation: average, where: {StatusCode: "200"},
    unit: ms}
"""
    rules = [rule("Slow", "respond > 9s"), rule("SlowToo", "respond_ok > 9s")]
    folder = rules_folder(tmp_path, *rules, signals=signals)
    with pytest.raises(RecordError, match="whole and by StatusCode"):
        components_of(load_rules(folder))


def test_record_asks_for_neither_state_nor_webhook(tmp_path: Path) -> None:
    """Without accounts the one setting that is needed is named, and no other."""
    words = ["record", "--from", "2026-11-01", "--out", str(tmp_path / "a.parquet")]
    failed = command(*words)
    assert failed.returncode == 2
    assert "TOKENWATCH_ACCOUNTS" in failed.stderr
    assert "WEBHOOK" not in failed.stderr
    assert "STATE" not in failed.stderr
