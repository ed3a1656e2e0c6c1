"""Exact regression with a noise for each point, against the joint Gaussian; slopes against
automatic differentiation.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.stats import multivariate_normal

from prssm.foundation.precision import double_precision
from prssm.gp import exact
from prssm.gp.kernels import SquaredExponential


def problem():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(8, 2))
    noise_var = rng.uniform(0.01, 0.5, 8)
    kernel = SquaredExponential(jnp.log(jnp.asarray(1.2)), jnp.log(jnp.asarray([0.8, 1.5])))
    return kernel, jnp.asarray(x), jnp.asarray(np.sin(x).sum(axis=1)), jnp.asarray(noise_var)


def test_evidence_is_the_gaussian_density():
    with double_precision():
        kernel, x, y, noise_var = problem()
        covariance = np.asarray(kernel.gram(x)) + np.diag(noise_var)
        expected = multivariate_normal(np.zeros(len(y)), covariance).logpdf(y)
        assert float(jax.jit(exact.log_marginal)(kernel, x, y, noise_var)) == pytest.approx(
            expected, rel=1e-10
        )


def test_prediction_is_the_gaussian_conditional():
    with double_precision():
        kernel, x, y, noise_var = problem()
        queries = jnp.asarray([[0.3, -0.4], [1.0, 2.0]])
        mean, variance = jax.jit(exact.condition)(kernel, x, y, noise_var)(queries)
        cross = np.asarray(kernel.cross(x, queries))
        solved = np.linalg.solve(np.asarray(kernel.gram(x)) + np.diag(noise_var), cross)
    np.testing.assert_allclose(mean, solved.T @ np.asarray(y), rtol=1e-9)
    np.testing.assert_allclose(variance, 1.2**2 - np.sum(cross * solved, axis=0), rtol=1e-9)


def test_evidence_gradient_agrees_with_finite_differences():
    with double_precision():
        kernel, x, y, noise_var = problem()
        flat, rebuild = ravel_pytree((kernel, x, y, noise_var))
        value = jax.jit(lambda point: exact.log_marginal(*rebuild(point)))
        slope = jax.jit(jax.grad(value))(flat)
        for seed in range(3):
            direction = jnp.asarray(np.random.default_rng(seed).normal(size=flat.shape))
            numeric = float(value(flat + 1e-7 * direction) - value(flat - 1e-7 * direction)) / 2e-7
            assert float(slope @ direction) == pytest.approx(numeric, rel=1e-5)


def test_slopes_are_the_derivative_of_the_mean():
    with double_precision():
        kernel, x, y, noise_var = problem()
        posterior = exact.condition(kernel, x, y, noise_var)
        points = jnp.asarray(np.random.default_rng(1).normal(size=(5, 2)))
        automatic = jax.jit(jax.vmap(jax.grad(lambda point: posterior(point[:, None])[0][0])))(
            points
        )
        slopes = exact.mean_slopes(posterior, points)
    np.testing.assert_allclose(slopes, automatic, rtol=1e-9, atol=1e-12)
