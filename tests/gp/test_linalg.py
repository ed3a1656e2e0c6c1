"""The whitener against the factorisation it stands for, and its hand-written gradient against
JAX's.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular

from prssm.foundation.precision import double_precision
from prssm.gp.linalg import cholesky, whitener


def covariance(size=5, seed=0):
    root = np.random.default_rng(seed).normal(size=(size, size + 2))
    return jnp.asarray(root @ root.T)


def plain(matrix):
    """The same by JAX's own differentiable operations."""
    return solve_triangular(cholesky(matrix), jnp.eye(len(matrix)), lower=True)


def test_whitens_the_covariance():
    with double_precision():
        matrix = covariance()
        white = whitener(matrix)
        # up to the jitter
        np.testing.assert_allclose(white @ matrix @ white.T, np.eye(5), atol=1e-5)
        np.testing.assert_allclose(white, plain(matrix), rtol=1e-12, atol=1e-14)


def test_gradient_equals_automatic_differentiation():
    with double_precision():
        weights = jnp.asarray(np.random.default_rng(1).normal(size=(5, 5)))
        by_hand, by_jax = (
            np.asarray(jax.grad(lambda m, f=f: jnp.sum(weights * f(m) ** 3))(covariance()))
            for f in (whitener, plain)
        )
    # a covariance is symmetric, so only the symmetric part of a gradient means anything
    np.testing.assert_allclose(by_hand, 0.5 * (by_jax + by_jax.T), rtol=1e-9, atol=1e-12)


def test_what_is_not_positive_definite_gives_nan():
    with double_precision():
        assert np.isnan(np.asarray(whitener(-covariance()))).any()
