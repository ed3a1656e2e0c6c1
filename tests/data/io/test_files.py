import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import h5py
import numpy as np
import polars
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.io import savemat

from prssm.data.io.files import read, write_columns, write_record
from prssm.data.record import Record
from prssm.foundation.errors import DataError, MissingExtraError, PrssmWarning

SUFFIXES = (".csv", ".parquet", ".mat", ".npz")
NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=64)
WORDS = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=8
)


def _same(a: Record, b: Record) -> bool:
    return (
        np.array_equal(a.u, b.u)
        and np.array_equal(a.y, b.y, equal_nan=True)
        and a.dt == b.dt
        and a.input_names == b.input_names
        and a.output_names == b.output_names
    )


@st.composite
def records(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Record:
    length = draw(st.integers(2, 6))
    inputs = draw(st.integers(0, 2))
    outputs = draw(st.integers(0, 2))
    outputs = max(outputs, 1 - inputs)
    u = draw(arrays(np.float64, (length, inputs), elements=NUMBERS))
    y = draw(arrays(np.float64, (length, outputs), elements=NUMBERS | st.just(np.nan)))
    dt = draw(st.none() | st.floats(1e-6, 1e6))
    chosen = draw(
        st.lists(names, min_size=inputs + outputs, max_size=inputs + outputs, unique=True)
    )
    return Record(u, y, dt, input_names=chosen[:inputs], output_names=chosen[inputs:])


def _check_round_trip(record: Record, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write_record(Path(folder) / f"record{suffix}", record)
        again = read(path, inputs=record.input_names, outputs=record.output_names)
    assert _same(record, again)


SLOW_DISK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SLOW_DISK
@given(records(st.from_regex(r"[a-s][A-Za-z0-9_]{0,9}", fullmatch=True)), st.sampled_from(SUFFIXES))
def test_write_then_read_is_exact_in_every_format(record, suffix):
    _check_round_trip(record, suffix)


@SLOW_DISK
@given(
    records(
        WORDS.filter(lambda word: any(letter.isalpha() for letter in word) and "/" not in word)
    ),
    st.sampled_from((".csv", ".parquet", ".npz")),
)
def test_any_column_name_survives(record, suffix):
    try:
        float(record.input_names[0] if record.input_names else record.output_names[0])
    except ValueError:
        _check_round_trip(record, suffix)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_columns_u_and_y_need_no_naming(tmp_path, suffix):
    record = Record(np.arange(8.0).reshape(4, 2), [1.0, np.nan, 3.0, 4.0], 0.1)
    assert _same(record, read(write_record(tmp_path / f"log{suffix}", record)))


@pytest.mark.parametrize("dt", [0.1, 0.02, 1 / 3, 0.7])
def test_the_sampling_time_of_a_long_record_survives_exactly(tmp_path, dt):
    record = Record(None, np.arange(500.0), dt)
    # the stamps' differences alone would not give it back
    assert np.median(np.diff(dt * np.arange(500))) != dt
    assert read(write_record(tmp_path / "log.csv", record)).dt == dt


def _text(folder: Path, content: str, name: str = "log.csv") -> Path:
    path = folder / name
    path.write_text(content)
    return path


@pytest.mark.parametrize(
    "content",
    [
        "u,y\n1,2\n3,4\n",
        "u;y\n1,0;2,0\n3;4\n",
        "u\ty\n1\t2\n3\t4\n",
        "  u   y \n 1   2\n 3   4  \n",
        "u,y,\n1,2,\n3,4,\n",
        "# a comment\nu,y\r\n1,2\r\n\r\n3,4\r\n",
        '"u","y"\n1, 2\n3, 4',
        "\ufeffu,y\n1,2\n3,4\n",
        "note,u,y\nwarm,1,2\ncold,3,4\n",
    ],
)
def test_text_files_as_programs_write_them(tmp_path, content):
    record = read(_text(tmp_path, content))
    np.testing.assert_array_equal(record.u[:, 0], [1, 3])
    np.testing.assert_array_equal(record.y[:, 0], [2, 4])


def test_no_header_means_columns_by_number(tmp_path):
    path = _text(tmp_path, "  1.0e0\t  2.0\t\n  3.0\t  4.0\t\n", "log.dat")
    np.testing.assert_array_equal(read(path, inputs="1", outputs="2").y[:, 0], [2, 4])
    with pytest.raises(DataError, match="no header: its columns are called by number"):
        read(path, inputs="u")


def test_missing_outputs_are_nan_and_missing_inputs_an_error(tmp_path):
    path = _text(tmp_path, "u,y\n1,\n3,NaN\n5,6\n")
    np.testing.assert_array_equal(read(path).y[:, 0], [np.nan, np.nan, 6])
    with pytest.raises(DataError, match="input column 'y', line 2: the value is missing"):
        read(path, inputs="y", outputs="u")


def test_time_columns(tmp_path):
    assert read(_text(tmp_path, "time,u,y\n0,1,2\n0.1,3,4\n0.2,5,6\n")).dt == 0.1
    assert read(_text(tmp_path, "t,u,y\n7,1,2\n8,3,4\n9,5,6\n"), time="t").dt == 1.0
    dates = "when,y\n2024-05-31T12:00:00.0,1\n2024-05-31T12:00:00.5,3\n2024-05-31T12:00:01.0,4\n"
    assert read(_text(tmp_path, dates), time="when").dt == 0.5
    assert read(_text(tmp_path, "time,y\n0,1\n5,2\n6,3\n"), dt=0.5).dt == 0.5
    with pytest.raises(DataError, match="irregular"):
        read(_text(tmp_path, "time,y\n0,1\n5,2\n6,3\n"))


def test_a_column_called_time_with_a_unit_is_the_time(tmp_path):
    assert read(_text(tmp_path, "time [s],u,y\n0,1,2\n0.1,3,4\n0.2,5,6\n")).dt == 0.1
    assert read(_text(tmp_path, "Time (s),u,y\n0,1,2\n2,3,4\n4,5,6\n")).dt == 2.0
    two = _text(tmp_path, "Time [s],Time [h],u,y\n0,0,1,2\n1,1,3,4\n")
    with pytest.warns(PrssmWarning, match=r"column 'Time \[s\]' is not read"):
        assert read(two).dt is None


def test_a_time_column_that_nobody_named_is_worth_a_caution(tmp_path):
    path = _text(tmp_path, "t,u,y\n0,1,2\n1,3,4\n9,5,6\n")
    with pytest.warns(PrssmWarning, match="column 't' is not read"):
        assert read(path).dt is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(path, dt=1.0).dt == 1.0
        assert read(path, inputs="t", outputs="y").dt is None  # it is an input, not time
        for temperature in ("T", "T [\N{DEGREE SIGN}C]", "t (K)"):
            assert read(_text(tmp_path, f"{temperature},u,y\n0,1,2\n9,5,6\n")).dt is None


@pytest.mark.parametrize("rule", [{"gaps": "split"}, {"duplicates": "first"}, {"sort": True}])
def test_what_mends_time_stamps_needs_some(tmp_path, rule):
    path = _text(tmp_path, "u,y\n1,2\n3,4\n5,6\n")
    (word,) = rule
    with pytest.raises(DataError, match=f"--{word}.* needs the time of each row"):
        read(path, **rule)


@pytest.mark.parametrize(
    ("content", "arguments", "words"),
    [
        ("", {}, "the file is empty"),
        ("\n\n", {}, "the file is empty"),
        ("u,y\n", {}, "no rows of data below the header u, y"),
        ("a,b\n1,2\n3,4\n", {}, "the columns are a, b"),
        (
            "speed,torque\n1,2\n3,4\n",
            {"outputs": "sped"},
            "no column 'sped'. Did you mean 'speed'?",
        ),
        (
            "valve [V],level [m]\n1,2\n3,4\n",
            {"outputs": "Level"},
            "no column 'Level'. Did you mean 'level [m]'?",
        ),
        (  # letters alone would say 'level [m]'
            "ventil [V],level [m]\n1,2\n3,4\n",
            {"inputs": "valve [V]"},
            "no column 'valve [V]'. Did you mean 'ventil [V]'?",
        ),
        (
            "level [m],time [s]\n1,2\n3,4\n",
            {"inputs": "valve [V]"},
            "no column 'valve [V]'. Known: level [m], time [s].",
        ),
        (
            "pump [V],drive [V],level [m]\n1,2,3\n3,4,5\n",
            {"inputs": "pomp [V]"},
            "no column 'pomp [V]'. Did you mean 'pump [V]'?",
        ),
        (
            "valve [mV],level [V],height [V]\n1,2,3\n3,4,5\n",
            {"inputs": "Valve [A]"},
            "no column 'Valve [A]'. Did you mean 'valve [mV]'?",
        ),
        (
            "valve,level [m]\n1,2\n3,4\n",
            {"inputs": "valv [V]"},
            "no column 'valv [V]'. Did you mean 'valve'?",
        ),
        ("u,y\n1,2\n\n3,four\n", {}, "column 'y', line 4: expected a number, got 'four'"),
        ("u,y\n1,2\n3\n", {}, "line 3 has 1 cells, expected 2 as in line 1"),
        ("u,y\n1,2\n3,4,5\n", {}, "line 3 has 3 cells, expected 2"),
        ("u,u\n1,2\n3,4\n", {}, "2 columns are called 'u'; expected one"),
        ("u,y\n1,2\n", {}, "at least 2 rows, got 1"),
        (
            "u,y\n1,2\n3,4\n",
            {"inputs": "u", "outputs": ["u", "y"]},
            "column 'u' is asked for twice",
        ),
        ('u,y\n1,"2\n3,4\n', {}, "not a table of cells"),
        ("when,y\nmonday,1\ntuesday,2\n", {"time": "when"}, "line 2: expected seconds, dates"),
    ],
)
def test_a_bad_text_file_is_named_in_one_line(tmp_path, content, arguments, words):
    path = _text(tmp_path, content)
    with pytest.raises(DataError) as caught:
        read(path, **arguments)
    assert words in str(caught.value)
    assert "log.csv" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there_or_not_for_us(tmp_path):
    _text(tmp_path, "u,y\n1,2\n3,4\n", "lag.csv")
    with pytest.raises(DataError, match=r"log\.csv: no such file \(the folder holds lag\.csv\)"):
        read(tmp_path / "log.csv")
    with pytest.raises(DataError, match="expected a file, got a folder"):
        read(tmp_path)
    with pytest.raises(DataError, match=r"ending in '\.pdf'; expected \.csv"):
        read(_text(tmp_path, "x", "log.pdf"))
    write_record(tmp_path / "a.parquet", Record([1, 2], [3, 4])).rename(tmp_path / "a.csv")
    with pytest.raises(DataError, match="binary file"):
        read(tmp_path / "a.csv")


@pytest.mark.parametrize("suffix", [".parquet", ".mat", ".npz", ".h5.mat"])
@pytest.mark.parametrize("part", [0.05, 0.5, 0.95])
def test_truncated_and_foreign_files_are_data_errors(tmp_path, suffix, part):
    path = tmp_path / f"log{suffix}"
    record = Record(np.random.default_rng(0).standard_normal((300, 2)), np.arange(300.0))
    if suffix == ".h5.mat":
        with h5py.File(path, "w") as file:
            file["u"] = record.u.T
            file["y"] = record.y.T
    else:
        write_record(path, record)
    content = path.read_bytes()
    for broken in (content[: int(part * len(content))], b"foreign " * 100):
        path.write_bytes(broken)
        with pytest.raises(DataError, match="not a whole") as caught:
            read(path)
        assert "\n" not in str(caught.value)


def test_matrices_in_mat_files_expand_to_columns(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    y = np.arange(4)
    savemat(
        tmp_path / "a.mat",
        {"X": X, "y": y[None], "Ts": 0.5, "note": "text", "cube": np.zeros((2, 2, 2)), "z": X[:2]},
    )
    record = read(tmp_path / "a.mat", inputs="X", outputs="y", dt=0.5)
    np.testing.assert_array_equal(record.u, X)
    assert record.input_names == ("X1", "X2", "X3")
    np.testing.assert_array_equal(
        read(tmp_path / "a.mat", inputs=["X3"], outputs="y").u[:, 0], X[:, 2]
    )
    for name, words in (
        ("note", "holds text"),
        ("Ts", "holds 1 value"),
        ("cube", "has shape 2 x 2 x 2"),
        ("z", "'z1' has 2 rows, but 'y' has 4"),
        ("Q", "no variable 'Q'"),
    ):
        with pytest.raises(DataError, match=words):
            read(tmp_path / "a.mat", inputs="y", outputs=[name])


def test_mat_7_3_files(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    # MATLAB writes its header into the user block
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        file["X"] = X.T
        file["y"] = np.arange(4.0)[None]
    record = read(tmp_path / "a.mat", inputs="X")
    np.testing.assert_array_equal(record.u, X)
    np.testing.assert_array_equal(record.y[:, 0], np.arange(4))


def test_mat_7_3_without_h5py_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "a.mat").write_bytes(b"MATLAB 7.3 MAT-file" + bytes(600))
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'prssm\[hdf5\]'"):
        read(tmp_path / "a.mat")


def test_text_in_a_parquet_column(tmp_path):
    polars.DataFrame({"u": [1.0, 2.0], "y": ["a", "b"], "n": [1, None]}).write_parquet(
        tmp_path / "a.parquet"
    )
    with pytest.raises(DataError, match="column 'y', row 1: expected a number, got 'a'"):
        read(tmp_path / "a.parquet", inputs="u", outputs="y")
    np.testing.assert_array_equal(read(tmp_path / "a.parquet", outputs="n").y[:, 0], [1, np.nan])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_are_what_other_programs_read(tmp_path, suffix):
    columns = {
        "time": 0.1 * np.arange(3),
        "y_mean": np.array([1.0, np.nan, 1e-300]),
        "n": np.arange(3),
    }
    path = write_columns(tmp_path / "new" / f"out{suffix}", columns)
    frame = polars.read_csv(path) if suffix == ".csv" else polars.read_parquet(path)
    assert frame.columns == list(columns)
    for name, values in columns.items():
        np.testing.assert_array_equal(frame[name].to_numpy(), values)


def test_writing_is_refused_before_anything_is_touched(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    for columns, words in (
        ({}, "at least one column"),
        ({"a": [1], "b": [1, 2]}, "'b' has 2 rows, but 'a' has 1"),
        ({"1": [1], "2": [2]}, "are numbers"),
        ({" a": [1]}, "cannot stand in a CSV header"),
    ):
        with pytest.raises(DataError, match=words):
            write_columns(path, columns)
    with pytest.raises(DataError, match=r"expected \.csv, \.parquet"):
        write_columns(tmp_path / "out.mat", {"a": [1]})
    with pytest.raises(DataError, match="cannot be a MATLAB variable"):
        write_record(tmp_path / "out.mat", Record(None, [1, 2], output_names=["two words"]))
    with pytest.raises(DataError, match="two columns would be called 'a'"):
        write_record(path, Record([1, 2], [1, 2], input_names=["a"], output_names=["a"]))
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = write_columns(tmp_path / "out.csv", {"a": [1.0]})
    before = path.read_text()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_columns(path, {"a": [2.0]})
    assert path.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


def test_csv_reading_runs_without_polars_or_jax(tmp_path):
    path = _text(tmp_path, "u,y\n1,2\n3,4\n")
    code = (
        "import sys; from prssm.data.io.files import read; from prssm.data.sets import catalogue;"
        f"read({str(path)!r}); catalogue.load('drives_sim');"
        "assert not {'polars', 'jax', 'narwhals', 'h5py', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_list_of_files_is_a_list_of_experiments_under_the_same_names(tmp_path: Path):
    record = Record([1.0, 2.0, 4.0], [0.0, 1.0, 1.5], 0.5, input_names=["valve"])
    paths = [
        write_record(tmp_path / f"log{suffix}", record)
        for suffix in (".csv", ".parquet", ".mat", ".npz")
    ]
    records = read(paths, inputs="valve")
    assert [found.name for found in records] == [path.name for path in paths]
    assert all(_same(record, found) for found in records)
    assert [len(found) for found in read(tuple(map(str, paths)), inputs="valve")] == [3] * 4
    with pytest.raises(DataError, match=r"b\.csv: no such file"):
        read([paths[0], tmp_path / "b.csv"])


def test_a_long_file_is_judged_by_its_middle(tmp_path: Path):
    rows = "".join(f"{i},5;{2 * i},25\n" for i in range(30_000))
    record = read(_text(tmp_path, f"a preamble, of words\n\nu;y\n{rows}"))
    np.testing.assert_array_equal(record.u[:, 0], np.arange(30_000) + 0.5)
    np.testing.assert_array_equal(record.y[:, 0], 2 * np.arange(30_000) + 0.25)
