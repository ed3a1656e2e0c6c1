"""The matrix-normal inverse-Wishart posterior against closed forms, a multivariate t density and
its own moments.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2, kstest, multivariate_t

from prssm.foundation.precision import double_precision
from prssm.models.ssgpssm.basis_posterior import (
    Statistics,
    WeightPosterior,
    chi_square,
    inverse_wishart_factor,
)

RNG = np.random.default_rng(0)
PHI = RNG.normal(size=(12, 3))
TARGET = RNG.normal(size=(12, 2))
PRIOR_VAR = np.array([2.0, 0.5, 1e-30])
DOF = 4.0
SCALE = np.array([[0.5, 0.1], [0.1, 0.3]])


@pytest.fixture(autouse=True)
def _double():
    with double_precision():
        yield


def posterior(target=TARGET, prior_var=PRIOR_VAR, scale=SCALE, valid=None):
    valid = np.ones(len(PHI)) if valid is None else valid
    sums = Statistics.of(jnp.asarray(PHI), jnp.asarray(target), jnp.asarray(valid))
    return WeightPosterior.create(sums, jnp.asarray(prior_var), DOF, jnp.asarray(scale))


def test_mean_is_ridge_regression():
    mean = np.asarray(posterior().mean) * np.sqrt(PRIOR_VAR)
    used = PHI[:, :2]  # the third function's prior variance is nothing
    expected = np.linalg.solve(used.T @ used + np.diag(1 / PRIOR_VAR[:2]), used.T @ TARGET).T
    np.testing.assert_allclose(mean[:, :2], expected, rtol=1e-10)
    np.testing.assert_allclose(mean[:, 2], 0.0, atol=1e-12)


def test_scale_is_what_the_kernel_form_gives():
    """scale + Y' (I + Phi V Phi')^-1 Y, by the matrix inversion lemma."""
    K = np.eye(len(PHI)) + (PHI * PRIOR_VAR) @ PHI.T
    np.testing.assert_allclose(
        posterior().scale, SCALE + TARGET.T @ np.linalg.solve(K, TARGET), rtol=1e-10
    )


def test_rows_that_are_not_valid_do_not_count():
    valid = np.ones(len(PHI))
    valid[[3, 7]] = 0.0
    kept = valid > 0
    sums = Statistics.of(jnp.asarray(PHI[kept]), jnp.asarray(TARGET[kept]), jnp.ones(kept.sum()))
    expected = WeightPosterior.create(sums, jnp.asarray(PRIOR_VAR), DOF, jnp.asarray(SCALE))
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), posterior(valid=valid), expected
    )


def test_evidence_is_a_multivariate_t():
    """For one target the marginal is t with `dof` degrees: differences between priors must
    agree.
    """

    def exact(prior_var):
        shape = 0.5 / DOF * (np.eye(len(PHI)) + (PHI * prior_var) @ PHI.T)
        return multivariate_t(np.zeros(len(PHI)), shape, df=DOF).logpdf(TARGET[:, 0])

    def ours(prior_var):
        return float(posterior(TARGET[:, :1], prior_var, np.array([[0.5]])).log_evidence())

    other = np.array([0.1, 3.0, 1.0])
    assert ours(other) - ours(PRIOR_VAR) == pytest.approx(exact(other) - exact(PRIOR_VAR), rel=1e-9)


def test_samples_have_the_moments_of_the_posterior():
    count = 20000
    learnt = posterior()
    keys = jax.random.split(jax.random.key(1), count)
    weights, process = (
        np.asarray(part) for part in jax.jit(jax.vmap(lambda key: learnt.sample(key, 20)))(keys)
    )
    expected_q = np.asarray(learnt.scale) / (float(learnt.dof) - 2 - 1)
    assert np.abs((process.mean(axis=0) - expected_q) / process.std(axis=0)).max() < 4.5 / np.sqrt(
        count
    )
    flat = weights[:, :, :2].reshape(count, -1)
    mean = (np.asarray(learnt.mean) * np.sqrt(PRIOR_VAR))[:, :2].ravel()
    used = PHI[:, :2]
    # Cov of a matrix t
    cov = np.kron(expected_q, np.linalg.inv(used.T @ used + np.diag(1 / PRIOR_VAR[:2])))
    assert np.abs((flat.mean(axis=0) - mean) / flat.std(axis=0)).max() < 4.5 / np.sqrt(count)
    products = np.einsum("si,sj->sij", flat - mean, flat - mean)
    assert (np.abs(products.mean(axis=0) - cov) / products.std(axis=0)).max() < 4.5 / np.sqrt(count)


def test_inverse_wishart_of_one_dimension_is_an_inverse_chi_square():
    factors = jax.vmap(
        lambda key: inverse_wishart_factor(key, jnp.asarray(7.0), jnp.asarray([[2.0]]), most=9)
    )(jax.random.split(jax.random.key(2), 3000))
    assert kstest(2.0 / np.asarray(factors)[:, 0, 0] ** 2, chi2(7).cdf).pvalue > 1e-4


def test_chi_square_uses_each_its_own_degrees():
    draws = jax.vmap(lambda key: chi_square(key, jnp.asarray([3.0, 11.0]), 12))(
        jax.random.split(jax.random.key(3), 3000)
    )
    for column, dof in zip(np.asarray(draws).T, (3, 11), strict=True):
        assert kstest(column, chi2(dof).cdf).pvalue > 1e-4
