"""How far a step is outside of what training has shown, in JAX, and what that does to a band.

The same as `Seen` in `prediction/seen.py` and `prediction/widening.py`, for jit, vmap and grad.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.prediction.seen import AWAY, Seen
from prssm.prediction.widening import FADES, MOST, WIDER

_SMALL = 1e-30  # under a root, so that its slope is finite at a point of the cloud


def distance(
    seen: Seen,
    path: Float[Array, "... Dx"],
    u: Float[Array, "... Du"],
    mean: Float[Array, "... Dy"],
) -> Float[Array, "..."]:
    """Of scaled states, inputs and mean outputs, as far as it counts."""
    far = jnp.maximum(_beyond(mean, seen.output_limits), _beyond(u, seen.input_limits))
    xu = _tamed(jnp.concatenate([path, u], axis=-1))
    # copies: JAX keeps the device's array of a constant by its identity, in its first precision
    centre, axes, points = (np.array(a, xu.dtype) for a in (seen.centre, seen.axes, seen.points))
    at = (xu - centre) @ axes
    apart = at[..., None, :] - points
    nearest = jnp.sqrt(jnp.min(jnp.sum(apart**2, axis=-1), axis=-1) + _SMALL)
    limit = min(float(seen.limit), _away(xu))
    return jnp.minimum(jnp.maximum(far, nearest - limit), MOST)


def remembered(far: Float[Array, " T"]) -> Float[Array, " T"]:
    """Distances of the steps of a run that fade after a step outside."""

    def step(before: Array, now: Array) -> tuple[Array, Array]:
        kept = fading(before, now)
        return kept, kept

    return jax.lax.scan(step, jnp.zeros((), far.dtype), far)[1]


def fading(before: Float[Array, ""] | float, now: Float[Array, ""]) -> Float[Array, ""]:
    """How far outside a step counts as being, after one that counted as `before`."""
    return jnp.maximum(now, FADES * before)


def widened(far: Float[Array, "..."]) -> Float[Array, "..."]:
    """The factor of the band."""
    return 1.0 + WIDER * far


def _beyond(values: Float[Array, "... D"], limits: np.ndarray) -> Float[Array, "..."]:
    """By how much the worst of some values is beyond its limits; 0 where none is."""
    known = _tamed(values)
    over = jnp.maximum(limits[0] - known, known - limits[1])
    return jnp.max(over, axis=-1, initial=0.0)


def _tamed(values: Float[Array, "..."]) -> Float[Array, "..."]:
    """What is lost or too large to be squared is far away."""
    away = _away(values)
    return jnp.clip(jnp.where(jnp.isnan(values), away, values), -away, away)


def _away(values: Array) -> float:
    return AWAY if values.dtype == np.float64 else 1e18
