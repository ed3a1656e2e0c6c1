"""The free run of an autoregressive model: its state is the window of its last outputs.

With moment matching the window is Gaussian; each new output joins it with its covariance to all
outputs it came from.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from prssm.foundation.arrays import AnyArray
from prssm.gp.conditional import Conditional
from prssm.gp.linalg import gaussian_draws
from prssm.gp.moment_matching import match_moments


class Window(NamedTuple):
    """The last L outputs, newest first, as one Gaussian vector."""

    mean: Float[AnyArray, " LDy"]
    covariance: Float[AnyArray, "LDy LDy"]


class Run(NamedTuple):
    """For each step the moments of the new function values, and the window they came from."""

    mean: Float[AnyArray, "T Dy"]
    covariance: Float[AnyArray, "T Dy Dy"]
    cross: Float[AnyArray, "T LDy Dy"]  # between window and new values
    window: Window


def step_moments(
    gps: Conditional, entering_var: Float[Array, " Dy"], window: Window, u: Float[Array, " LDu"]
) -> tuple[Window, Run]:
    """One step with the whole covariance: the next window, and what this step gives."""
    new = match_moments(gps, window.mean, window.covariance, known=u)
    count = new.mean.shape[0]
    kept = window.mean.shape[0] - count  # the oldest outputs leave
    mean = jnp.concatenate([new.mean, window.mean[:kept]])
    cross = new.cross[:kept]
    old = jnp.asarray(window.covariance)[:kept, :kept]
    covariance = jnp.block([[new.covariance + jnp.diag(entering_var), cross.T], [cross, old]])
    return Window(mean, covariance), Run(new.mean, new.covariance, new.cross, window=window)


def step_mean(gps: Conditional, window: Window, u: Float[Array, " LDu"]) -> tuple[Window, Run]:
    """One step of the mean alone: the window counts as known, so errors do not add up."""
    point = jnp.concatenate([window.mean, u])[:, None]
    mean, variance = jax.vmap(lambda gp: gp(point))(gps)
    mean = mean[:, 0]
    variance = variance[:, 0]
    moved = jnp.concatenate([mean, window.mean[: window.mean.shape[0] - mean.shape[0]]])
    cross = jnp.zeros((window.mean.shape[0], mean.shape[0]))
    return Window(moved, window.covariance), Run(mean, jnp.diag(variance), cross, window=window)


@partial(jax.jit, static_argnames="propagation")
def free_run(
    gps: Conditional,
    entering_var: Float[Array, " Dy"],
    start: Window,
    u: Float[Array, "T LDu"],
    propagation: str,
) -> Run:
    """Steps over the input windows `u`.

    `entering_var` is the noise that each new output carries into the window.
    """

    def step(window: Window, u_t: Array) -> tuple[Window, Run]:
        if propagation == "mean":
            return step_mean(gps, window, u_t)
        return step_moments(gps, entering_var, window, u=u_t)

    return jax.lax.scan(step, start, u)[1]


def draw_paths(
    run: Run, entering_var: np.ndarray, start: Window, count: int, random: np.random.Generator
) -> np.ndarray:
    """Paths (count, T, Dy) whose mean and covariance are those of the run.

    The matched moments define a linear Gaussian chain: the new output given its window is
    N(m + C' S^-1 (window - mean), V - C' S^-1 C).
    """
    outputs = run.mean.shape[1]
    window = gaussian_draws(start.covariance, count, random)
    path = np.empty((count, len(run.mean), outputs))
    for t, (mean, covariance, cross) in enumerate(zip(*run[:3], strict=True)):
        gain = np.linalg.pinv(run.window.covariance[t], rcond=1e-10, hermitian=True) @ cross
        left = covariance + np.diag(entering_var) - cross.T @ gain
        deviation = window @ gain + gaussian_draws(left, count, random)
        path[:, t] = mean + deviation
        window = np.concatenate([deviation, window[:, :-outputs]], axis=1)
    return path
