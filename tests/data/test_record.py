import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from prssm.data.record import Record
from prssm.foundation.errors import DataError

FINITE = st.floats(-1e9, 1e9)


@given(st.integers(2, 20), st.integers(0, 3), st.integers(1, 3), st.data())
def test_record_keeps_the_numbers_and_cannot_be_changed(length, inputs, outputs, data):
    u = data.draw(arrays(np.float64, (length, inputs), elements=FINITE))
    y = data.draw(arrays(np.float64, (length, outputs), elements=FINITE | st.just(np.nan)))
    record = Record(u if inputs else None, y)
    assert (len(record), record.input_dim, record.output_dim) == (length, inputs, outputs)
    np.testing.assert_array_equal(record.u, u)
    np.testing.assert_array_equal(record.y, y)
    with pytest.raises(ValueError, match="read-only"):
        record.y[0, 0] = 1.0


def test_record_copies_what_it_is_given():
    y = np.arange(4.0)
    record = Record(None, y)
    y[0] = 99.0
    assert record.y[0, 0] == 0.0


@given(st.integers(4, 40), st.integers(0, 10), st.integers(1, 4))
def test_slices_cut_inputs_and_outputs_together(length, start, step):
    record = Record(
        np.arange(length),
        10.0 * np.arange(length),
        0.5,
        input_names=["a"],
        output_names=["b"],
        name="r",
    )
    rows = slice(min(start, length - step - 1) if length > step + 1 else 0, None, step)
    if len(range(length)[rows]) < 2:
        return
    cut = record[rows]
    np.testing.assert_array_equal(cut.u[:, 0], np.arange(length)[rows])
    np.testing.assert_array_equal(cut.y, 10.0 * cut.u)
    assert (cut.dt, cut.input_names, cut.output_names, cut.name) == (
        0.5 * step,
        ("a",),
        ("b",),
        "r",
    )


def test_names_by_default_and_by_choice():
    assert Record(np.zeros((3, 2)), np.zeros(3)).input_names == ("u1", "u2")
    assert Record(np.zeros((3, 2)), np.zeros(3)).output_names == ("y",)
    assert Record(np.zeros(3), np.zeros(3), input_names=["valve"]).renamed("new").input_names == (
        "valve",
    )
    assert "valve" in repr(Record(np.zeros(3), np.zeros(3), input_names=["valve"]))


def test_an_absent_output_is_an_empty_column_set():
    assert Record(np.zeros(5), None).y.shape == (5, 0)
    assert Record(None, np.zeros(5)).u.shape == (5, 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(u=None, y=None), "neither"),
        (dict(u=np.zeros(3), y=np.zeros(4)), "u has 3 rows, y has 4"),
        (dict(u=[0.0], y=[0.0]), "at least 2 rows, got 1"),
        (dict(u=[], y=[]), "at least 2 rows, got 0"),
        (dict(u=["a", "b"], y=[0, 1]), "u is not an array of numbers"),
        (dict(u=None, y=np.zeros((2, 2, 2))), "y has 3 dimensions"),
        (dict(u=[[0, 1], [2, np.nan]], y=[0, 1]), "'u2' is NaN at row 1"),
        (dict(u=None, y=[0, np.inf]), "'y' is infinite at row 1"),
        (dict(u=None, y=[0, 1], dt=0.0), "dt must be a positive number"),
        (dict(u=None, y=[0, 1], dt="fast"), "dt"),
        (dict(u=None, y=[0, 1], output_names=["a", "b"]), "output_names has 2 names, expected 1"),
        (dict(u=None, y=[0, 1], output_names="ab"), "output_names"),
        (dict(u=None, y=[0, 1, 2], time=[0, 1]), "time has 2 rows, expected 3"),
        (dict(u=None, y=[0, 1, 2], time=[0, np.nan, 2]), "time is not a number at row 1"),
        (dict(u=None, y=np.zeros(5), time=[0, 1, 2, 5, 6]), "2 rows missing after row 2"),
        (dict(u=None, y=np.zeros(5), time=[0, 1, 2.4, 3, 4]), "irregular.*from row 1 to row 2"),
        (dict(u=None, y=np.zeros(3), time=[3, 2, 1]), "time goes back at row 1"),
        (dict(u=None, y=np.zeros(4), time=[0, 1, 1, 2]), "row 2 has the time of the row before"),
        (
            dict(u=None, y=np.zeros(3), time=[0, 1, 2], dt=2.0),
            "dt is 2 but the time stamps are 1 apart",
        ),
    ],
)
def test_bad_data_is_named_in_one_line(arguments, words):
    with pytest.raises(DataError, match=words) as caught:
        Record(**arguments, name="log")
    assert str(caught.value).startswith("log: ")
    assert "\n" not in str(caught.value)


def test_time_stamps_give_the_step_even_with_jitter():
    stamps = 0.02 * np.arange(100) + 1e-5 * np.sin(np.arange(100))
    assert Record(None, np.zeros(100), time=stamps).dt == pytest.approx(0.02, rel=1e-3)


def test_gaps_are_bridged_linearly_and_ends_held():
    y = np.array([[np.nan, 1.0], [2.0, np.nan], [np.nan, np.nan], [4.0, 7.0], [np.nan, np.nan]])
    filled = Record(None, y).outputs_filled()
    np.testing.assert_allclose(filled, [[2, 1], [2, 3], [3, 5], [4, 7], [4, 7]])
    np.testing.assert_array_equal(
        Record(None, np.full((3, 1), np.nan)).outputs_filled(), np.zeros((3, 1))
    )
