"""The log density of errors whose noise remembers the sample before, with its gradient by hand.

All that training asks of it are a few sums over the same numbers: made together, they cost one pass
where automatic differentiation makes a dozen.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float


@jax.custom_vjp
def log_density(
    error: Float[Array, "T Dy n N"],
    noise_var: Float[Array, "..."],
    measured: Bool[Array, "T Dy n 1"],
    correlation: Float[Array, "Dy 1 1"],
) -> Float[Array, ""]:
    """Summed over all errors that were measured; `noise_var` is of any shape that fits them."""
    return _forward(error, noise_var, measured, correlation)[0]


def _forward(
    error: Array, noise_var: Array, measured: Array, correlation: Array
) -> tuple[Array, tuple]:
    before, known = _before(error, measured)
    memory = jnp.where(known, correlation, 0.0)
    rest = error - memory * before
    left = 1.0 - memory**2
    variance = noise_var * left
    squares = rest**2 / variance
    density = jnp.where(measured, -0.5 * (jnp.log(2.0 * np.pi * variance) + squares), 0.0)
    by_log_var = jnp.where(measured, 0.5 * (squares - 1.0), 0.0)
    by_rest = jnp.where(measured, -rest / variance, 0.0)
    # variance = noise_var (1 - c^2): the logarithm's derivative by c is -2 c / (1 - c^2)
    by_memory = jnp.where(known, -by_rest * before - 2.0 * memory / left * by_log_var, 0.0)
    # Over the samples first: all three sums have the same shape there, and one pass makes them.
    total, by_log_var, by_memory = (
        jnp.sum(part, axis=3, keepdims=True) for part in (density, by_log_var, by_memory)
    )
    slopes = (
        _summed_to(by_log_var / noise_var, jnp.shape(noise_var)),
        _summed_to(by_memory, correlation.shape),
    )
    return jnp.sum(total), (error, variance, measured, memory, slopes)


def _backward(saved: tuple, g: Array) -> tuple[Array, Array, None, Array]:
    error, variance, measured, memory, slopes = saved
    rest = error - memory * _before(error, measured)[0]
    by_rest = jnp.where(measured, -g * rest / variance, 0.0)
    # An error also counts in what is expected of the next one.
    later = jnp.pad((memory * by_rest)[1:], ((0, 1), (0, 0), (0, 0), (0, 0)))
    by_noise_var, by_correlation = slopes
    return by_rest - later, g * by_noise_var, None, g * by_correlation


log_density.defvjp(_forward, _backward)


def _before(error: Array, measured: Array) -> tuple[Array, Array]:
    """The errors of the sample before, and whether they were measured; time leads."""
    one_later = ((1, 0), (0, 0), (0, 0), (0, 0))
    return jnp.pad(error[:-1], one_later), jnp.pad(measured[:-1], one_later)


def _summed_to(array: Array, shape: tuple[int, ...]) -> Array:
    """Sums over the axes along which `shape` was broadcast."""
    whole = (1,) * (array.ndim - len(shape)) + shape
    axes = tuple(i for i, size in enumerate(whole) if size == 1)
    return jnp.sum(array, axis=axes, keepdims=True).reshape(shape)
