"""Lag windows against an explicit loop, with gaps and several records; the choice of lags on
systems of known order.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prssm.data.lag_windows import choose_lags, regression
from prssm.data.record import Record
from prssm.foundation.errors import DataError


def by_hand(records, lags):
    """Every row whose last `lags` rows are complete: newest output first, then newest input
    first.
    """
    x = []
    y = []
    for record in records:
        for t in range(lags, len(record)):
            past = [record.y[t - k] for k in range(1, lags + 1)] + [
                record.u[t - k] for k in range(1, lags + 1)
            ]
            row = np.concatenate(past)
            if not np.isnan(row).any() and not np.isnan(record.y[t]).any():
                x.append(row)
                y.append(record.y[t])
    return np.array(x), np.array(y)


@settings(max_examples=30, deadline=None)
@given(
    lengths=st.lists(st.integers(2, 12), min_size=1, max_size=3),
    lags=st.integers(1, 4),
    inputs=st.integers(0, 2),
    outputs=st.integers(1, 2),
    gaps=st.integers(0, 3),
    seed=st.integers(0, 999),
)
def test_windows_equal_an_explicit_loop(lengths, lags, inputs, outputs, gaps, seed):
    rng = np.random.default_rng(seed)
    records = []
    for length in lengths:
        y = rng.normal(size=(length, outputs))
        y[rng.integers(0, length, gaps)] = np.nan
        records.append(Record(rng.normal(size=(length, inputs)) if inputs else None, y))
    x, y = by_hand(records, lags)
    if not len(x):
        with pytest.raises(DataError):
            regression(records, lags)
        return
    data = regression(records, lags)
    np.testing.assert_array_equal(data.x, x)
    np.testing.assert_array_equal(data.y, y)


def test_thinning_keeps_pairs_and_order():
    record = Record(np.arange(50.0), np.arange(50.0))
    thin = regression([record], 2).thinned(10, np.random.default_rng(0))
    assert len(thin.x) == 10
    np.testing.assert_array_equal(thin.x[:, 0] + 1, thin.y[:, 0])
    assert (np.diff(thin.y[:, 0]) > 0).all()


def delayed(order, seed=0):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=400)
    y = np.zeros(400)
    for t in range(order, 400):
        y[t] = 0.6 * y[t - 1] + np.tanh(u[t - order]) + 0.02 * rng.normal()
    return Record(u, y)


@pytest.mark.parametrize("order", [1, 2, 5])
def test_the_choice_of_lags_finds_a_known_delay(order):
    assert choose_lags([delayed(order)]) == order


def test_too_short_records_are_named():
    with pytest.raises(DataError, match="the longest record has 5 rows; lags=7"):
        regression([Record(np.arange(5.0), np.arange(5.0))], 7)
