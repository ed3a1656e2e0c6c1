"""A data set on disk: what was recorded is all there, statistics and windows are those of memory,
half a file is refused.
"""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prssm.data.io.files import read, write_columns, write_record
from prssm.data.record import Record
from prssm.data.scaling import Scaler
from prssm.data.stream import convert as convert_module
from prssm.data.stream.convert import convert
from prssm.data.stream.stream import INDEX, ROWS, Stream
from prssm.data.windows import sliding
from prssm.foundation.errors import DataError


def record(rows: int, seed: int = 0) -> Record:
    rng = np.random.default_rng(seed)
    # single precision loses nothing of them
    u, y = (rng.normal(3.0, 2.0, (rows, 2)).astype(np.float32) for _ in range(2))
    y[rows // 2, 0] = np.nan
    return Record(u, y, 0.5)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Experiments of different lengths in files of different kinds."""
    (tmp_path / "logs").mkdir()
    for index, (suffix, rows) in enumerate([("csv", 7), ("parquet", 23), ("npz", 12)]):
        write_record(tmp_path / "logs" / f"{index}.{suffix}", record(rows, index))
    return tmp_path


def experiments(stream: Stream) -> list[Record]:
    edges = np.append(0, np.cumsum(stream.lengths))
    return [stream.read(a, b) for a, b in pairwise(edges)]


@pytest.mark.parametrize("block", [5, 11, 22, 1000])  # 11 and 22 divide all rows but one
def test_all_that_was_recorded_is_there_whatever_the_pieces(folder, monkeypatch, block):
    monkeypatch.setattr(convert_module, "BLOCK", block)
    stream = convert([folder / "logs"], folder / "stream")
    originals = [record(rows, index) for index, rows in enumerate((7, 23, 12))]
    assert stream.lengths.tolist() == [7, 23, 12]
    assert (stream.dt, stream.input_names, stream.output_names) == (0.5, ("u1", "u2"), ("y1", "y2"))
    for found, original in zip(experiments(Stream.open(folder / "stream")), originals, strict=True):
        np.testing.assert_array_equal(found.u, original.u)
        np.testing.assert_array_equal(found.y, original.y)


def test_statistics_are_those_of_all_rows(folder, monkeypatch):
    monkeypatch.setattr(convert_module, "BLOCK", 5)
    stream = convert([folder / "logs"], folder / "stream")
    for normalise in (True, False):
        ours = stream.scaler(normalise).to_arrays()
        theirs = Scaler.fit(experiments(stream), normalise).to_arrays()
        for name, values in theirs.items():
            np.testing.assert_allclose(ours[name], values, rtol=1e-12)


@given(lengths=st.lists(st.integers(2, 30), min_size=1, max_size=6), horizon=st.integers(2, 8))
def test_windows_are_counted_as_in_memory(lengths, horizon):
    stream = Stream(
        Path("nowhere"),
        ("u",),
        ("y",),
        dt=None,
        names=tuple(map(str, lengths)),
        lengths=np.array(lengths),
        digest="",
        statistics={},
    )
    if max(lengths) < horizon:
        with pytest.raises(DataError, match="too short"):
            stream.window_count(horizon)
        return
    starts = sliding([Record(np.ones(n), np.ones(n)) for n in lengths], horizon).starts
    starts = starts[starts < sum(lengths)]  # those in memory that are filled up come after these
    assert stream.window_count(horizon) == len(starts)
    np.testing.assert_array_equal(stream.window_rows(np.arange(len(starts)), horizon), starts)


def test_a_sample_is_bounded_and_made_of_experiments(folder):
    stream = convert([folder / "logs"], folder / "stream")
    known = {experiment.u.tobytes(): len(experiment) for experiment in experiments(stream)}
    everything = stream.sample(1000, seed=0)
    assert sorted(map(len, everything)) == [7, 12, 23]
    assert all(part.u.tobytes() in known for part in everything)
    assert sum(map(len, stream.sample(10, seed=0))) == 10
    assert len(stream.usual()) == 12  # 23 of 42 rows are not yet most of them
    assert len(stream.usual(at_most=3)) == 3
    assert sorted(map(len, stream.sample(1000, 0, shortest=8))) == [12, 23]


def test_a_gap_in_time_between_two_pieces_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(convert_module, "BLOCK", 5)
    time = np.arange(20.0)
    time[10:] += 3.0
    write_columns(tmp_path / "a.parquet", {"time": time, "u": np.sin(time), "y": np.cos(time)})
    with pytest.raises(DataError, match="3 rows missing after row 10"):
        convert([tmp_path / "a.parquet"], tmp_path / "stream")
    assert not (tmp_path / "stream" / INDEX).exists()
    assert not (tmp_path / "stream" / ROWS).exists()


def log_with_gaps(rows: int, gaps: list[int]) -> dict[str, np.ndarray]:
    """Columns of a log with three rows missing before each of these rows."""
    time = np.arange(float(rows))
    for row in gaps:
        time[row:] += 3.0
    values = np.random.default_rng(3).normal(size=(2, rows)).astype(np.float32)
    return {"time": time, "u": values[0], "y": values[1]}


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
# within pieces, between two, around a row at the end of one, and before the last row of all
@pytest.mark.parametrize("gaps", [[30, 130], [100], [99, 100], [100, 101], [44, 45, 199]])
def test_a_log_is_split_at_its_gaps_whatever_the_pieces(tmp_path, monkeypatch, suffix, gaps):
    monkeypatch.setattr(convert_module, "BLOCK", 50)
    path = tmp_path / f"a.{suffix}"
    write_columns(path, log_with_gaps(200, gaps))
    stream = convert(path, tmp_path / "stream", gaps="split")
    whole = read(path, gaps="split")
    assert stream.lengths.tolist() == [len(part) for part in whole]
    assert len(set(stream.names)) == len(whole)
    for found, part in zip(experiments(stream), whole, strict=True):
        np.testing.assert_array_equal(found.y, part.y)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_log_is_filled_at_its_gaps_whatever_the_pieces(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(convert_module, "BLOCK", 50)
    path = tmp_path / f"a.{suffix}"
    write_columns(path, log_with_gaps(200, [30, 100]))
    stream = convert(path, tmp_path / "stream", gaps="fill")
    whole = read(path, gaps="fill")
    assert stream.lengths.tolist() == [206]
    np.testing.assert_array_equal(experiments(stream)[0].y, whole.y)


@pytest.mark.parametrize("rule", [{"sort": True}, {"duplicates": "mean"}, {"resample": 2.0}])
def test_rules_that_need_all_rows_are_refused_where_a_file_is_read_in_pieces(
    tmp_path, monkeypatch, rule
):
    path = tmp_path / "a.parquet"
    write_columns(path, log_with_gaps(20, []))
    assert convert(path, tmp_path / "whole", **rule).steps
    monkeypatch.setattr(convert_module, "BLOCK", 5)
    with pytest.raises(DataError, match=rf"{next(iter(rule))} needs all 20 rows at once") as caught:
        convert(path, tmp_path / "stream", **rule)
    assert "\n" not in str(caught.value)


def broken(folder: Path, what: str) -> None:
    logs = folder / "logs"
    if what == "truncated":
        (logs / "1.parquet").write_bytes((logs / "1.parquet").read_bytes()[:-40])
    elif what == "narrow":
        write_columns(logs / "1.parquet", {"u1": np.arange(9.0), "y1": np.arange(9.0)})
    elif what == "rate":
        write_record(logs / "1.parquet", Record(record(9).u, record(9).y, 0.7))
    elif what == "constant":
        for path in logs.iterdir():
            path.unlink()
        write_columns(logs / "1.csv", {"u": np.arange(9.0), "y": np.ones(9)})
    elif what == "offset":
        for path in logs.iterdir():
            path.unlink()
        write_columns(logs / "1.csv", {"u": np.arange(9.0), "y": 1e6 + np.arange(9.0)})
    elif what == "small":
        write_record(logs / "1.parquet", Record(record(9).u * 1e-39, record(9).y, 0.5))
    elif what == "large":
        write_record(logs / "1.parquet", Record(record(9).u * 1e39, record(9).y, 0.5))
    else:
        for path in logs.iterdir():
            path.unlink()


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("truncated", r"1\.parquet: not a whole Parquet file"),
        ("narrow", r"1\.parquet: no column 'u2'"),
        ("rate", r"1\.parquet: sampled every 0\.7 s, but 0\.csv every 0\.5"),
        ("constant", "'y' is constant or missing"),
        ("offset", "'y': a mean of 1e.06 hides a deviation of 2.58 in single precision"),
        ("large", "too large for single precision"),
        ("small", "too small for single precision"),
        ("empty", "no file in this folder that can be read"),
    ],
)
def test_bad_files_are_refused_in_one_line_and_leave_no_stream(folder, what, message):
    broken(folder, what)
    with pytest.raises(DataError, match=message) as caught:
        convert([folder / "logs"], folder / "stream")
    assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match=f"no {INDEX}"):
        Stream.open(folder / "stream")


def test_a_stream_that_is_half_there_is_refused(folder):
    convert([folder / "logs"], folder / "stream")
    rows = folder / "stream" / ROWS
    rows.write_bytes(rows.read_bytes()[:-4])
    with pytest.raises(
        DataError, match=r"rows\.f32: expected 672 bytes, got 668: the file is not whole"
    ):
        Stream.open(folder / "stream")
    (folder / "stream" / INDEX).write_text("{")
    with pytest.raises(DataError, match="not a whole index"):
        Stream.open(folder / "stream")


def test_the_same_name_twice_is_two_experiments(folder):
    one = convert(str(folder / "logs" / "0.csv"), folder / "one")
    assert (len(one.lengths), one.names) == (1, ("0.csv",))
    stream = convert([folder / "logs" / "0.csv", folder / "logs" / "0.csv"], folder / "stream")
    assert stream.lengths.tolist() == [7, 7]


def test_a_stream_is_not_overwritten(folder):
    convert([folder / "logs"], folder / "stream")
    with pytest.raises(DataError, match="there is a stream already"):
        convert([folder / "logs"], folder / "stream")


def test_experiments_that_are_all_too_short_are_named(folder):
    stream = convert([folder / "logs"], folder / "stream")
    with pytest.raises(
        DataError, match=r"0\.csv: 7 rows are too short .* horizon=24; choose horizon at most 23"
    ):
        stream.window_count(24)
