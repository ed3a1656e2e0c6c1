"""Factorisations of covariance matrices, with the one jitter."""

import jax.numpy as jnp
from jax.scipy.linalg import cho_solve
from jaxtyping import Array, Float

JITTER = 1e-6  # relative to the mean variance on the diagonal


def cholesky(covariance: Float[Array, "P P"]) -> Float[Array, "P P"]:
    """Lower factor of the covariance with a jitter relative to its diagonal; NaN where it is not positive definite."""
    size = covariance.shape[-1]
    jitter = JITTER * jnp.mean(jnp.diagonal(covariance))
    return jnp.linalg.cholesky(covariance + jitter * jnp.eye(size, dtype=covariance.dtype))


def inverse(factor: Float[Array, "P P"]) -> Float[Array, "P P"]:
    """The inverse of L L^T, symmetric to the last bit."""
    inverted = cho_solve((factor, True), jnp.eye(factor.shape[-1], dtype=factor.dtype))
    return 0.5 * (inverted + inverted.T)


def log_det(factor: Float[Array, "P P"]) -> Float[Array, ""]:
    """log det (L L^T)."""
    return 2.0 * jnp.sum(jnp.log(jnp.diagonal(factor)))
