"""Correlation of errors in time, against a process whose correlation is known."""

import numpy as np
import pytest

from prssm.prediction.correlation import are_white, independent_values, lag_one


def first_order(correlation: float, length: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(length, 1))
    for t in range(1, length):
        x[t] = correlation * x[t - 1] + np.sqrt(1.0 - correlation**2) * x[t]
    return x


def test_the_correlation_is_found_and_stretches_and_holes_are_no_neighbours():
    """The estimate's standard error is sqrt((1 - rho^2) / n)."""
    x = first_order(0.9, 4000)
    x[5::400] = np.nan
    found = lag_one([x[:1000], x[1000:]])
    np.testing.assert_allclose(found, 0.9, atol=4 * np.sqrt(0.19 / 4000))
    alternating = np.array([[1.0], [-1.0]] * 10)
    assert lag_one([alternating])[0] == 0.0  # never below
    assert lag_one([np.ones((1, 1)), np.ones((1, 1))])[0] == 0.0  # no neighbours


def test_errors_that_last_are_few_independent_values():
    rng = np.random.default_rng(8)
    white = rng.standard_normal((4000, 2))
    lasting = white.copy()
    for t in range(1, len(lasting)):
        lasting[t] += 0.9 * lasting[t - 1]
    assert independent_values([white]) == pytest.approx(4000, rel=0.1)
    assert independent_values([lasting]) == pytest.approx(4000 * 0.1 / 1.9, rel=0.2)
    lasting[::2, 0] = np.nan
    assert independent_values([lasting])[0] < 4000


def test_errors_are_white_where_neighbours_are_independent_in_every_output():
    """Of 4000 values the correlation is known to 0.016, the limit is 0.15."""
    white = first_order(0.0, 4000)
    assert are_white([white[:1000], white[1000:]])
    assert not are_white([first_order(0.25, 4000)])
    assert not are_white([np.concatenate([white, first_order(0.25, 4000, seed=1)], axis=1)])
    white[::9] = np.nan
    assert are_white([white])
    white[5] = np.inf
    assert not are_white([white])
