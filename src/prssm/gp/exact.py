"""Exact regression with a known noise variance for each point, and the slopes of its mean."""

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_solve
from jaxtyping import Array, Float

from prssm.gp.conditional import Conditional
from prssm.gp.kernels import Kernel, squared_exponential_only
from prssm.gp.linalg import inverse, log_det


def log_marginal(
    kernel: Kernel, x: Float[Array, "N Din"], y: Float[Array, " N"], noise_var: Float[Array, " N"]
) -> Float[Array, ""]:
    """log N(y; 0, K + diag(noise_var))."""
    return _log_density(kernel.gram(x) + jnp.diag(noise_var), y)


@jax.custom_vjp
def _log_density(covariance: Float[Array, "N N"], y: Float[Array, " N"]) -> Float[Array, ""]:
    """log N(y; 0, C).

    Its slope is written out: differentiating the factorisation takes several times as long.
    """
    return _log_density_forward(covariance, y)[0]


def _log_density_forward(covariance: Array, y: Array) -> tuple[Array, tuple[Array, Array]]:
    factor = jnp.linalg.cholesky(covariance)
    weights = cho_solve((factor, True), y)
    value = -0.5 * (y @ weights + log_det(factor) + y.shape[0] * jnp.log(2.0 * jnp.pi))
    return value, (factor, weights)


def _log_density_backward(kept: tuple[Array, Array], cotangent: Array) -> tuple[Array, Array]:
    """d/dC = (w w' - C^-1) / 2 and d/dy = -w, with w = C^-1 y."""
    factor, weights = kept
    return 0.5 * cotangent * (jnp.outer(weights, weights) - inverse(factor)), -cotangent * weights


_log_density.defvjp(_log_density_forward, _log_density_backward)


def condition(
    kernel: Kernel, x: Float[Array, "N Din"], y: Float[Array, " N"], noise_var: Float[Array, " N"]
) -> Conditional:
    """The posterior, in the form of a sparse one whose inducing inputs are the data."""
    factor = jnp.linalg.cholesky(kernel.gram(x) + jnp.diag(noise_var))  # the noise is its jitter
    return Conditional(kernel, x, cho_solve((factor, True), y), quadratic=inverse(factor))


def mean_slopes(posterior: Conditional, x: Float[Array, "N Din"]) -> Float[Array, "N Din"]:
    """Gradient of the posterior mean at each point, for the squared exponential.

    d/dx sum_i w_i k(x, zeta_i) = sum_i w_i k(x, zeta_i) (zeta_i - x) / lengthscale^2.
    """
    kernel = squared_exponential_only(posterior.kernel)
    weighted = kernel.cross(x, posterior.zeta.T) * posterior.weights
    pull = weighted @ posterior.zeta - jnp.sum(weighted, axis=1, keepdims=True) * x
    return pull * jnp.exp(-2.0 * kernel.log_lengthscale)
