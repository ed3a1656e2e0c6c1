"""The variational sparse GP: a function known through q(z) = N(z_mean, diag(z_std^2)) at its inducing inputs.

z is the deviation of the function from its prior mean, so p(z) = N(0, K) and z = 0 is the prior mean itself.
"""

import equinox as eqx
import jax.numpy as jnp
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Array, Float

from prssm.gp.kernels import Kernel
from prssm.gp.linalg import cholesky, inverse, log_det


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

    def condition(self) -> Conditional:
        """Marginalise z ~ q(z) out of p(f | z)."""
        factor = cholesky(self.kernel.gram(self.zeta))
        precision = inverse(factor)
        scaled = precision * jnp.exp(self.log_z_std)  # K^-1 diag(z_std)
        quadratic = precision - scaled @ scaled.T
        return Conditional(self.kernel, self.zeta, cho_solve((factor, True), self.z_mean), quadratic)

    def kl(self) -> Float[Array, ""]:
        """KL(q(z) || p(z)) between N(z_mean, diag(z_std^2)) and N(0, K)."""
        factor = cholesky(self.kernel.gram(self.zeta))
        size = self.z_mean.shape[0]
        white_mean = solve_triangular(factor, self.z_mean, lower=True)
        white_std = solve_triangular(factor, jnp.diag(jnp.exp(self.log_z_std)), lower=True)
        trace, mahalanobis = jnp.sum(white_std**2), jnp.sum(white_mean**2)
        return 0.5 * (trace + mahalanobis - size + log_det(factor) - 2.0 * jnp.sum(self.log_z_std))
