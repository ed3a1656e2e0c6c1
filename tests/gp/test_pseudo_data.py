"""The pseudo data set against explicit Gaussian algebra."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from prssm.foundation.precision import double_precision
from prssm.gp.kernels import SquaredExponential
from prssm.gp.pseudo_data import PseudoData


def make(seed=0):
    rng = np.random.default_rng(seed)
    kernel = SquaredExponential(jnp.log(jnp.asarray(1.2)), jnp.log(jnp.asarray([0.8, 1.5])))
    return PseudoData(
        kernel,
        jnp.asarray(rng.normal(size=(6, 2))),
        jnp.asarray(rng.normal(size=6)),
        log_noise_std=jnp.log(jnp.asarray(rng.uniform(0.1, 0.6, 6))),
    )


def explicit(data):
    """Mean and covariance of q(z), and the prior's covariance."""
    prior = np.asarray(data.kernel.gram(data.zeta))
    noise = np.diag(np.asarray(data.noise_var()))
    gain = prior @ np.linalg.inv(prior + noise)
    return gain @ np.asarray(data.targets), prior - gain @ prior, prior


def test_kl_equals_the_closed_form():
    with double_precision():
        data = make()
        found = float(eqx.filter_jit(PseudoData.kl)(data))
        mean, covariance, prior = explicit(data)
    inverse = np.linalg.inv(prior)
    expected = 0.5 * (
        np.trace(inverse @ covariance)
        + mean @ inverse @ mean
        - len(mean)
        + np.linalg.slogdet(prior)[1]
        - np.linalg.slogdet(covariance)[1]
    )
    assert found == pytest.approx(expected, rel=1e-8)


def test_posterior_at_the_pseudo_inputs():
    with double_precision():
        data = make()
        mean, variance = jax.jit(lambda d: d.condition()(d.zeta.T))(data)
        expected_mean, covariance, _ = explicit(data)
    np.testing.assert_allclose(mean, expected_mean, rtol=1e-9)
    np.testing.assert_allclose(variance, np.diag(covariance), rtol=1e-8)


def test_kl_gradient_is_finite_where_pseudo_inputs_coincide():
    with double_precision():
        data = eqx.tree_at(lambda d: d.zeta, make(), jnp.zeros((6, 2)))
        gradient = jax.jit(jax.grad(PseudoData.kl))(data)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))
