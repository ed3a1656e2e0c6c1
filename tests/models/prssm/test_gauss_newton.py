"""Gauss-Newton steps: exact for linear equations, shorter where whole ones do not help."""

import numpy as np
import pytest

from prssm.models.prssm.filtering.gauss_newton import Local, least


def linear(A, b):
    """|A x - b|^2 at places (..., 2), and how often it was asked for."""
    asked = []

    def at(x):
        asked.append(len(x))
        error = x @ A.T - b
        curvature = np.broadcast_to(A.T @ A, (*x.shape, x.shape[-1]))
        return Local(np.sum(error**2, axis=-1), error @ A, curvature)

    return at, asked


@pytest.mark.parametrize("places", [(), (3,), (2, 4)])
def test_linear_equations_are_solved_by_the_first_step(places):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 2))
    b = rng.normal(size=5)
    at, asked = linear(A, b)
    x, local = least(at, rng.normal(size=(*places, 2)), shorter=0.5, tries=3, small=1e-9)
    expected = np.linalg.lstsq(A, b)[0]
    np.testing.assert_allclose(x, np.broadcast_to(expected, (*places, 2)), atol=1e-12)
    np.testing.assert_allclose(local.slope, 0.0, atol=1e-12)
    assert len(asked) <= 2 + 3  # the start, one step, and tries that gain nothing more


def bent(x):
    """arctan(x)^2 from (n, 1) places: a whole step from beyond 1.4 leads further away."""
    error = np.arctan(x)
    slope = 1.0 / (1.0 + x**2)
    cost = np.where(np.abs(x) > 20.0, np.inf, error**2)[..., 0]
    return Local(cost, error * slope, (slope**2)[..., None])


def test_steps_that_lead_away_are_shortened_and_a_lost_place_stays_alone():
    x, local = least(bent, np.array([[3.0], [-0.5], [1000.0]]), shorter=0.3, tries=5)
    np.testing.assert_allclose(x[:2], 0.0, atol=1e-12)
    np.testing.assert_allclose(local.cost[:2], 0.0, atol=1e-24)
    assert np.isinf(local.cost[2])
    whole, _ = least(bent, np.array([[3.0]]), shorter=0.3, tries=1)
    assert abs(whole[0, 0]) == 3.0  # a whole step alone never helps
