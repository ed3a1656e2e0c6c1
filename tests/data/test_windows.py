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


def test_a_record_shorter_than_the_horizon_is_named():
    with pytest.raises(
        DataError, match=r"r1: 6 rows are too short .* horizon=7; choose horizon at most 6"
    ):
        windows.sliding(numbered([9, 6]), 7)


def test_gaps_are_bridged_only_in_the_filled_copy():
    record = Record(None, [0.0, np.nan, 2.0, np.nan])
    cut = windows.sliding([record], 2)
    np.testing.assert_array_equal(cut.y_filled[:, 0], [0.0, 1.0, 2.0, 2.0])
    assert np.isnan(cut.y[[1, 3], 0]).all()
