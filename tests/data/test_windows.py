"""Sub-trajectories never cross records, and cover all rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prssm.data import windows
from prssm.data.record import Record
from prssm.foundation.errors import DataError


def numbered(lengths):
    """Records whose outputs tell which record and row they are."""
    return [
        Record(np.arange(n)[:, None] * 1.0, (1000 * i + np.arange(n))[:, None] * 1.0, name=f"r{i}")
        for i, n in enumerate(lengths)
    ]


@given(st.lists(st.integers(5, 12), min_size=1, max_size=4), st.integers(2, 5))
def test_every_window_lies_in_one_record_and_every_row_in_a_window(lengths, horizon):
    cut = windows.sliding(numbered(lengths), horizon)
    rows = cut.starts[:, None] + np.arange(horizon)
    outputs = cut.y[rows, 0]
    assert (np.diff(outputs, axis=1) == 1).all()
    assert set(outputs.ravel()) == set(cut.y[:, 0])
    assert len(cut.starts) == sum(n - horizon + 1 for n in lengths)
    assert cut.steps == sum(lengths)


@given(st.lists(st.integers(2, 9), min_size=1, max_size=4))
def test_whole_records_are_padded_with_missing_outputs(lengths):
    cut = windows.whole(numbered(lengths))
    assert cut.horizon == max(lengths)
    assert cut.steps == sum(lengths) == np.isfinite(cut.y).sum()
    for i, (start, length) in enumerate(zip(cut.starts, lengths, strict=True)):
        np.testing.assert_array_equal(
            cut.y[start : start + length, 0], 1000 * i + np.arange(length)
        )
    assert np.isfinite(cut.u).all()
    assert np.isfinite(cut.y_filled).all()


def test_records_that_are_all_shorter_than_the_horizon_are_named():
    with pytest.raises(
        DataError, match=r"r0: 5 rows are too short .* horizon=7; choose horizon at most 6"
    ):
        windows.sliding(numbered([5, 6]), 7)


@given(st.lists(st.integers(2, 12), max_size=4), st.integers(0, 4))
def test_a_shorter_record_is_one_window_that_is_filled_up(lengths, place):
    lengths.insert(min(place, len(lengths)), 9)
    cut = windows.sliding(numbered(lengths), 8)
    recorded = np.concatenate([record.y for record in numbered(lengths)])
    np.testing.assert_array_equal(cut.y[: cut.steps], recorded)  # as they are, end to end
    shown = cut.y[cut.starts[:, None] + np.arange(8), 0]
    assert set(shown[np.isfinite(shown)]) == set(recorded[:, 0])  # every row is in a window
    assert (np.diff(shown, axis=1)[np.isfinite(shown[:, 1:])] == 1).all()
    missing = np.isnan(shown).sum(axis=1)
    expected = [8 - n for n in lengths if n < 8 for _ in range(max(1, n // 2))]
    assert sorted(missing[missing > 0]) == sorted(expected)  # as often as its rows ask for
    assert np.isfinite(cut.y_filled).all()
    assert cut.steps == sum(lengths)


@pytest.mark.parametrize("cut", [windows.whole, lambda records: windows.sliding(records, 8)])
def test_what_is_true_of_recorded_rows_is_true_of_their_copies(cut):
    records = numbered([9, 3, 12])
    found = cut(records)
    recorded = np.concatenate([record.y[:, 0] for record in records])
    shown = found.rows(recorded < 1000)  # the first record alone
    np.testing.assert_array_equal(shown, found.y[:, 0] < 1000)  # never where filled up: NaN


@pytest.mark.parametrize(
    ("lengths", "usual"),
    [([500], 500), ([500, 9], 500), ([40, 40, 40], 40), ([9, 41, 50], 41), ([9, 25, 66], 66)],
)
def test_stubs_do_not_say_how_long_records_are(lengths, usual):
    assert windows.usual_length(numbered(lengths)) == usual


def test_gaps_are_bridged_only_in_the_filled_copy():
    record = Record(None, [0.0, np.nan, 2.0, np.nan])
    cut = windows.sliding([record], 2)
    np.testing.assert_array_equal(cut.y_filled[:, 0], [0.0, 1.0, 2.0, 2.0])
    assert np.isnan(cut.y[[1, 3], 0]).all()
