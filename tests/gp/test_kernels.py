"""Kernels against their textbook formulas, written out point by point."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prssm.foundation.precision import double_precision
from prssm.gp.kernels import KERNELS, Matern32, Matern52, SquaredExponential

PROFILES = {
    SquaredExponential: lambda r: np.exp(-(r**2) / 2),
    Matern32: lambda r: (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r),
    Matern52: lambda r: (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r),
}


@pytest.mark.parametrize("kind", PROFILES)
def test_cross_covariance_is_the_textbook_formula(kind):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(5, 3))
    b = rng.normal(size=(4, 3))
    lengthscales = np.array([0.5, 1.0, 3.0])
    std = 0.7
    with double_precision():
        kernel = kind(jnp.log(std), jnp.log(lengthscales))
        computed = np.asarray(kernel.cross(jnp.asarray(a), jnp.asarray(b.T)))
    for i in range(5):
        for j in range(4):
            distance = np.sqrt(np.sum(((a[i] - b[j]) / lengthscales) ** 2))
            assert computed[i, j] == pytest.approx(std**2 * PROFILES[kind](distance), rel=1e-12)


@pytest.mark.parametrize("name", KERNELS)
def test_diagonal_equals_the_diagonal_of_the_gram_matrix(name):
    with double_precision():
        kernel = KERNELS[name](2, 1.3, 0.8)
        points = jnp.asarray(np.random.default_rng(1).normal(size=(6, 2)))
        np.testing.assert_allclose(
            kernel.diag(points.T), jnp.diagonal(kernel.gram(points)), rtol=1e-7
        )


@pytest.mark.parametrize("name", KERNELS)
def test_gradient_is_finite_where_points_coincide(name):
    with double_precision():
        kernel = KERNELS[name](2, 1.0, 1.0)
        points = jnp.ones((3, 2))
        gradient = jax.grad(lambda p: jnp.sum(kernel.gram(p)))(points)
        assert np.isfinite(np.asarray(gradient)).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(sorted(KERNELS)), st.integers(1, 4))
def test_gram_matrices_are_symmetric_and_positive(seed, name, dim):
    points = np.random.default_rng(seed).normal(size=(8, dim))
    with double_precision():
        gram = np.asarray(KERNELS[name](dim, 0.9, 0.7).gram(jnp.asarray(points)))
    np.testing.assert_allclose(gram, gram.T, rtol=1e-12)
    assert np.linalg.eigvalsh(gram).min() > -1e-10
