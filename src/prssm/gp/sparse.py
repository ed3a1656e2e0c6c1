"""The variational sparse GP: a function known through q(z) = N(z_mean, diag(z_std^2)) at its inducing inputs.

z is the deviation of the function from its prior mean, so p(z) = N(0, K) and z = 0 is the prior mean itself.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from prssm.gp.kernels import Kernel
from prssm.gp.linalg import whitener


class Conditional(eqx.Module):
    """All that a prediction needs and that no query point changes: mean = w.k, variance = k_xx - k'Qk."""

    kernel: Kernel
    zeta: Float[Array, "P Din"]
    weights: Float[Array, " P"]  # w = K^-1 z_mean
    quadratic: Float[Array, "P P"]  # Q = K^-1 (K - diag(z_std^2)) K^-1, symmetric

    def __call__(self, xu: Float[Array, "Din B"]) -> tuple[Float[Array, " B"], Float[Array, " B"]]:
        """Mean and variance of the deviation f - m at the points `xu`."""
        k = self.kernel.cross(self.zeta, xu)
        mean = self.weights @ k
        variance = self.kernel.diag(xu) - jnp.sum(k * (self.quadratic @ k), axis=0)
        return mean, jnp.maximum(variance, 0.0)


class SparseGP(eqx.Module):
    """One scalar function with a Gaussian-process prior."""

    kernel: Kernel
    zeta: Float[Array, "P Din"]  # inducing inputs
    z_mean: Float[Array, " P"]  # mean of q(z)
    log_z_std: Float[Array, " P"]  # log standard deviation of q(z)

    def whitener(self) -> Float[Array, "P P"]:
        """L^-1 of the prior covariance K = L L^T of z: all that `condition` and `kl` need of it."""
        return whitener(self.kernel.gram(self.zeta))

    def condition(self, white: Float[Array, "P P"]) -> Conditional:
        """Marginalise z ~ q(z) out of p(f | z)."""
        precision = white.T @ white
        scaled = precision * jnp.exp(self.log_z_std)  # K^-1 diag(z_std)
        return Conditional(self.kernel, self.zeta, white.T @ (white @ self.z_mean), precision - scaled @ scaled.T)

    def kl(self, white: Float[Array, "P P"]) -> Float[Array, ""]:
        """KL(q(z) || p(z)) between N(z_mean, diag(z_std^2)) and N(0, K)."""
        trace = jnp.sum((white * jnp.exp(self.log_z_std)) ** 2)
        mahalanobis = jnp.sum((white @ self.z_mean) ** 2)
        log_det = -2.0 * jnp.sum(jnp.log(jnp.diagonal(white)))
        return 0.5 * (trace + mahalanobis - len(self.z_mean) + log_det - 2.0 * jnp.sum(self.log_z_std))
