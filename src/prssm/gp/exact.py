"""Exact regression with a known noise variance for each point, and the slopes of its posterior mean."""

import jax.numpy as jnp
from jax.scipy.linalg import cho_solve
from jaxtyping import Array, Float

from prssm.gp.kernels import Kernel, SquaredExponential
from prssm.gp.linalg import inverse, log_det
from prssm.gp.sparse import Conditional


def log_marginal(kernel: Kernel, x: Float[Array, "N Din"], y: Float[Array, " N"],
                 noise_var: Float[Array, " N"]) -> Float[Array, ""]:
    """log N(y; 0, K + diag(noise_var))."""
    factor = _factor(kernel, x, noise_var)
    mahalanobis = y @ cho_solve((factor, True), y)
    return -0.5 * (mahalanobis + log_det(factor) + y.shape[0] * jnp.log(2.0 * jnp.pi))


def condition(kernel: Kernel, x: Float[Array, "N Din"], y: Float[Array, " N"], noise_var: Float[Array, " N"]) -> Conditional:
    """The posterior, in the form of a sparse one whose inducing inputs are the data."""
    factor = _factor(kernel, x, noise_var)
    return Conditional(kernel, x, cho_solve((factor, True), y), inverse(factor))


def mean_slopes(posterior: Conditional, x: Float[Array, "N Din"]) -> Float[Array, "N Din"]:
    """Gradient of the posterior mean at each point, for the squared exponential:

    d/dx sum_i w_i k(x, zeta_i) = sum_i w_i k(x, zeta_i) (zeta_i - x) / lengthscale^2.
    """
    kernel = posterior.kernel
    assert isinstance(kernel, SquaredExponential)
    weighted = kernel.cross(x, posterior.zeta.T) * posterior.weights
    pull = weighted @ posterior.zeta - jnp.sum(weighted, axis=1, keepdims=True) * x
    return pull * jnp.exp(-2.0 * kernel.log_lengthscale)


def _factor(kernel: Kernel, x: Float[Array, "N Din"], noise_var: Float[Array, " N"]) -> Float[Array, "N N"]:
    """The noise makes the covariance positive definite: no jitter, so that the noise found is the noise meant."""
    return jnp.linalg.cholesky(kernel.gram(x) + jnp.diag(noise_var))
