"""Sparse regression (FITC) against the exact GP and the joint Gaussian it approximates."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.stats import multivariate_normal

from prssm.foundation.precision import double_precision
from prssm.gp import exact
from prssm.gp.fitc import FITC
from prssm.gp.kernels import SquaredExponential
from prssm.gp.linalg import JITTER

evidence = eqx.filter_jit(FITC.log_marginal)
condition = eqx.filter_jit(FITC.condition)


def problem(points=12, inducing=5, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, (points, 2))
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1] + 0.2 * rng.normal(size=points)
    kernel = SquaredExponential(jnp.log(jnp.asarray(1.3)), jnp.log(jnp.asarray([0.9, 1.4])))
    zeta = jnp.asarray(rng.uniform(-2, 2, (inducing, 2)))
    return FITC(kernel, zeta, jnp.log(jnp.asarray(0.3))), jnp.asarray(x), jnp.asarray(y)


def joint_covariance(gp, x):
    """Of data and queries by the definition: Q + diag(K - Q), from explicit inverses."""
    gram = np.asarray(gp.kernel.gram(gp.zeta))
    gram = gram + JITTER * np.mean(np.diag(gram)) * np.eye(len(gram))
    cross = np.asarray(gp.kernel.cross(gp.zeta, x.T))
    low_rank = cross.T @ np.linalg.inv(gram) @ cross
    return low_rank + np.diag(np.asarray(gp.kernel.diag(x.T)) - np.diag(low_rank))


def test_equals_the_exact_gp_when_the_inducing_inputs_are_the_data():
    with double_precision():
        gp, x, y = problem()
        gp = eqx.tree_at(lambda g: g.zeta, gp, x)
        noise_var = jnp.full(len(y), 0.3**2)
        queries = jnp.asarray(np.random.default_rng(1).normal(size=(2, 9)))
        assert float(evidence(gp, x, y)) == pytest.approx(
            float(exact.log_marginal(gp.kernel, x, y, noise_var)), rel=1e-4
        )
        sparse = condition(gp, x, y)(queries)
        whole = exact.condition(gp.kernel, x, y, noise_var)(queries)
    np.testing.assert_allclose(sparse[0], whole[0], atol=2e-4)
    np.testing.assert_allclose(sparse[1], whole[1], atol=2e-4)


def test_evidence_is_the_density_of_the_approximate_prior():
    with double_precision():
        gp, x, y = problem()
        covariance = joint_covariance(gp, x) + 0.3**2 * np.eye(len(y))
        expected = multivariate_normal(np.zeros(len(y)), covariance).logpdf(y)
        assert float(evidence(gp, x, y)) == pytest.approx(expected, rel=1e-8)


def test_prediction_is_the_conditional_of_the_approximate_prior():
    """Queries and data have one joint Gaussian; conditioning it by brute force gives mean and
    variance of each query.
    """
    with double_precision():
        gp, x, y = problem()
        queries = jnp.asarray(np.random.default_rng(2).normal(size=(4, 2)))
        mean, variance = condition(gp, x, y)(queries.T)
        joint = joint_covariance(gp, jnp.concatenate([x, queries]))
        n = len(y)
        gain = joint[n:, :n] @ np.linalg.inv(joint[:n, :n] + 0.3**2 * np.eye(n))
    np.testing.assert_allclose(mean, gain @ np.asarray(y), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        variance, np.diag(joint[n:, n:] - gain @ joint[:n, n:]), rtol=1e-7, atol=1e-9
    )


def test_evidence_gradient_agrees_with_finite_differences():
    with double_precision():
        gp, x, y = problem()
        flat, rebuild = ravel_pytree(gp)
        value = jax.jit(lambda parameters: rebuild(parameters).log_marginal(x, y))
        slope = jax.jit(jax.grad(value))(flat)
        for seed in range(4):
            direction = jnp.asarray(np.random.default_rng(seed).normal(size=flat.shape))
            numeric = float(value(flat + 1e-6 * direction) - value(flat - 1e-6 * direction)) / 2e-6
            assert float(slope @ direction) == pytest.approx(numeric, rel=1e-5)
