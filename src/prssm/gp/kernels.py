"""Covariance functions.

Points of the first argument lead (`P Din`), points of the second come last (`Din B`): the fast
layout. A new kernel is one class with `cross` and `diag`, and one line in KERNELS; any function
that JAX can differentiate will do.
"""

from abc import abstractmethod
from collections.abc import Callable
from typing import Self

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.foundation.arrays import AnyArray


class Kernel(eqx.Module):
    """A covariance function k(a, b) of one Gaussian process."""

    @abstractmethod
    def cross(
        self, a: Float[AnyArray, "P Din"], b: Float[AnyArray, "Din B"]
    ) -> Float[Array, "P B"]:
        """k(a_p, b_b) for all pairs."""

    @abstractmethod
    def diag(self, b: Float[AnyArray, "Din B"]) -> Float[Array, " B"]:
        """k(b_b, b_b)."""

    def gram(self, a: Float[AnyArray, "P Din"]) -> Float[Array, "P P"]:
        """k(a_p, a_q) for all pairs of one set of points."""
        return self.cross(a, a.T)


class Stationary(Kernel):
    """Signal variance times a profile of the distance, one length scale for each input (ARD)."""

    log_std: Float[AnyArray, ""]
    log_lengthscale: Float[AnyArray, " Din"]

    @classmethod
    def create(cls, input_dim: int, signal_std: float, lengthscale: float) -> Self:
        return cls(np.asarray(np.log(signal_std)), np.full(input_dim, np.log(lengthscale)))

    @staticmethod
    @abstractmethod
    def profile(squared_distance: Array) -> Array:
        """Correlation at a squared, scaled distance."""

    def cross(
        self, a: Float[AnyArray, "P Din"], b: Float[AnyArray, "Din B"]
    ) -> Float[Array, "P B"]:
        scale = jnp.exp(-self.log_lengthscale)
        a = a * scale
        b = b * scale[:, None]
        squared = jnp.sum(a**2, axis=1)[:, None] + jnp.sum(b**2, axis=0) - 2.0 * (a @ b)
        return jnp.exp(2.0 * self.log_std) * self.profile(jnp.maximum(squared, 0.0))

    def diag(self, b: Float[AnyArray, "Din B"]) -> Float[Array, " B"]:
        return jnp.full(b.shape[1:], jnp.exp(2.0 * self.log_std))


def _distance(squared: Array) -> Array:
    """The root, with gradient zero (not NaN) at distance zero."""
    return jnp.sqrt(jnp.maximum(squared, 1e-30))


class SquaredExponential(Stationary):
    """k = s^2 exp(-r^2 / 2)."""

    @staticmethod
    def profile(squared_distance: Array) -> Array:
        return jnp.exp(-0.5 * squared_distance)


def squared_exponential_only(kernel: Kernel) -> SquaredExponential:
    """The kernel again, for mathematics that holds for the squared exponential alone."""
    if not isinstance(kernel, SquaredExponential):
        raise TypeError(f"expected the squared exponential, got {type(kernel).__name__}")
    return kernel


class Matern32(Stationary):
    """k = s^2 (1 + sqrt(3) r) exp(-sqrt(3) r)."""

    @staticmethod
    def profile(squared_distance: Array) -> Array:
        r = jnp.sqrt(3.0) * _distance(squared_distance)
        return (1.0 + r) * jnp.exp(-r)


class Matern52(Stationary):
    """k = s^2 (1 + sqrt(5) r + 5 r^2 / 3) exp(-sqrt(5) r)."""

    @staticmethod
    def profile(squared_distance: Array) -> Array:
        r = jnp.sqrt(5.0) * _distance(squared_distance)
        return (1.0 + r + r**2 / 3.0) * jnp.exp(-r)


KernelFactory = Callable[[int, float, float], Kernel]
KERNELS: dict[str, KernelFactory] = {
    "squared-exponential": SquaredExponential.create,
    "matern32": Matern32.create,
    "matern52": Matern52.create,
}
