"""A Gaussian-process posterior in its plainest form: weights and a matrix on cross-covariances."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from prssm.gp.kernels import Kernel


class Conditional(eqx.Module):
    """All that a prediction needs and that no query point changes.

    With k the covariances between the query point and `zeta`, mean = w'k and variance = k_xx -
    k'Qk.
    """

    kernel: Kernel
    zeta: Float[Array, "P Din"]
    weights: Float[Array, " P"]
    quadratic: Float[Array, "P P"]  # Q, symmetric

    def __call__(self, xu: Float[Array, "Din B"]) -> tuple[Float[Array, " B"], Float[Array, " B"]]:
        """Mean and variance of the deviation f - m at the points `xu`."""
        k = self.kernel.cross(self.zeta, xu)
        mean = self.weights @ k
        variance = self.kernel.diag(xu) - jnp.sum(k * (self.quadratic @ k), axis=0)
        return mean, jnp.maximum(variance, 0.0)
