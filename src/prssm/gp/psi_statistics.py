"""Expectations of the squared exponential over uncertain inputs: the psi statistics.

The inputs are x_n ~ N(m_n, diag(v_n)). With squared length scales l and signal deviation s (all
operations by input dimension, sums and products over it),

    psi1[n, i]   = E[k(x_n, z_i)] = s^2 prod (1 + v/l)^-1/2 exp(-(m - z_i)^2 / 2 (l + v)),
    psi2_n[i, j] = E[k(x_n, z_i) k(x_n, z_j)] = psi1[n, i] psi1[n, j] + spread_n[i, j],
    spread_n[i, j] = Cov[k(x_n, z_i), k(x_n, z_j)] = psi1[n, i] psi1[n, j] (exp(d) - 1),
    d = sum (g - h) (m - c)^2 - h (z_i - z_j)^2 / 4 + log(1 + v/l) - log(1 + 2 v/l) / 2,
    c = (z_i + z_j) / 2,   g = 2 v / l (l + 2 v),   h = v / l (l + v).

The two parts of psi2 are kept apart: d vanishes with v, so nothing cancels when the inputs are
nearly certain, and the first part can be whitened as a product, which keeps half of the digits that
whitening the sum would lose. An input that is known has v = 0.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.gp.kernels import SquaredExponential

BLOCK = 2048  # points at once: bounds the memory of the spread, which is BLOCK * P^2 / 2 numbers
# Where d is larger, psi1 psi1 is so small that the term does not count, but exp would overflow
_LARGEST_EXPONENT = 500.0


def psi1(
    kernel: SquaredExponential,
    zeta: Float[Array, "P Din"],
    mean: Float[Array, "N Din"],
    var: Float[Array, "N Din"],
) -> Float[Array, "N P"]:
    """E[k(x_n, z_i)]."""
    squared_scale = jnp.exp(2.0 * kernel.log_lengthscale)
    # The origin is near the data, so that the multiplied-out squares do not cancel.
    origin = jnp.mean(zeta, axis=0)
    log_shrink = -0.5 * jnp.sum(jnp.log1p(var / squared_scale), axis=1)
    squares = _weighted_squares(mean - origin, 1.0 / (squared_scale + var), zeta - origin)
    return jnp.exp(2.0 * kernel.log_std + log_shrink[:, None] - 0.5 * squares)


def summed_spread(
    kernel: SquaredExponential,
    zeta: Float[Array, "P Din"],
    mean: Float[Array, "N Din"],
    var: Float[Array, "N Din"],
    weights: Float[Array, "N D"],
) -> Float[Array, "D P P"]:
    """sum_n weights[n, d] Cov[k(x_n, z_i), k(x_n, z_j)] for each d."""
    count = zeta.shape[0]
    first, second = np.triu_indices(count)  # the matrix is symmetric: half of it is enough
    origin = jnp.mean(zeta, axis=0)
    centre = 0.5 * (zeta[first] + zeta[second]) - origin
    apart = 0.25 * (zeta[first] - zeta[second]) ** 2
    half = _over_blocks(
        kernel, centre, apart, mean=mean - origin, var=var, weights=weights
    ) * jnp.exp(4.0 * kernel.log_std)
    full = jnp.zeros((weights.shape[1], count, count), half.dtype).at[:, first, second].set(half)
    return full.at[:, second, first].set(half)


def _over_blocks(
    kernel: SquaredExponential, centre: Array, apart: Array, mean: Array, var: Array, weights: Array
) -> Float[Array, "D pairs"]:
    """The sum over all points; block by block where there are many."""
    if mean.shape[0] <= BLOCK:
        return _block(kernel, centre, apart, mean=mean, var=var, weights=weights)
    blocks = -(-mean.shape[0] // BLOCK)
    missing = blocks * BLOCK - mean.shape[0]  # filled up with points of weight zero
    parts = [
        jnp.pad(array, ((0, missing), (0, 0))).reshape(blocks, BLOCK, -1)
        for array in (mean, var, weights)
    ]

    @jax.checkpoint  # recompute a block in the backward pass instead of keeping all of them
    def add(total: Array, part: list[Array]) -> tuple[Array, None]:
        means, vars_, weights = part
        block = _block(kernel, centre, apart, mean=means, var=vars_, weights=weights)
        return total + block, None

    return jax.lax.scan(add, jnp.zeros((weights.shape[1], centre.shape[0]), mean.dtype), parts)[0]


def _block(
    kernel: SquaredExponential, centre: Array, apart: Array, mean: Array, var: Array, weights: Array
) -> Float[Array, "D pairs"]:
    """sum_n weights psi1 psi1 (exp(d) - 1) without the factor s^4. `apart` is (z_i - z_j)^2 / 4."""
    squared_scale = jnp.exp(2.0 * kernel.log_lengthscale)
    relative = var / squared_scale
    g = 2.0 * relative / (squared_scale + 2.0 * var)
    h = relative / (squared_scale + var)
    log_ratio = jnp.sum(jnp.log1p(relative) - 0.5 * jnp.log1p(2.0 * relative), axis=1)
    d = _weighted_squares(mean, g - h, centre) - h @ apart.T + log_ratio[:, None]
    # (m - z_i)^2 + (m - z_j)^2 = 2 (m - c)^2 + 2 (z_i - z_j)^2 / 4
    precision = 1.0 / (squared_scale + var)
    log_shrink = -jnp.sum(jnp.log1p(relative), axis=1)
    log_product = (
        log_shrink[:, None] - _weighted_squares(mean, precision, centre) - precision @ apart.T
    )
    return weights.T @ (jnp.exp(log_product) * jnp.expm1(jnp.minimum(d, _LARGEST_EXPONENT)))


def _weighted_squares(mean: Array, precision: Array, points: Array) -> Float[Array, "N K"]:
    """sum_q precision[n, q] (mean[n, q] - points[k, q])^2 for all n and k.

    Multiplied out, so that it is one matrix product.
    """
    left = jnp.concatenate([-2.0 * precision * mean, precision], axis=1)
    right = jnp.concatenate([points, points**2], axis=1)
    return jnp.sum(precision * mean**2, axis=1)[:, None] + left @ right.T
