"""Trajectories in pairs that mirror each other."""

import numpy as np
import pytest

from prssm.prediction.paired_draws import paired_normal


@pytest.mark.parametrize("count", [1, 2, 7, 8])
def test_the_second_half_is_minus_the_first(count: int) -> None:
    drawn = paired_normal(np.random.default_rng(0), (3, count))
    half = count // 2
    np.testing.assert_array_equal(drawn[:, count - half :], -drawn[:, :half])
    assert drawn.shape == (3, count)


def test_moments_are_those_of_normal_numbers() -> None:
    """4 standard errors; the mean of an even number is exactly 0."""
    drawn = paired_normal(np.random.default_rng(1), (2000,), np.float32)
    assert drawn.dtype == np.float32
    assert drawn.mean() == pytest.approx(0.0, abs=1e-7)
    assert drawn.var() == pytest.approx(1.0, abs=4 * np.sqrt(2 / 1000))


def test_linear_functions_of_the_numbers_have_an_exact_mean() -> None:
    """A linear recursion driven by them has, in the mean, no noise at all."""
    noise = paired_normal(np.random.default_rng(2), (50, 2, 10))
    matrix = np.array([[0.9, 0.2], [-0.1, 0.8]])
    state = np.zeros((2, 10))
    for eps in noise:
        state = matrix @ state + eps
        np.testing.assert_allclose(state.mean(axis=1), 0.0, atol=1e-13)
