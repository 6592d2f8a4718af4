"""Recordings: read as written, exact at coarser grains, clear about what is wrong."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from emulator.convert import ACCOUNT, EXPORT, RECORDING, portal_export
from emulator.recording import Recording
from emulator.recordingfile import Component, RecordingError, Tape, read, write, write_tapes
from emulator.source import Source, reduce

ROOT = Path(__file__).parents[2]
TTLT = "AzureOpenAITTLTInMS"
HEAD = f"time,account,deployment,{TTLT}:average,AzureOpenAIRequests:total[StatusCode=200]"


def given(tmp_path: Path, *rows: str, head: str = HEAD) -> Path:
    path = tmp_path / "recording.csv"
    path.write_text("\n".join([head, *rows]).replace("ID", ACCOUNT) + "\n")
    return path


def refused(path: Path) -> str:
    """What is said of a file that cannot be read."""
    with pytest.raises(RecordingError) as error:
        Recording.load(path)
    return str(error.value)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_recording_comes_back_as_it_was_written(tmp_path: Path, suffix: str) -> None:
    """CSV and Parquet hold the same minutes, gaps included."""
    table = portal_export(EXPORT)
    path = tmp_path / f"one.{suffix}"
    write(table, path)
    source: Source = Recording.load(path)
    (series,) = source.series(ACCOUNT, TTLT, "average", source.start, source.start + 1439)
    expected = table[f"{TTLT}:average"].to_numpy()
    np.testing.assert_array_equal(series.values, np.asarray(expected, dtype=float))
    assert series.dimensions == {"ModelDeploymentName": "recorded-ptu"}


def test_parquet_may_hold_times_as_times(tmp_path: Path) -> None:
    """A timestamp column means the same as its text."""
    table = portal_export(EXPORT)
    column = pa.compute.strptime(table["time"], "%Y-%m-%dT%H:%M:%SZ", "ms")
    path = tmp_path / "times.parquet"
    write(table.set_column(0, "time", column), path)
    assert Recording.load(path).start == Recording.load(RECORDING).start


def test_the_shipped_recording_is_the_export_converted() -> None:
    """361 of 1,439 minutes have a latency, exactly those with calls; the rest are zeros."""
    recording = Recording.load(RECORDING)
    assert recording.end - recording.start == 1439
    (ttlt,) = recording.series(ACCOUNT, TTLT, "average", recording.start, recording.end)
    ok, failed = recording.series(
        ACCOUNT, "AzureOpenAIRequests", "total", recording.start, recording.end
    )
    assert (~np.isnan(ttlt.values)).sum() == 361
    np.testing.assert_array_equal(~np.isnan(ttlt.values), ok.values + failed.values > 0)
    assert [one.dimensions["StatusCode"] for one in (ok, failed)] == ["200", "500"]


def test_averages_weigh_by_the_requests_of_the_row(tmp_path: Path) -> None:
    """Where the row tells its requests they weigh; where it does not, it weighs 1."""
    path = given(
        tmp_path,
        "2026-01-01T00:00:00Z,ID,d,100,3",
        "2026-01-01T00:01:00Z,ID,d,200,1",
        "2026-01-01T00:02:00Z,ID,d,,",
        "2026-01-01T00:03:00Z,ID,d,500,",
    )
    recording = Recording.load(path)
    (series,) = recording.series(
        ACCOUNT.upper(), TTLT, "average", recording.start, recording.start + 4
    )
    np.testing.assert_allclose(reduce("average", [series], 2), [125, 500])


def test_minutes_outside_a_recording_have_no_points(tmp_path: Path) -> None:
    """Any range may be asked; gaps between rows are gaps."""
    path = given(tmp_path, "2026-01-01T00:00:00Z,ID,d,100,3", "2026-01-01T00:02:00Z,ID,d,300,1")
    recording = Recording.load(path)
    (series,) = recording.series(ACCOUNT, TTLT, "average", recording.start - 1, recording.start + 4)
    np.testing.assert_array_equal(series.values, [np.nan, 100, np.nan, 300, np.nan])


FINE = "2026-01-01T00:00:00Z,ID,d,100,3"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("2026-01-01T00:01:00Z,ID,d,fast,1", f"line 3, column {TTLT}:average: 'fast' is no number"),
        ("2026-01-01T00:01:00Z,ID,d,nan,1", f"line 3, column {TTLT}:average: nan is no value"),
        ("2026-01-01T00:01:00Z,ID,d,1,-inf", "line 3, column AzureOpenAIRequests:total"),
        ("2026-01-01T00:01:00Z,ID,d,-3,1", f"line 3, column {TTLT}:average: -3.0 is no value"),
        ("2026-01-01T00:01:00Z,ID,d,1e999,1", "inf is no value of a metric: a value is a number"),
        ("2026-01-01T00:01:00+01:00,ID,d,1,1", "line 3, column time"),
        (
            "2026-01-01T00:01:30Z,ID,d,1,1",
            "line 3, column time: '2026-01-01T00:01:30Z' is no whole",
        ),
        ("2026-01-32T00:01:00Z,ID,d,1,1", "line 3, column time"),
        ("1926-01-01T00:01:00Z,ID,d,1,1", "line 3, column time"),
        (",ID,d,1,1", "line 3, column time: an empty cell is no"),
        ("2026-01-01T00:01:00Z,ID,d,1", "line 3: 4 cells instead of 5"),
        ("2026-01-01", "line 3: 1 cell instead of 5"),
        (
            "2026-01-01T00:00:00Z,ID,D,1,1",
            "line 3, column time: 2026-01-01T00:00:00Z of D is given",
        ),
        ("2026-01-01T00:01:00Z,,d,1,1", "line 3, column account: must not be empty"),
        ("2026-01-01T00:01:00Z,ID,,1,1", "line 3, column deployment: must not be empty"),
        (
            "2026-01-01T00:01:00Z,story,d,1,1",
            "column account: 'story' is no resource id: write /sub",
        ),
        ("\n\n2026-01-01T00:01:00Z,ID,d,fast,1", "line 5, column"),
        ("\n2026-01-01T00:01:00Z,ID,d", "line 4: 3 cells"),
    ],
)
def test_errors_name_line_and_column(tmp_path: Path, row: str, message: str) -> None:
    """Whoever wrote the file finds the cell at once."""
    assert message in refused(given(tmp_path, FINE, row))


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (HEAD.replace("time", "when"), "line 1: the first columns"),
        (HEAD.replace(",", ";"), "line 1: the first columns"),
        (HEAD.replace("average", "median"), "column 'AzureOpenAITTLTInMS:median' names no metric"),
        (HEAD.replace("StatusCode", "Mood"), "unknown dimension"),
        (HEAD.replace(f"{TTLT}:average", "AzureOpenAIRequests:total"), "given whole and in parts"),
        (
            HEAD.replace(f"{TTLT}:average", "AzureOpenAIRequests:total[ModelName=m]"),
            "AzureOpenAIRequests is divided in more than one way",
        ),
        (HEAD.replace(f"{TTLT}:average", HEAD.rsplit(",", 1)[1]), "is given twice"),
        (
            HEAD.replace(f"{TTLT}:average", "azureopenairequests:total[statuscode=200]"),
            "is given twice",
        ),
    ],
)
def test_errors_name_the_column_s_head(tmp_path: Path, head: str, message: str) -> None:
    """A heading that means nothing, or the same twice, is refused before any row is read."""
    assert message in refused(given(tmp_path, FINE, head=head))


def test_rows_and_columns_must_be_there(tmp_path: Path) -> None:
    """A heading alone, and keys alone, are no recording."""
    assert "there are no rows" in refused(given(tmp_path))
    keys = given(tmp_path, "2026-01-01T00:00:00Z,ID,d", head="time,account,deployment")
    assert "no columns of values" in refused(keys)


@pytest.mark.parametrize("name", ["noise.csv", "noise.parquet", "noise"])
def test_what_is_no_text_is_named(tmp_path: Path, name: str) -> None:
    """Bytes of something else are refused in one line, whatever the file is called."""
    path = tmp_path / name
    path.write_bytes(bytes(range(128, 256)) * 40)
    assert str(path) in refused(path)
    if not name.endswith(".parquet"):
        assert "line 1 is no UTF-8 text: a recording is CSV in UTF-8, or Parquet" in refused(path)


def test_text_in_another_encoding_names_its_line(tmp_path: Path) -> None:
    """One cell in Latin-1, deep in the file."""
    path = given(tmp_path, FINE)
    path.write_bytes(
        path.read_bytes() + f"2026-01-01T00:01:00Z,{ACCOUNT},für,1,1".encode("latin-1")
    )
    assert "line 3 is no UTF-8 text" in refused(path)


@pytest.mark.parametrize("name", ["folder", "folder.parquet"])
def test_a_directory_is_no_recording(tmp_path: Path, name: str) -> None:
    """A folder is refused, also one that is called like a file."""
    (tmp_path / name).mkdir()
    assert "is a directory: name the file" in refused(tmp_path / name)


def test_a_mark_of_utf8_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    """Files that Excel wrote begin with one."""
    path = given(tmp_path, FINE)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert Recording.load(path).end - Recording.load(path).start == 1


@pytest.mark.parametrize(("odd", "line"), [(1, 3), (0, 2), (99, 101)])
def test_a_date_that_is_far_off_is_named(tmp_path: Path, odd: int, line: int) -> None:
    """One year mistyped among good rows: its line, at once, and no array of years."""
    rows = [f"2026-01-01T{n // 60:02d}:{n % 60:02d}:00Z,ID,d,1,1" for n in range(100)]
    rows[odd] = rows[odd].replace("2026", "2062")
    said = refused(given(tmp_path, *rows))
    assert f"line {line}, column time: 2062-01-01T" in said
    assert "around 2026-01-01" in said
    assert "spans 400 days at most" in said


TIMES = pa.array([0, 60, 120]).cast(pa.timestamp("s", tz="UTC"))


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        (0, pa.array([0, 60, 120]), "row 1, column time: holds int64, and must hold text"),
        (
            0,
            pa.array([0, 60, 90]).cast(pa.timestamp("s")),
            "row 3, column time: 1970-01-01 00:01:30",
        ),
        (0, pa.array([0, None, 60]).cast(pa.timestamp("ms")), "row 2, column time: an empty cell"),
        (0, pa.array([0, 60000, 2**61]).cast(pa.timestamp("ms")), "row 3, column time"),
        (1, pa.array([1, 2, 3]), "row 1, column account: holds int64"),
        (2, pa.array(["d", None, "d"]), "row 2, column deployment: must not be empty"),
        (2, pa.array(["d", "d", ""]), "row 3, column deployment: must not be empty"),
        (
            3,
            pa.array([1.0, 2.0, float("nan")]),
            "row 3, column GeneratedTokens:total: nan is no val",
        ),
        (3, pa.array([1, 2, -3]), "row 3, column GeneratedTokens:total: -3 is no value"),
        (3, TIMES, "row 1, column GeneratedTokens:total: datetime"),
        (3, pa.array([[1], [2], [3]]), "row 1, column GeneratedTokens:total: [1] is no number"),
    ],
)
def test_errors_in_parquet_name_row_and_column(
    tmp_path: Path, column: int, values: pa.Array, message: str
) -> None:
    """Columns of Parquet may have any type, and any but the right ones are refused."""
    columns = [TIMES, pa.repeat(ACCOUNT, 3), pa.repeat("d", 3), pa.array([1.0, 2.0, 3.0])]
    columns[column] = values
    names = ["time", "account", "deployment", "GeneratedTokens:total"]
    path = tmp_path / "day.parquet"
    write(pa.table(columns, names=names), path)
    assert message in refused(path)


OUT = Component("GeneratedTokens", "total")
OK = Component("AzureOpenAIRequests", "total", (("StatusCode", "200"),))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_in_any_order_become_tapes(tmp_path: Path, suffix: str) -> None:
    """Every value of many deployments lands in its minute, however the rows are mixed."""
    random = np.random.default_rng(7)
    name = ACCOUNT.removesuffix("recorded")
    expected = {
        (f"{name}{n % 3}", f"d{n}", 1000 * n + minute): float(random.integers(1, 10**6))
        for n in range(20)
        for minute in random.permutation(200).tolist()
    }
    rows = [[*key, value] for key, value in expected.items()]
    account, deployment, minute, out = zip(
        *(rows[n] for n in random.permutation(4000)), strict=True
    )
    time = pa.array([60 * one for one in minute]).cast(pa.timestamp("s", tz="UTC"))
    text = pa.compute.strftime(time, "%Y-%m-%dT%H:%M:%SZ")
    columns = {"time": text, "account": account, "deployment": deployment, str(OUT): out}
    path = tmp_path / f"mixed.{suffix}"
    write(pa.table(columns), path)
    found = {
        (tape.account, tape.deployment, tape.begin + n): value
        for tape in read(path)
        for n, value in enumerate(tape.columns[OUT].tolist())
    }
    assert found == expected


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tapes_are_written_as_they_come(tmp_path: Path, suffix: str) -> None:
    """A deployment in two pieces comes back in one; minutes without a point take no row."""
    nan = np.nan
    first = Tape(ACCOUNT, "chat", 100, {OUT: np.array([1.5, nan, 3]), OK: np.array([nan, nan, 2])})
    second = Tape(ACCOUNT.upper(), "Chat", 104, {OK: np.array([4.0, 5.0])})
    other = Tape(ACCOUNT, "batch", 90, {OUT: np.array([nan, nan])})
    path = tmp_path / f"tapes.{suffix}"
    assert write_tapes(path, [OUT, OK], iter([first, second, other])) == 4
    (tape,) = read(path)
    assert (tape.account, tape.deployment, tape.begin) == (ACCOUNT, "chat", 100)
    np.testing.assert_array_equal(tape.columns[OUT], [1.5, nan, 3, nan, nan, nan])
    np.testing.assert_array_equal(tape.columns[OK], [nan, nan, 2, nan, 4, 5])


def test_a_tape_with_more_than_the_file_is_refused(tmp_path: Path) -> None:
    """Nothing is left out without a word."""
    tape = Tape(ACCOUNT, "chat", 100, {OUT: np.ones(2)})
    with pytest.raises(ValueError, match="GeneratedTokens:total"):
        write_tapes(tmp_path / "tapes.csv", [OK], [tape])


def test_a_recording_can_be_moved_in_time() -> None:
    """The same minutes, later."""
    recording = Recording.load(RECORDING)
    moved = recording.moved(1000)
    (one,) = recording.series(ACCOUNT, TTLT, "average", recording.start, recording.end)
    (two,) = moved.series(ACCOUNT, TTLT, "average", recording.start + 1000, moved.end)
    np.testing.assert_array_equal(one.values, two.values)
    assert (moved.start, moved.end) == (recording.start + 1000, recording.end + 1000)


def test_the_documented_example_is_a_recording(tmp_path: Path) -> None:
    """docs/recordings.md shows what can be read as it stands."""
    lines = (ROOT / "docs" / "recordings.md").read_text(encoding="utf-8").splitlines()
    shown = [line.strip() for line in lines if line.startswith(("    time,", "    2026-"))]
    path = tmp_path / "shown.csv"
    path.write_text("\n".join(shown), encoding="utf-8")
    (tape,) = read(path)
    assert tape.deployment == "chat"
    np.testing.assert_array_equal(tape.columns[OK], [3, 0])
    np.testing.assert_array_equal(tape.columns[OUT], [410, np.nan])


def test_a_million_rows_are_read_in_seconds_and_little_room(tmp_path: Path) -> None:
    """Columns are placed whole: no loop over rows, and hardly more memory than the numbers."""
    statuses = [(("StatusCode", str(code)),) for code in (200, 400, 429, 500, 503)]
    components = [OUT, *(Component("AzureOpenAIRequests", "total", where) for where in statuses)]
    values = np.arange(50_000.0)
    tapes = [
        Tape(ACCOUNT, f"d{n}", 29_500_000, dict.fromkeys(components, values)) for n in range(20)
    ]
    path = tmp_path / "large.parquet"
    assert write_tapes(path, components, tapes) == 1_000_000
    tracemalloc.start()
    began = time.process_time()
    found = read(path)
    took = time.process_time() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found) == 20
    np.testing.assert_array_equal(found[7].columns[OK], values)
    assert took < 8
    assert peak < 3 * 20 * len(components) * values.nbytes
