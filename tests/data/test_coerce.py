import numpy as np
import pandas
import polars
import pytest

from prssm.data.coerce import as_records, check_alike, check_training
from prssm.data.record import Record
from prssm.foundation.errors import DataError

U = np.arange(6.0)
Y = np.arange(6.0) ** 2


def test_a_record_and_lists_of_records():
    record = Record(U, Y)
    assert as_records(record) == [record]
    names = [r.name for r in as_records([record, Record(U, Y, name="second")])]
    assert names == ["record 0", "second"]


@pytest.mark.parametrize("data", [(U, Y), [(U, Y), (U[:3], Y[:3])], [Record(U, Y), (U, Y)]])
def test_arrays_become_records(data):
    records = as_records(data)
    np.testing.assert_array_equal(records[0].u[:, 0], U)
    np.testing.assert_array_equal(records[0].y[:, 0], Y)
    assert len(records) == (1 if isinstance(data, tuple) else 2)


def test_several_arrays_of_different_length():
    records = as_records([U, U[:3]], [Y, Y[:3]])
    assert [len(r) for r in records] == [6, 3]
    assert [r.input_dim for r in as_records(None, [Y, Y[:3]])] == [0, 0]
    with pytest.raises(DataError, match="1 input arrays but 2 output arrays"):
        as_records([U], [Y, Y])


def test_a_plain_list_of_numbers_is_one_output():
    assert as_records(None, [1.0, 2.0, 3.0])[0].y.shape == (3, 1)


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_data_frames_by_column_name(frame):
    data = frame(
        {
            "t": 0.5 * np.arange(4),
            "valve": [1.0, 2, 3, 4],
            "level": [1.0, None, 3.0, 4.0],
            "note": list("abcd"),
        }
    )
    record = as_records(data, inputs=["valve"], outputs="level", time="t")[0]
    np.testing.assert_array_equal(record.y[:, 0], [1.0, np.nan, 3.0, 4.0])
    assert (record.dt, record.input_names, record.output_names) == (0.5, ("valve",), ("level",))
    assert len(as_records([data, data], inputs=["valve"], outputs=["level"])) == 2
    with pytest.raises(DataError, match=r"no column 'valv'\. Did you mean 'valve'"):
        as_records(data, inputs=["valv"], outputs=["level"])
    with pytest.raises(DataError, match="column 'note', row 0: expected a number, got 'a'"):
        as_records(data, outputs=["note"])
    with pytest.raises(DataError, match="the columns are t, valve, level, note"):
        as_records(data)


@pytest.mark.parametrize("frame", [pandas.DataFrame, polars.DataFrame])
def test_dates_give_seconds(frame):
    stamps = np.datetime64("2024-05-31T12:00:00", "ms") + 250 * np.arange(5).astype(
        "timedelta64[ms]"
    )
    record = as_records(frame({"when": stamps, "y": np.arange(5.0)}), outputs=["y"], time="when")[0]
    assert record.dt == pytest.approx(0.25, rel=1e-12)


@pytest.mark.parametrize(
    ("data", "words"), [([], "empty list"), (3, "got int"), ("drives", "drives: no such file")]
)
def test_what_is_no_data_is_refused(data, words):
    with pytest.raises(DataError, match=words):
        as_records(data)


def test_experiments_must_be_alike():
    check_alike([Record(U, Y, 0.1), Record(U, Y, 0.1), Record(U, Y)])
    with pytest.raises(DataError, match=r"b: 2 inputs, but a has 1"):
        check_alike([Record(U, Y, name="a"), Record(np.stack([U, U], 1), Y, name="b")])
    with pytest.raises(DataError, match=r"sampled every 0.2 s"):
        check_alike([Record(U, Y, 0.1, name="a"), Record(U, Y, 0.2, name="b")])


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (Record(U, None), "no outputs"),
        (Record(np.ones(6), Y), "input column 'u' is constant"),
        (Record(U, np.ones(6)), "output column 'y' is constant"),
        (Record(U, np.full(6, np.nan)), "every value is missing"),
    ],
)
def test_training_needs_data_that_move(record, words):
    with pytest.raises(DataError, match=words):
        check_training([record])


def test_training_accepts_a_column_that_moves_in_one_experiment_only():
    check_training([Record(np.ones(6), Y), Record(U, Y)])
    check_training([Record(None, Y), Record(None, Y)])


def test_outputs_beside_a_record_are_refused_not_dropped():
    with pytest.raises(DataError, match="a Record brings its own outputs"):
        as_records(Record(U, Y), Y)


@pytest.mark.parametrize("unit", [1e-15, 1e-60, 1e60])
def test_small_and_large_units_are_no_constants(unit: float) -> None:
    check_training([Record(unit * np.arange(9.0), unit * np.arange(9.0))])


def test_a_column_whose_squares_are_no_numbers_is_refused() -> None:
    tiny = Record(1e-150 * np.arange(9.0), np.arange(9.0))
    with pytest.raises(DataError, match="'u' moves by 8e-150") as caught:
        check_training([tiny])
    assert "expected at least 1e-100, use other units" in str(caught.value)
