"""Factorisations of covariance matrices, with the one jitter."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Array, Float

from prssm.foundation.arrays import AnyArray

JITTER = 1e-6  # relative to the mean variance on the diagonal


def cholesky(covariance: Float[Array, "P P"]) -> Float[Array, "P P"]:
    """Lower factor of the covariance with a jitter relative to its diagonal.

    It is NaN where the covariance is not positive definite.
    """
    return jnp.linalg.cholesky(jittered(covariance))


def jittered(covariance: Float[Array, "P P"]) -> Float[Array, "P P"]:
    jitter = JITTER * jnp.mean(jnp.diagonal(covariance))
    return covariance + jitter * jnp.eye(covariance.shape[-1], dtype=covariance.dtype)


def factor_and_inverse(
    covariance: Float[Array, "P P"],
) -> tuple[Float[Array, "P P"], Float[Array, "P P"]]:
    """L and L^-1 for covariance = L L^T."""
    factor = jnp.linalg.cholesky(covariance)
    return factor, solve_triangular(
        factor, jnp.eye(factor.shape[-1], dtype=factor.dtype), lower=True
    )


@jax.custom_vjp
def whitener(covariance: Float[Array, "P P"]) -> Float[Array, "P P"]:
    """W = L^-1 for covariance = L L^T (with the jitter), so that W z is white.

    All else follows by matrix products: one factorisation and one triangular solve, and none in the
    gradient. Besides being fast, this keeps batched solves from running side by side, which can
    lock up XLA's CPU thread pool (each waits there for a free thread).
    """
    return _whitener_forward(covariance)[0]


def _whitener_forward(covariance: Array) -> tuple[Array, tuple[Array, Array]]:
    factor, white = factor_and_inverse(jittered(covariance))
    return white, (factor, white)


def _whitener_backward(saved: tuple[Array, Array], g: Array) -> tuple[Array]:
    """The gradient of the covariance from g, that of W.

    dL = -W' g W' (lower part), then the Cholesky adjoint W' Phi(L' dL) W, symmetrised, and through
    the jitter's mean.
    """
    factor, white = saved
    g_factor = jnp.tril(-white.T @ jnp.tril(g) @ white.T)
    lower = jnp.tril(factor.T @ g_factor)
    phi = lower - 0.5 * jnp.diag(jnp.diagonal(lower))
    half = white.T @ phi @ white
    g_jittered = 0.5 * (half + half.T)
    size = factor.shape[-1]
    return (
        g_jittered + (JITTER * jnp.trace(g_jittered) / size) * jnp.eye(size, dtype=factor.dtype),
    )


whitener.defvjp(_whitener_forward, _whitener_backward)


def one_by_one(function: Callable, stacked: tuple) -> Any:
    """`function(*parts)` for each index of the leading axis, one after the other.

    For functions that solve with large matrices: as with `whitener`, batches of large solves must
    not run side by side on a small thread pool.
    """
    return jax.lax.map(lambda parts: function(*parts), stacked)


def inverse(factor: Float[Array, "P P"]) -> Float[Array, "P P"]:
    """The inverse of L L^T, symmetric to the last bit."""
    inverted = cho_solve((factor, True), jnp.eye(factor.shape[-1], dtype=factor.dtype))
    return 0.5 * (inverted + inverted.T)


def log_det(factor: Float[Array, "P P"]) -> Float[Array, ""]:
    """log det (L L^T)."""
    return 2.0 * jnp.sum(jnp.log(jnp.diagonal(factor)))


def gaussian_draws(
    covariance: Float[AnyArray, "D D"], count: int, random: np.random.Generator
) -> np.ndarray:
    """`count` rows drawn from N(0, covariance), which may be singular."""
    values, vectors = np.linalg.eigh(0.5 * (covariance + covariance.T))
    white = random.standard_normal((count, len(values)))
    return (white * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
