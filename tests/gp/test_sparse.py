"""The sparse GP against exact regression and closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from prssm.foundation.precision import double_precision
from prssm.gp.kernels import KERNELS
from prssm.gp.linalg import JITTER
from prssm.gp.sparse import SparseGP


def make_gp(points=6, dim=2, z_std=0.3, seed=0, kernel="squared-exponential"):
    rng = np.random.default_rng(seed)
    return SparseGP(KERNELS[kernel](dim, 0.8, 1.1), jnp.asarray(rng.uniform(-2, 2, (points, dim))),
                    jnp.asarray(rng.normal(size=points)), jnp.log(jnp.asarray(z_std * rng.uniform(0.5, 1.5, points))))


def prior_covariance(gp):
    gram = np.asarray(gp.kernel.gram(gp.zeta))
    return gram + JITTER * np.mean(np.diag(gram)) * np.eye(len(gram))


@pytest.mark.parametrize("kernel", KERNELS)
def test_equals_exact_regression_when_the_inducing_inputs_are_the_data(kernel):
    """z known exactly at the data points is noise-free regression: k K^-1 y and k_xx - k K^-1 k."""
    with double_precision():
        gp = make_gp(z_std=1e-12, kernel=kernel)
        queries = jnp.asarray(np.random.default_rng(5).normal(size=(2, 7)))
        mean, variance = (np.asarray(part) for part in gp.condition(gp.whitener())(queries))
        covariance, cross = prior_covariance(gp), np.asarray(gp.kernel.cross(gp.zeta, queries))
        exact_mean = cross.T @ np.linalg.solve(covariance, np.asarray(gp.z_mean))
        exact_var = np.asarray(gp.kernel.diag(queries)) - np.sum(cross * np.linalg.solve(covariance, cross), axis=0)
    np.testing.assert_allclose(mean, exact_mean, rtol=1e-8)
    np.testing.assert_allclose(variance, exact_var, rtol=1e-6, atol=1e-9)


def test_marginalising_z_agrees_with_the_joint_gaussian():
    """Mean and variance of f* where z ~ q(z) and f* | z is the GP conditional, by the law of total variance."""
    with double_precision():
        gp = make_gp(z_std=0.4)
        query = jnp.asarray([[0.3], [-0.7]])
        mean, variance = gp.condition(gp.whitener())(query)
        alpha = np.linalg.solve(prior_covariance(gp), np.asarray(gp.kernel.cross(gp.zeta, query))[:, 0])
        prior_var = float(gp.kernel.diag(query)[0])
        conditional_var = prior_var - alpha @ prior_covariance(gp) @ alpha
        total_var = conditional_var + alpha @ np.diag(np.exp(2 * np.asarray(gp.log_z_std))) @ alpha
    assert float(mean[0]) == pytest.approx(alpha @ np.asarray(gp.z_mean), rel=1e-9)
    assert float(variance[0]) == pytest.approx(total_var, rel=1e-9)


def test_kl_equals_the_closed_form_and_a_monte_carlo_estimate():
    with double_precision():
        gp = make_gp()
        kl = float(gp.kl(gp.whitener()))
        mean, std, covariance = np.asarray(gp.z_mean), np.exp(np.asarray(gp.log_z_std)), prior_covariance(gp)
    inverse = np.linalg.inv(covariance)
    closed = 0.5 * (np.trace(inverse @ np.diag(std**2)) + mean @ inverse @ mean - len(mean)
                    + np.linalg.slogdet(covariance)[1] - np.sum(np.log(std**2)))
    assert kl == pytest.approx(closed, rel=1e-9)

    draws = mean + std * np.random.default_rng(0).normal(size=(20_000, len(mean)))
    ratios = (multivariate_normal(mean, np.diag(std**2)).logpdf(draws)
              - multivariate_normal(np.zeros(len(mean)), covariance).logpdf(draws))
    assert abs(ratios.mean() - kl) < 4 * ratios.std() / np.sqrt(len(ratios))


def test_kl_is_zero_when_q_is_the_prior():
    """Inducing inputs so far apart that the prior covariance is diagonal, so q can equal it."""
    with double_precision():
        kernel = KERNELS["squared-exponential"](1, 0.8, 1.0)
        std = 0.8 * np.sqrt(1 + JITTER)
        gp = SparseGP(kernel, 100.0 * jnp.arange(4.0)[:, None], jnp.zeros(4), jnp.full(4, np.log(std)))
        assert float(gp.kl(gp.whitener())) == pytest.approx(0.0, abs=1e-12)


def test_kl_gradient_agrees_with_finite_differences():
    with double_precision():
        gp = make_gp()
        gradient = jax.grad(lambda gp: gp.kl(gp.whitener()))(gp)
        step = 1e-6
        for name in ("zeta", "z_mean", "log_z_std"):
            direction = np.random.default_rng(3).normal(size=getattr(gp, name).shape)
            moved = [gp_at.kl(gp_at.whitener()) for gp_at in (
                SparseGP(**{f: getattr(gp, f) + (sign * step * direction if f == name else 0)
                            for f in ("zeta", "z_mean", "log_z_std")}, kernel=gp.kernel) for sign in (1, -1))]
            numeric = float(moved[0] - moved[1]) / (2 * step)
            assert float(jnp.sum(getattr(gradient, name) * direction)) == pytest.approx(numeric, rel=1e-5)
