"""Frames as people have them: nullable columns, a time index, durations, xarray."""

import numpy as np
import pandas
import polars
import pytest
import xarray

import prssm
from prssm.data.coerce import as_records

U = [1.0, 3.0, 5.0]
Y = [2.0, 4.0, 6.0]
DATES = pandas.date_range("2024-05-31 12:00", periods=3, freq="500ms")
ZONED = DATES.tz_localize("Europe/Berlin")


def pandas_frame(**columns) -> pandas.DataFrame:
    return pandas.DataFrame({"u": U, "y": Y} | columns)


def indexed(index) -> pandas.DataFrame:
    return pandas_frame().set_index(index)


FRAMES = {
    "pandas": (pandas_frame(), None, None),
    "time index": (indexed(DATES), None, 0.5),
    "named time index": (indexed(DATES.rename("when")), None, 0.5),
    "zoned time index": (indexed(ZONED), None, 0.5),
    "durations as index": (indexed(DATES - DATES[0]), None, 0.5),
    "named index of numbers": (indexed(pandas.Index([0.0, 0.1, 0.2], name="t")), "t", 0.1),
    "plain index of numbers": (indexed(pandas.Index([7, 8, 9])), None, None),
    "dates": (pandas_frame(t=DATES), "t", 0.5),
    "zoned dates": (pandas_frame(t=ZONED), "t", 0.5),
    "durations": (pandas_frame(t=DATES - DATES[0]), "t", 0.5),
    "dates as text": (pandas_frame(t=["12:00:00", "12:00:01", "12:00:02"]), "t", 1.0),
    "nullable": (pandas_frame().convert_dtypes(), None, None),
    "arrow types": (pandas_frame().convert_dtypes(dtype_backend="pyarrow"), None, None),
    "objects": (pandas_frame().astype(object), None, None),
    "text": (pandas_frame().astype(str), None, None),
    "polars": (polars.DataFrame({"u": U, "y": Y}), None, None),
    "polars dates": (polars.from_pandas(pandas_frame(t=DATES)), "t", 0.5),
    "polars zoned": (polars.from_pandas(pandas_frame(t=ZONED)), "t", 0.5),
    "polars durations": (polars.from_pandas(pandas_frame(t=DATES - DATES[0])), "t", 0.5),
    "pyarrow": (polars.DataFrame({"u": U, "y": Y}).to_arrow(), None, None),
    "xarray": (xarray.Dataset({"u": ("time", U), "y": ("time", Y)}, {"time": DATES}), None, 0.5),
}


@pytest.mark.parametrize(("frame", "time", "dt"), FRAMES.values(), ids=FRAMES)
def test_a_frame_reads_right(frame, time, dt) -> None:
    (record,) = as_records(frame, inputs=["u"], outputs=["y"], time=time)
    np.testing.assert_array_equal(record.u[:, 0], U)
    np.testing.assert_array_equal(record.y[:, 0], Y)
    assert record.dt == (None if dt is None else pytest.approx(dt))


def test_missing_values_of_every_kind() -> None:
    for values in ([2, None, 6], [2, np.nan, 6], pandas.array([2, pandas.NA, 6], dtype="Int64")):
        (record,) = as_records(pandas.DataFrame({"u": U, "y": values}), outputs=["y"], inputs=["u"])
        np.testing.assert_array_equal(record.y[:, 0], [2.0, np.nan, 6.0])


def test_columns_called_by_the_convention_need_no_naming() -> None:
    (record,) = as_records(pandas_frame())
    assert (record.input_names, record.output_names) == (("u",), ("y",))


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pandas_frame(y=["a", "b", "c"]), "column 'y', row 0: expected a number, got 'a'"),
        (pandas_frame(y=DATES), "column 'y' holds dates"),
        (indexed(DATES[[0, 1, 1]]), "row 2 has the time of the row before it"),
        (indexed(DATES[[1, 0, 2]]), "time goes back at row 1"),
    ],
)
def test_a_bad_frame_is_named_in_one_line(frame, words) -> None:
    with pytest.raises(prssm.DataError, match=words):
        as_records(frame, inputs=["u"], outputs=["y"])


def test_a_path_is_data_too(tmp_path) -> None:
    rng = np.random.default_rng(0)
    columns = {"valve": rng.normal(size=30), "flow": rng.normal(size=30)}
    polars.DataFrame(columns).write_csv(tmp_path / "log.csv")
    model = prssm.Constant().fit(tmp_path / "log.csv", inputs=["valve"], outputs=["flow"])
    run = model.simulate(str(tmp_path / "log.csv"))
    np.testing.assert_array_equal(run.measured[:, 0], columns["flow"])
    other = polars.DataFrame({"v": columns["valve"], "f": columns["flow"]})
    again = model.simulate(other, inputs=["v"], outputs=["f"])
    np.testing.assert_array_equal(again.measured[:, 0], columns["flow"])
