"""Recordings: read as written, exact at coarser grains, clear about what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from emulator.convert import ACCOUNT, EXPORT, RECORDING, portal_export
from emulator.recording import Recording
from emulator.recordingfile import RecordingError, write
from emulator.source import Source, reduce

TTLT = "AzureOpenAITTLTInMS"
HEAD = f"time,account,deployment,{TTLT}:average,AzureOpenAIRequests:total[StatusCode=200]"


def given(tmp_path: Path, *rows: str, head: str = HEAD) -> Path:
    path = tmp_path / "recording.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


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
        "2026-01-01T00:00:00Z,a,d,100,3",
        "2026-01-01T00:01:00Z,a,d,200,1",
        "2026-01-01T00:02:00Z,a,d,,",
        "2026-01-01T00:03:00Z,a,d,500,",
    )
    recording = Recording.load(path)
    (series,) = recording.series("A", TTLT, "average", recording.start, recording.start + 4)
    np.testing.assert_allclose(reduce("average", [series], 2), [125, 500])


def test_minutes_outside_a_recording_have_no_points(tmp_path: Path) -> None:
    """Any range may be asked; gaps between rows are gaps."""
    path = given(tmp_path, "2026-01-01T00:00:00Z,a,d,100,3", "2026-01-01T00:02:00Z,a,d,300,1")
    recording = Recording.load(path)
    (series,) = recording.series("a", TTLT, "average", recording.start - 1, recording.start + 4)
    np.testing.assert_array_equal(series.values, [np.nan, 100, np.nan, 300, np.nan])


@pytest.mark.parametrize(
    ("head", "row", "message"),
    [
        (HEAD, "2026-01-01T00:01:00Z,a,d,fast,1", f"line 3, column {TTLT}:average: 'fast'"),
        (HEAD, "2026-01-01T00:01:00+01:00,a,d,1,1", "line 3, column time"),
        (HEAD, "2026-01-01T00:01:30Z,a,d,1,1", "line 3, column time"),
        (HEAD, "2026-01-01T00:01:00Z,a,d,1", "line 3: 4 cells instead of 5"),
        (HEAD, "2026-01-01T00:00:00Z,a,d,1,1", "line 3: 2026-01-01T00:00:00Z of d is given twice"),
        (HEAD, "2026-01-01T00:01:00Z,,d,1,1", "line 3: account and deployment"),
        (HEAD.replace("time", "when"), "", "line 1: the first columns"),
        (HEAD.replace("average", "median"), "", "line 1: column 'AzureOpenAITTLTInMS:median'"),
        (HEAD.replace("StatusCode", "Mood"), "", "unknown dimension"),
        (f"{HEAD.replace(TTLT, 'AzureOpenAIRequests').replace('average', 'total')}", "", "whole"),
    ],
)
def test_errors_name_line_and_column(tmp_path: Path, head: str, row: str, message: str) -> None:
    """Whoever wrote the file finds the cell at once."""
    rows = ["2026-01-01T00:00:00Z,a,d,100,3", *([row] if row else [])]
    with pytest.raises(RecordingError) as error:
        Recording.load(given(tmp_path, *rows, head=head))
    assert message in str(error.value)
