"""The sparse GP against exact regression and closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.stats import multivariate_normal

from prssm.foundation.precision import double_precision
from prssm.gp.kernels import KERNELS
from prssm.gp.linalg import JITTER
from prssm.gp.sparse import DiagonalInducing, SparseGP, WhitenedInducing


def make_gp(points=6, dim=2, z_std=0.3, seed=0, kernel="squared-exponential"):
    rng = np.random.default_rng(seed)
    return SparseGP(
        KERNELS[kernel](dim, 0.8, 1.1),
        jnp.asarray(rng.uniform(-2, 2, (points, dim))),
        DiagonalInducing(
            jnp.asarray(rng.normal(size=points)),
            jnp.log(jnp.asarray(z_std * rng.uniform(0.5, 1.5, points))),
        ),
    )


def prior_covariance(gp):
    gram = np.asarray(gp.kernel.gram(gp.zeta))
    return gram + JITTER * np.mean(np.diag(gram)) * np.eye(len(gram))


@pytest.mark.parametrize("kernel", KERNELS)
def test_equals_exact_regression_when_the_inducing_inputs_are_the_data(kernel):
    """z known exactly at the data points is noise-free regression: k K^-1 y and k_xx - k K^-1 k."""
    with double_precision():
        gp = make_gp(z_std=1e-12, kernel=kernel)
        queries = jnp.asarray(np.random.default_rng(5).normal(size=(2, 7)))
        mean, variance = (np.asarray(part) for part in gp.condition()(queries))
        covariance = prior_covariance(gp)
        cross = np.asarray(gp.kernel.cross(gp.zeta, queries))
        exact_mean = cross.T @ np.linalg.solve(covariance, np.asarray(gp.inducing.mean))
        exact_var = np.asarray(gp.kernel.diag(queries)) - np.sum(
            cross * np.linalg.solve(covariance, cross), axis=0
        )
    np.testing.assert_allclose(mean, exact_mean, rtol=1e-8)
    np.testing.assert_allclose(variance, exact_var, rtol=1e-6, atol=1e-9)


def test_marginalising_z_agrees_with_the_joint_gaussian():
    """Mean and variance of f* where z ~ q(z) and f* | z is the GP conditional, by the law of total
    variance.
    """
    with double_precision():
        gp = make_gp(z_std=0.4)
        query = jnp.asarray([[0.3], [-0.7]])
        mean, variance = gp.condition()(query)
        alpha = np.linalg.solve(
            prior_covariance(gp), np.asarray(gp.kernel.cross(gp.zeta, query))[:, 0]
        )
        prior_var = float(gp.kernel.diag(query)[0])
        conditional_var = prior_var - alpha @ prior_covariance(gp) @ alpha
        total_var = (
            conditional_var + alpha @ np.diag(np.exp(2 * np.asarray(gp.inducing.log_std))) @ alpha
        )
    assert float(mean[0]) == pytest.approx(alpha @ np.asarray(gp.inducing.mean), rel=1e-9)
    assert float(variance[0]) == pytest.approx(total_var, rel=1e-9)


def test_kl_equals_the_closed_form_and_a_monte_carlo_estimate():
    with double_precision():
        gp = make_gp()
        kl = float(gp.condition().kl())
        mean = np.asarray(gp.inducing.mean)
        std = np.exp(np.asarray(gp.inducing.log_std))
        covariance = prior_covariance(gp)
    inverse = np.linalg.inv(covariance)
    closed = 0.5 * (
        np.trace(inverse @ np.diag(std**2))
        + mean @ inverse @ mean
        - len(mean)
        + np.linalg.slogdet(covariance)[1]
        - np.sum(np.log(std**2))
    )
    assert kl == pytest.approx(closed, rel=1e-9)

    draws = mean + std * np.random.default_rng(0).normal(size=(20_000, len(mean)))
    ratios = multivariate_normal(mean, np.diag(std**2)).logpdf(draws) - multivariate_normal(
        np.zeros(len(mean)), covariance
    ).logpdf(draws)
    assert abs(ratios.mean() - kl) < 4 * ratios.std() / np.sqrt(len(ratios))


def test_kl_is_zero_when_q_is_the_prior():
    """Inducing inputs so far apart that the prior covariance is diagonal, so q can equal it."""
    with double_precision():
        kernel = KERNELS["squared-exponential"](1, 0.8, 1.0)
        std = 0.8 * np.sqrt(1 + JITTER)
        gp = SparseGP(
            kernel,
            100.0 * jnp.arange(4.0)[:, None],
            DiagonalInducing(jnp.zeros(4), jnp.full(4, np.log(std))),
        )
        assert float(gp.condition().kl()) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kind", ["diagonal", "full"])
def test_gradients_agree_with_finite_differences(kind):
    """Of the KL and of a prediction's moments together, in every parameter at once along random
    directions.
    """
    with double_precision():
        gp = make_gp() if kind == "diagonal" else full_gp()
        queries = jnp.asarray(np.random.default_rng(5).normal(size=(2, 3)))

        flat, rebuild = ravel_pytree(gp)

        @jax.jit
        @jax.value_and_grad
        def both(flat):
            posterior = rebuild(flat).condition()
            mean, variance = posterior(queries)
            return posterior.kl() + jnp.sum(mean * jnp.arange(1.0, 4.0)) + jnp.sum(variance)

        slope = both(flat)[1]
        rng = np.random.default_rng(3)
        step = 1e-6
        for _ in range(4):
            direction = jnp.asarray(rng.normal(size=flat.shape))
            ahead, behind = (both(flat + sign * step * direction)[0] for sign in (1, -1))
            assert float(slope @ direction) == pytest.approx(
                float(ahead - behind) / (2 * step), rel=1e-5
            )


def full_gp(points=6, seed=1):
    rng = np.random.default_rng(seed)
    gp = make_gp(points)
    return SparseGP(
        gp.kernel,
        gp.zeta,
        WhitenedInducing(
            jnp.asarray(rng.normal(size=points)),
            jnp.asarray(0.3 * rng.normal(size=(points, points))),
        ),
    )


def test_full_covariance_agrees_with_the_unwhitened_gaussian():
    """q(z) = N(L m, L V V' L'): mean, variance and KL by plain formulas in z."""
    with double_precision():
        gp = full_gp()
        query = jnp.asarray([[0.3], [-0.7]])
        mean, variance = (float(part[0]) for part in gp.condition()(query))
        kl = float(gp.condition().kl())
        covariance = prior_covariance(gp)
        factor = np.asarray(gp.inducing.factor)
        lower = np.tril(factor, -1) + np.diag(np.exp(np.diag(factor)))
        root = np.linalg.cholesky(covariance)
        z_mean = root @ np.asarray(gp.inducing.mean)
        z_cov = root @ lower @ lower.T @ root.T
        alpha = np.linalg.solve(covariance, np.asarray(gp.kernel.cross(gp.zeta, query))[:, 0])
        prior_var = float(gp.kernel.diag(query)[0])
    assert mean == pytest.approx(alpha @ z_mean, rel=1e-8)
    assert variance == pytest.approx(
        prior_var - alpha @ covariance @ alpha + alpha @ z_cov @ alpha, rel=1e-8
    )
    inverse = np.linalg.inv(covariance)
    closed = 0.5 * (
        np.trace(inverse @ z_cov)
        + z_mean @ inverse @ z_mean
        - len(z_mean)
        + np.linalg.slogdet(covariance)[1]
        - np.linalg.slogdet(z_cov)[1]
    )
    assert kl == pytest.approx(closed, rel=1e-8)


def test_draws_have_the_moments_of_q():
    """Averaged over draws, a drawn posterior has the mean of q and, with its own variance, the
    variance of q.
    """
    with double_precision():
        gp = full_gp()
        count = 40_000
        noise = jax.random.normal(jax.random.key(0), (6, count))
        query = jnp.asarray([[0.3], [-0.7]])
        expected_mean, expected_var = (float(part[0]) for part in gp.condition()(query))
        drawn = gp.condition().drawn(noise)
        means, variances = (np.asarray(part) for part in drawn(jnp.repeat(query, count, axis=1)))
    spread = expected_var - variances[0]
    assert abs(means.mean() - expected_mean) < 4 * np.sqrt(spread / count)
    assert abs(means.var() - spread) < 4 * spread * np.sqrt(2 / count)


def test_a_draw_is_the_same_function_at_every_query():
    """Each column of noise is one function f(x) = k(x)' K^-1 L (m + V noise), wherever it is asked:
    then values of one draw at two queries are correlated as q says.
    """
    with double_precision():
        gp = full_gp()
        noise = np.random.default_rng(0).normal(size=(6, 5))
        drawn = gp.condition().drawn(jnp.asarray(noise))
        factor = np.asarray(gp.inducing.factor)
        lower = np.tril(factor, -1) + np.diag(np.exp(np.diag(factor)))
        covariance = prior_covariance(gp)
        white = np.asarray(gp.inducing.mean)[:, None] + lower @ noise
        weights = np.linalg.solve(covariance, np.linalg.cholesky(covariance) @ white)
        for query in ([[0.3], [-0.7]], [[-1.1], [0.4]]):
            query = jnp.asarray(query)
            got = drawn(jnp.repeat(query, 5, axis=1))[0]
            expected = np.asarray(gp.kernel.cross(gp.zeta, query))[:, 0] @ weights
            np.testing.assert_allclose(got, expected, rtol=1e-8)
