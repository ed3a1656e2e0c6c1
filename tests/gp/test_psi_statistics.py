"""Psi statistics: Monte Carlo, the textbook formula, and the limit of certain inputs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prssm.foundation.precision import double_precision
from prssm.gp import psi_statistics
from prssm.gp.kernels import SquaredExponential
from prssm.gp.psi_statistics import psi1, summed_spread


def case(seed, points=3, inducing=4, dims=2, largest_var=0.5):
    random = np.random.default_rng(seed)
    kernel = SquaredExponential(
        np.log(random.uniform(0.5, 2.0)), np.log(random.uniform(0.5, 2.0, dims))
    )
    return (
        kernel,
        random.normal(size=(inducing, dims)),
        random.normal(size=(points, dims)),
        random.uniform(0.0, largest_var, (points, dims)),
    )


@jax.jit
def both(kernel, zeta, mean, var, weights):
    return psi1(kernel, zeta, mean, var=var), summed_spread(
        kernel, zeta, mean, var=var, weights=weights
    )


def evaluated(kernel, zeta, mean, var, weights):
    with double_precision():
        return tuple(
            np.asarray(part) for part in both(kernel, zeta, mean, var=var, weights=weights)
        )


def covariance(kernel, x, zeta):
    away = (x[..., None, :] - zeta) / np.exp(kernel.log_lengthscale)
    return np.exp(2.0 * kernel.log_std - 0.5 * np.sum(away**2, axis=-1))


def test_monte_carlo_agrees_within_the_standard_error():
    kernel, zeta, mean, var = case(0)
    # near each other, so that no product hangs on a few rare draws
    zeta = 0.4 * zeta
    mean = 0.4 * mean
    count = 200_000
    x = mean + np.sqrt(var) * np.random.default_rng(1).standard_normal((count, *mean.shape))
    k = covariance(kernel, x, zeta)  # (count, N, P)
    first, spread = evaluated(kernel, zeta, mean, var=var, weights=np.eye(3))
    assert (np.abs(k.mean(axis=0) - first) < 5.0 * k.std(axis=0) / np.sqrt(count)).all()
    for n in range(3):
        products = (k[:, n, :, None] - first[n][:, None]) * (k[:, n, None, :] - first[n])
        assert (
            np.abs(products.mean(axis=0) - spread[n]) < 5.0 * products.std(axis=0) / np.sqrt(count)
        ).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.floats(1e-6, 4.0))
def test_textbook_formula_of_psi2(seed, largest_var):
    kernel, zeta, mean, var = case(seed, largest_var=largest_var)
    weights = np.random.default_rng(seed + 1).uniform(0.0, 1.0, (3, 2))
    l = np.exp(2.0 * kernel.log_lengthscale)
    expected = np.zeros((2, 4, 4))
    for n, i, j in np.ndindex(3, 4, 4):
        c = 0.5 * (zeta[i] + zeta[j])
        exponent = -((zeta[i] - zeta[j]) ** 2) / (4 * l) - (mean[n] - c) ** 2 / (l + 2 * var[n])
        expected[:, i, j] += (
            weights[n]
            * np.exp(4 * kernel.log_std + exponent.sum())
            / np.sqrt(np.prod(1 + 2 * var[n] / l))
        )
    first, spread = evaluated(kernel, zeta, mean, var=var, weights=weights)
    np.testing.assert_allclose(
        np.einsum("nd,ni,nj->dij", weights, first, first) + spread, expected, rtol=1e-10, atol=1e-13
    )


def test_certain_inputs_give_the_plain_kernel():
    kernel, zeta, mean, _ = case(2)
    first, spread = evaluated(kernel, zeta, mean, var=np.zeros_like(mean), weights=np.ones((3, 1)))
    np.testing.assert_allclose(first, covariance(kernel, mean, zeta), rtol=1e-13)
    np.testing.assert_array_equal(spread, 0.0)


def test_nothing_cancels_for_nearly_certain_inputs():
    """To first order the spread is slope times variance times slope, even where the variance is
    1e-18.
    """
    kernel, zeta, mean, _ = case(3)
    var = np.full(mean.shape, 1e-18)
    k = covariance(kernel, mean, zeta)
    # (N, P, Din)
    slope = k[..., None] * (zeta - mean[:, None]) / np.exp(2.0 * kernel.log_lengthscale)
    _, spread = evaluated(kernel, zeta, mean, var=var, weights=np.ones((3, 1)))
    np.testing.assert_allclose(spread[0], 1e-18 * np.einsum("niq,njq->ij", slope, slope), rtol=1e-6)


@pytest.mark.parametrize("points", [7, 8])
def test_blocks_change_neither_value_nor_gradient(points, monkeypatch):
    arguments = (*case(4, points=points), np.random.default_rng(5).uniform(size=(points, 2)))
    total = jax.value_and_grad(
        lambda mean, rest: jnp.sum(jnp.sin(summed_spread(*rest[:2], mean, *rest[2:])))
    )

    def run():
        kernel, zeta, mean, var, weights = arguments
        with double_precision():
            return jax.jit(lambda *given: total(*given))(
                jnp.asarray(mean), (kernel, zeta, var, weights)
            )

    whole = run()
    monkeypatch.setattr(psi_statistics, "BLOCK", 3)
    for a, b in zip(whole, run(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_far_apart_points_stay_finite():
    kernel, zeta, mean, var = case(6)
    first, spread = evaluated(
        kernel, 100.0 * zeta, 100.0 * mean, var=10.0 * var, weights=np.ones((3, 1))
    )
    assert np.isfinite(first).all()
    assert np.isfinite(spread).all()
