"""The reduced-rank GP against the kernel, the definition of its functions, and numerical
integrals.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from prssm.foundation.precision import double_precision
from prssm.gp.kernels import SquaredExponential
from prssm.gp.spectral import BoxBasis, outer, squared_exponential_density


@pytest.fixture(autouse=True)
def _double():
    with double_precision():
        yield


def product_of_sines(basis, x):
    """The definition, with the frequencies that the basis reports."""
    angle = np.asarray(basis.frequencies())[None] * (x[:, None, :] + np.asarray(basis.half_width))
    return np.prod(np.sin(angle) / np.sqrt(np.asarray(basis.half_width)), axis=2)


@pytest.mark.parametrize(("dims", "count"), [(1, 1), (1, 8), (3, 4)])
def test_features_are_products_of_sines_everywhere(dims, count):
    rng = np.random.default_rng(count)
    basis = BoxBasis(jnp.asarray(rng.uniform(0.5, 5.0, dims)), count)
    x = rng.uniform(-10.0, 10.0, (200, dims))  # inside and outside of the box
    features = np.asarray(jax.jit(lambda b, points: b(points))(basis, jnp.asarray(x)))
    assert features.shape == (200, basis.size)
    np.testing.assert_allclose(features, product_of_sines(basis, x), atol=1e-10)


def test_functions_are_orthonormal_on_the_box():
    basis = BoxBasis(jnp.asarray([1.7]), 6)
    points, weights = np.polynomial.legendre.leggauss(60)
    features = np.asarray(basis(jnp.asarray(1.7 * points)[:, None]))
    np.testing.assert_allclose((features.T * weights * 1.7) @ features, np.eye(6), atol=1e-10)


def test_the_expansion_is_the_kernel_inside_the_box():
    """sum_j S(omega_j) phi_j(a) phi_j(b) against k(a, b), well away from the boundary."""
    kernel = SquaredExponential.create(2, 0.7, 1.0)
    kernel = SquaredExponential(kernel.log_std, jnp.log(jnp.asarray([1.0, 1.4])))
    basis = BoxBasis(jnp.asarray([5.0, 6.0]), 16)
    a = np.random.default_rng(0).uniform(-1.5, 1.5, (30, 2))
    features = jax.jit(lambda b, points: b(points))(basis, jnp.asarray(a))
    density = squared_exponential_density(
        basis.frequencies(), jnp.asarray(0.7), jnp.asarray([1.0, 1.4])
    )
    np.testing.assert_allclose(
        (features * density) @ features.T, kernel.gram(jnp.asarray(a)), atol=2e-3 * 0.49
    )


@pytest.mark.parametrize("omega", [0.0, 0.8, 2.5])
def test_density_is_the_fourier_transform_of_the_kernel(omega):
    std = 1.3
    lengthscale = 0.6
    transform = quad(
        lambda r: 2 * std**2 * np.exp(-0.5 * (r / lengthscale) ** 2) * np.cos(omega * r), 0.0, 10.0
    )[0]
    density = squared_exponential_density(
        jnp.asarray([[omega]]), jnp.asarray(std), jnp.asarray([lengthscale])
    )
    np.testing.assert_allclose(density, [transform], rtol=1e-7)


def test_no_dimension_gives_the_constant_one_with_signal_variance():
    basis = BoxBasis(jnp.zeros(0), 7)
    assert basis.size == 1
    np.testing.assert_array_equal(basis(jnp.zeros((4, 0))), np.ones((4, 1)))
    density = squared_exponential_density(basis.frequencies(), jnp.asarray(3.0), jnp.zeros(0))
    np.testing.assert_allclose(density, [9.0])


def test_outer_runs_the_second_fastest():
    a = np.arange(1.0, 4.0)
    b = np.array([1.0, 10.0])
    np.testing.assert_array_equal(jax.vmap(outer)(a[None], b[None])[0], np.kron(a, b))
