"""Exact mean and covariance of GP posteriors at a Gaussian input, for the squared exponential.

The first Dr inputs are N(mean, S), the rest are known numbers. For one output with precisions p =
1/lengthscale^2 (of the uncertain inputs), P = diag(p), h_i = p (zeta_i - mean), H = S (I + P S)^-1
and G = S (I + 2 P S)^-1,

    q_i = E[k_i] = k(mean, zeta_i) |I + S P|^-1/2 exp(h_i' H h_i / 2),
    Cov[k_i, k_j] = q_i q_j (exp(d_ij) - 1),
    d_ij = (h_i + h_j)' G (h_i + h_j) / 2 - h_i' H h_i / 2 - h_j' H h_j / 2 - log-determinants,

and for two outputs a and b, 2 P becomes P_a + P_b. Every term of d vanishes with S, so nothing
cancels when the input is nearly certain, however large the weights are.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import solve_triangular
from jaxtyping import Array, Float

from prssm.foundation.arrays import AnyArray
from prssm.gp.conditional import Conditional
from prssm.gp.kernels import squared_exponential_only

# Where it is larger, q_i q_j is so small that the term does not count, but exp would overflow
_LARGEST_EXPONENT = 500.0


class Moments(NamedTuple):
    """Of the function values f (one for each output) and of the uncertain inputs x."""

    mean: Float[Array, " Dy"]
    covariance: Float[Array, "Dy Dy"]  # of f
    cross: Float[Array, "Dr Dy"]  # between x and f


class _Expected(eqx.Module):
    """What one output contributes."""

    precision: Float[Array, " Dr"]
    h: Float[Array, "P Dr"]
    q: Float[Array, " P"]
    quadratic: Float[Array, " P"]  # h_i' H h_i / 2
    log_det: Float[Array, ""]  # log |I + S P|
    cross: Float[Array, " Dr"]  # Cov[x, f]


def match_moments(
    gps: Conditional,
    mean: Float[AnyArray, " Dr"],
    covariance: Float[AnyArray, "Dr Dr"],
    known: Float[Array, " Dk"],
) -> Moments:
    """Moments of f = (f_1..f_Dy) where the arrays of `gps` lead with the output axis."""
    covariance = jnp.asarray(covariance)
    single = jax.vmap(lambda gp: _expected(gp, mean, covariance, known=known))(gps)
    means = jnp.sum(gps.weights * single.q, axis=1)
    joint = jnp.diag(jax.vmap(lambda gp, part: _variance(gp, part, covariance))(gps, single))
    first, second = np.triu_indices(len(means), 1)
    if len(first):

        def of(chosen: np.ndarray) -> tuple[Array, _Expected]:
            return jax.tree.map(lambda leaf: leaf[chosen], (gps.weights, single))

        pairs = jax.vmap(lambda a, b: a[0] @ _kernel_covariance(a[1], b[1], covariance) @ b[0])(
            of(first), of(second)
        )
        joint = joint.at[first, second].set(pairs).at[second, first].set(pairs)
    return Moments(means, joint, single.cross.T)


def _expected(gp: Conditional, mean: AnyArray, covariance: Array, known: Array) -> _Expected:
    count = mean.shape[0]
    kernel = squared_exponential_only(gp.kernel)
    precision = jnp.exp(-2.0 * kernel.log_lengthscale)
    away = gp.zeta - jnp.concatenate([mean, known])
    log_kernel = 2.0 * kernel.log_std - 0.5 * away**2 @ precision  # at the mean
    h = away[:, :count] * precision[:count]
    shrunk, log_det = _shrink(covariance, precision[:count])
    quadratic = 0.5 * jnp.sum((h @ shrunk) * h, axis=1)
    q = jnp.exp(log_kernel + quadratic - 0.5 * log_det)
    return _Expected(
        precision[:count],
        h,
        q,
        quadratic=quadratic,
        log_det=log_det,
        cross=shrunk @ (h.T @ (gp.weights * q)),
    )


def _shrink(covariance: Array, precision: Array) -> tuple[Array, Array]:
    """S (I + P S)^-1 = S - S (P^-1 + S)^-1 S and log |I + S P|, for diagonal P."""
    factor = jnp.linalg.cholesky(jnp.diag(1.0 / precision) + covariance)
    half = solve_triangular(factor, covariance, lower=True)
    return covariance - half.T @ half, 2.0 * jnp.sum(jnp.log(jnp.diagonal(factor))) + jnp.sum(
        jnp.log(precision)
    )


def _kernel_covariance(a: _Expected, b: _Expected, covariance: Array) -> Float[Array, "P P"]:
    """Cov[k_a(x, zeta_i), k_b(x, zeta_j)] over the uncertain x."""
    shrunk, log_det = _shrink(covariance, a.precision + b.precision)
    own_a = 0.5 * jnp.sum((a.h @ shrunk) * a.h, axis=1) - a.quadratic + 0.5 * a.log_det
    own_b = 0.5 * jnp.sum((b.h @ shrunk) * b.h, axis=1) - b.quadratic + 0.5 * b.log_det
    exponent = own_a[:, None] + own_b + a.h @ shrunk @ b.h.T - 0.5 * log_det
    return a.q[:, None] * b.q * jnp.expm1(jnp.minimum(exponent, _LARGEST_EXPONENT))


def _variance(gp: Conditional, part: _Expected, covariance: Array) -> Array:
    """The variance of one output.

    How its mean varies with x, plus E[k_xx - k' Q k], what the posterior does not know.
    """
    kernels = _kernel_covariance(part, part, covariance)
    explained = part.q @ gp.quadratic @ part.q + jnp.sum(gp.quadratic * kernels)
    signal_var = jnp.exp(2.0 * squared_exponential_only(gp.kernel).log_std)
    unknown = jnp.maximum(signal_var - explained, 0.0)
    return gp.weights @ kernels @ gp.weights + unknown
