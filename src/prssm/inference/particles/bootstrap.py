"""The bootstrap particle filter: many states, moved by the dynamics, weighed by the sensors.

With enough particles it is right whatever the dynamics, which is what the Gaussian filters are
tested against; it is slower than they are.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from prssm.inference.forecast import propagated
from prssm.inference.state_space import Array, StateSpace, root, windows

_LOG_2PI = float(np.log(2.0 * np.pi))


class Particles(NamedTuple):
    """Moments of the state after each row, and an estimate of each row's log-density."""

    mean: Float[Array, "M T Dx"]
    variance: Float[Array, "M T Dx"]
    log_likelihood: Float[Array, "M T"]


def particle_filter(
    space: StateSpace,
    u: Float[Array, "T Du"],
    y: Float[Array, "T Dy"],
    *,
    particles: int,
    rng: np.random.Generator,
) -> Particles:
    """Filters every member by itself; NaN in y is a channel that was not measured."""
    inputs = windows(u, space.lags)
    first = space.first()
    eps = rng.standard_normal((space.members, particles, space.state_dim))
    x = first.mean + (root(first.covariance) @ eps[..., None])[..., 0]
    rows = []
    for t in range(len(inputs)):
        if t > 0:
            x = propagated(space, x, inputs[t - 1 : t], rng)
        log_weight = log_density(space, x, inputs[t : t + 1], y[t])
        highest = log_weight.max(axis=1, keepdims=True)
        weight = np.exp(log_weight - highest)
        total = weight.sum(axis=1, keepdims=True)
        share = (weight / total)[..., None]
        mean = (share * x).sum(axis=1)
        variance = (share * (x - mean[:, None]) ** 2).sum(axis=1)
        rows.append((mean, variance, (highest + np.log(total / particles))[:, 0]))
        x = np.stack([own[resampled(w, rng)] for own, w in zip(x, share[..., 0], strict=True)])
    return Particles(*(np.stack(part, axis=1) for part in zip(*rows, strict=True)))


def log_density(
    space: StateSpace, x: Float[Array, "M N Dx"], u: Float[Array, "1 U"], y: Float[Array, " Dy"]
) -> Float[Array, "M N"]:
    """log p(y | x) of the channels that were measured."""
    output, _, R = space.output(x, np.repeat(u, x.shape[1], axis=0))
    known = ~np.isnan(y)
    variance = np.diagonal(R, axis1=-2, axis2=-1)
    error = np.where(known, y, 0.0) - output
    density = -0.5 * (error**2 / variance + np.log(variance) + _LOG_2PI)
    return np.where(known, density, 0.0).sum(axis=-1)


def resampled(weight: Float[Array, " N"], rng: np.random.Generator) -> Array:
    """Indices of particles in proportion to their weights, by one random number (systematic)."""
    places = (np.arange(len(weight)) + rng.random()) / len(weight)
    return np.minimum(np.searchsorted(np.cumsum(weight), places), len(weight) - 1)
