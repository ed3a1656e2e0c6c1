"""Moment matching against sampling within the standard error, and against exact special cases."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prssm.foundation.precision import double_precision
from prssm.gp.exact import condition, mean_slopes
from prssm.gp.kernels import SquaredExponential
from prssm.gp.moment_matching import match_moments

match = jax.jit(match_moments)
DRAWS = 200_000


def posteriors(outputs=2, points=7, seed=0):
    """One GP for each output, trained on different random targets at different places, of three
    inputs.
    """
    rng = np.random.default_rng(seed)

    def one(_):
        log_std = np.log(rng.uniform(0.7, 1.5))
        log_lengthscale = np.log(rng.uniform(0.6, 2.0, 3))
        kernel = SquaredExponential(jnp.asarray(log_std), jnp.asarray(log_lengthscale))
        return condition(
            kernel,
            jnp.asarray(rng.normal(size=(points, 3))),
            jnp.asarray(rng.normal(size=points)),
            jnp.full(points, 0.05),
        )

    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *[one(d) for d in range(outputs)])


def gaussian(seed=1, scale=1.0):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(2, 2))
    return rng.normal(size=2), scale * (root @ root.T + 0.1 * np.eye(2)), rng.normal(size=1)


@pytest.mark.parametrize("seed", [0, 1])
def test_agrees_with_sampling_within_the_standard_error(seed):
    with double_precision():
        gps = posteriors(seed=seed)
        (mean, covariance, known) = gaussian(seed)
        found = match(gps, jnp.asarray(mean), jnp.asarray(covariance), jnp.asarray(known))
        rng = np.random.default_rng(7)
        x = rng.multivariate_normal(mean, covariance, DRAWS)
        points = jnp.asarray(np.column_stack([x, np.full(DRAWS, known[0])]).T)
        at_mean, at_var = (np.asarray(part) for part in jax.vmap(lambda gp: gp(points))(gps))
    f = at_mean + np.sqrt(at_var) * rng.normal(size=at_mean.shape)
    assert_within_error(f, np.asarray(found.mean))
    centred = f - np.asarray(found.mean)[:, None]
    x_centred = (x - mean).T
    products = centred[:, None] * centred
    assert_within_error(products, np.asarray(found.covariance))
    assert_within_error(x_centred[:, None] * centred, np.asarray(found.cross))


def assert_within_error(draws, expected):
    error = draws.std(axis=-1) / np.sqrt(DRAWS)
    assert (np.abs(draws.mean(axis=-1) - expected) < 4.5 * error).all()


def test_a_certain_input_gives_the_prediction_there():
    with double_precision():
        gps = posteriors()
        (mean, _, known) = gaussian()
        found = match(gps, jnp.asarray(mean), jnp.zeros((2, 2)), jnp.asarray(known))
        point = jnp.asarray(np.concatenate([mean, known]))[:, None]
        direct_mean, direct_var = jax.vmap(lambda gp: gp(point))(gps)
    np.testing.assert_allclose(found.mean, direct_mean[:, 0], rtol=1e-12)
    np.testing.assert_allclose(found.covariance, np.diag(direct_var[:, 0]), rtol=1e-9, atol=1e-14)
    np.testing.assert_array_equal(found.cross, 0.0)


def test_a_nearly_certain_input_is_linear_error_propagation_without_loss_of_digits():
    """Cov[f] - variance at the mean -> J S J', Cov[x, f] -> S J', even where these are 1e-16 of the
    signal variance.
    """
    with double_precision():
        gps = posteriors()
        (mean, covariance, known) = gaussian(scale=1e-16)
        found = match(gps, jnp.asarray(mean), jnp.asarray(covariance), jnp.asarray(known))
        point = jnp.asarray(np.concatenate([mean, known]))[None]
        slopes = np.asarray(jax.vmap(lambda gp: mean_slopes(gp, point))(gps))[:, 0, :2]
    linear = slopes @ covariance @ slopes.T
    assert float(found.covariance[0, 1]) == pytest.approx(linear[0, 1], rel=1e-5)
    np.testing.assert_allclose(found.cross, covariance @ slopes.T, rtol=1e-6)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), scale=st.floats(1e-6, 1e3))
def test_the_joint_covariance_is_positive_semidefinite(seed, scale):
    with double_precision():
        mean, covariance, known = gaussian(seed, scale)
        found = match(
            posteriors(seed=seed), jnp.asarray(mean), jnp.asarray(covariance), jnp.asarray(known)
        )
    joint = np.block(
        [
            [covariance, np.asarray(found.cross)],
            [np.asarray(found.cross).T, np.asarray(found.covariance)],
        ]
    )
    np.testing.assert_allclose(joint, joint.T, rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(joint).min() > -1e-9 * np.abs(joint).max()


def test_a_very_uncertain_input_gives_the_prior():
    """Far wider than all length scales: the posterior is seen nowhere near its data."""
    with double_precision():
        gps = posteriors()
        (mean, _, known) = gaussian()
        found = match(gps, jnp.asarray(mean), 1e12 * jnp.eye(2), jnp.asarray(known))
        prior = np.exp(2 * np.asarray(gps.kernel.log_std))
    np.testing.assert_allclose(found.mean, 0.0, atol=1e-5)
    np.testing.assert_allclose(np.diag(found.covariance), prior, rtol=1e-4)


def test_gradient_agrees_with_finite_differences():
    with double_precision():
        gps = posteriors()
        (mean, covariance, known) = gaussian()
        root = np.linalg.cholesky(covariance)

        @jax.jit
        def loss(mean, root):
            found = match_moments(gps, mean, root @ root.T, known=jnp.asarray(known))
            return sum(jnp.sum(jnp.cos(part)) for part in found)

        point = (jnp.asarray(mean), jnp.asarray(root))
        slopes = jax.jit(jax.grad(loss, argnums=(0, 1)))(*point)
        rng = np.random.default_rng(0)
        step = [jnp.asarray(rng.normal(size=part.shape)) for part in point]
        ahead, behind = (
            loss(*(p + sign * 1e-6 * s for p, s in zip(point, step, strict=True)))
            for sign in (1, -1)
        )
        along = sum(float(jnp.sum(g * s)) for g, s in zip(slopes, step, strict=True))
    assert along == pytest.approx(float(ahead - behind) / 2e-6, rel=1e-6)
