"""The collapsed bound: Titsias' bound, exact regression, and the evidence bound it is the optimum
of.
"""

import jax
import numpy as np
from scipy.stats import multivariate_normal

from prssm.foundation.precision import double_precision
from prssm.gp.collapsed import CollapsedGP, Pairs
from prssm.gp.kernels import SquaredExponential
from prssm.gp.linalg import JITTER
from prssm.gp.psi_statistics import psi1, summed_spread


def case(seed, rows=9, inducing=4, dims=2, outputs=2):
    random = np.random.default_rng(seed)
    kernel = SquaredExponential(np.asarray(np.log(1.3)), np.log(random.uniform(0.8, 2.0, dims)))
    gp = CollapsedGP(
        kernel, random.normal(size=(inducing, dims)), np.log(random.uniform(0.2, 0.5, outputs))
    )
    inputs = (rows, dims)
    targets = (rows, outputs)
    pairs = Pairs(
        random.normal(size=inputs),
        random.uniform(0.0, 0.3, inputs),
        random.normal(size=targets),
        target_var=random.uniform(0.0, 0.2, targets),
        counted=(random.uniform(size=targets) < 0.8).astype(float),
    )
    return gp, pairs


def certain(pairs):
    return pairs._replace(var=np.zeros_like(pairs.var), target_var=np.zeros_like(pairs.target_var))


@jax.jit
def bound_and_posterior(gp, pairs):
    return gp.bound(pairs), gp.condition(pairs)


def evaluated(gp, pairs):
    with double_precision():
        return jax.tree.map(np.asarray, bound_and_posterior(gp, pairs))


def gram(kernel, a, b):
    away = (a[:, None] - b) / np.exp(kernel.log_lengthscale)
    return np.exp(2.0 * kernel.log_std - 0.5 * np.sum(away**2, axis=-1))


def prior(gp):
    return gram(gp.kernel, gp.zeta, gp.zeta) + JITTER * np.exp(2.0 * gp.kernel.log_std) * np.eye(
        len(gp.zeta)
    )


def titsias(gp, x, y, noise_var):
    cross = gram(gp.kernel, x, gp.zeta)
    q = cross @ np.linalg.solve(prior(gp), cross.T)
    trace = len(y) * np.exp(2.0 * gp.kernel.log_std) - np.trace(q)
    return (
        multivariate_normal(np.zeros(len(y)), q + noise_var * np.eye(len(y))).logpdf(y)
        - 0.5 * trace / noise_var
    )


def test_certain_data_give_the_bound_of_titsias_on_the_rows_that_count():
    gp, pairs = case(0)
    pairs = certain(pairs)
    assert 0.0 < pairs.counted.mean() < 1.0
    expected = 0.0
    for d in range(2):
        rows = pairs.counted[:, d] == 1.0
        expected += titsias(
            gp, pairs.mean[rows], pairs.target[rows, d], noise_var=np.exp(2.0 * gp.log_noise_std[d])
        )
    np.testing.assert_allclose(evaluated(gp, pairs)[0], expected, rtol=1e-9)


def test_inducing_inputs_at_the_data_give_exact_regression():
    gp, pairs = case(1, rows=6, outputs=1)
    # K is well conditioned
    apart = np.array([[-3.0, 0.0], [-1.5, 2.0], [0.0, -2.0], [1.5, 1.0], [3.0, -1.0], [4.5, 1.5]])
    pairs = certain(pairs)._replace(counted=np.ones((6, 1)), mean=apart)
    gp = CollapsedGP(gp.kernel, pairs.mean, gp.log_noise_std)
    noise_var = np.exp(2.0 * gp.log_noise_std[0])
    covariance = gram(gp.kernel, pairs.mean, pairs.mean) + noise_var * np.eye(6)
    bound, posterior = evaluated(gp, pairs)
    np.testing.assert_allclose(
        bound, multivariate_normal(np.zeros(6), covariance).logpdf(pairs.target[:, 0]), rtol=1e-4
    )
    np.testing.assert_allclose(
        posterior.weights[0], np.linalg.solve(covariance, pairs.target[:, 0]), rtol=1e-3, atol=1e-5
    )
    np.testing.assert_allclose(
        posterior.quadratic[0], np.linalg.inv(covariance), rtol=1e-3, atol=1e-4
    )


def free_bound(gp, pairs, d, z_mean, z_covariance):
    """The same bound before q(z) = N(z_mean, z_covariance) is chosen: E[log p(t | z, x)] - KL(q(z)
    || p(z)).
    """
    precision = np.linalg.inv(prior(gp))
    noise_var = np.exp(2.0 * gp.log_noise_std[d])
    w = pairs.counted[:, d]
    with double_precision():
        first = np.asarray(psi1(gp.kernel, gp.zeta, pairs.mean, var=pairs.var))
        second = (
            np.asarray(
                summed_spread(gp.kernel, gp.zeta, pairs.mean, var=pairs.var, weights=w[:, None])
            )[0]
            + (first.T * w) @ first
        )
    projected = precision @ second @ precision
    squares = w @ (pairs.target[:, d] ** 2 + pairs.target_var[:, d])
    error = (
        squares
        - 2.0 * (w * pairs.target[:, d]) @ first @ precision @ z_mean
        + z_mean @ projected @ z_mean
    )
    error += (
        np.trace(projected @ z_covariance)
        + w.sum() * np.exp(2.0 * gp.kernel.log_std)
        - np.trace(precision @ second)
    )
    kl = 0.5 * (
        np.trace(precision @ z_covariance)
        + z_mean @ precision @ z_mean
        - len(z_mean)
        + np.linalg.slogdet(prior(gp))[1]
        - np.linalg.slogdet(z_covariance)[1]
    )
    return -0.5 * error / noise_var - 0.5 * w.sum() * np.log(2.0 * np.pi * noise_var) - kl


def test_uncertain_data_give_the_largest_bound_over_all_q():
    gp, pairs = case(2, outputs=1)
    bound, posterior = evaluated(gp, pairs)
    k = prior(gp)
    z_mean = k @ posterior.weights[0]
    z_covariance = k - k @ posterior.quadratic[0] @ k
    np.testing.assert_allclose(
        free_bound(gp, pairs, 0, z_mean=z_mean, z_covariance=z_covariance), bound, rtol=1e-6
    )
    random = np.random.default_rng(3)
    for _ in range(10):
        other = free_bound(
            gp,
            pairs,
            0,
            z_mean=z_mean + 0.1 * random.normal(size=4),
            z_covariance=z_covariance * random.uniform(0.8, 1.2),
        )
        assert other < bound
