"""The work that is timed: one value and gradient of the stochastic ELBO.

By each engine, and in the obvious way.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

from prssm.data import windows
from prssm.data.record import Record
from prssm.dynamics.transition import Dynamics
from prssm.models.prssm.config import PAPER
from prssm.models.prssm.elbo import Draws, Objective, StateSpaceModel, TrainingData
from prssm.models.prssm.starts.start import random_model


@dataclass(frozen=True)
class Work:
    """The sizes of one objective."""

    latent_dim: int
    input_dim: int
    output_dim: int
    points: int
    samples: int
    batch: int
    horizon: int

    @property
    def trajectories(self) -> int:
        return self.samples * self.batch


# R: the paper's configuration
REFERENCE = Work(4, 1, 1, points=20, samples=50, batch=10, horizon=100)
# S: the size of the paper's robot arm
LARGE = Work(14, 7, 7, points=50, samples=20, batch=5, horizon=100)


class BatchFirst(Objective):
    """The obvious way to write it.

    States (B, Dx), kernels (Dx, B, P), and JAX differentiates the scan.
    """

    def _trajectories(
        self, dynamics: Dynamics, mean: Array, log_std: Array, inputs: Array, key: Array
    ) -> Array:
        first_mean, first_std = (
            jnp.repeat(part, self.samples, axis=0) for part in (mean, jnp.exp(log_std))
        )
        # The same numbers as in the other engines, so that all compute the same thing.
        eps = jnp.swapaxes(
            jax.random.normal(key, (self.horizon, *first_mean.T.shape), first_mean.dtype), 1, 2
        )
        inputs = jnp.swapaxes(inputs, 1, 2)

        def step(x: Array, now: tuple[Array, Array]) -> tuple[Array, Array]:
            u, noise = now
            centre, variance = _batch_first_step(dynamics, x, u)
            following = centre + jnp.sqrt(variance) * noise
            return following, following

        x1 = first_mean + first_std * eps[-1]
        _, later = lax.scan(step, x1, (inputs[:-1], eps[:-1]))
        return jnp.swapaxes(jnp.concatenate([x1[None], later]), 1, 2)


def _batch_first_step(dynamics: Dynamics, x: Array, u: Array) -> tuple[Array, Array]:
    gp = dynamics.gp
    xu = jnp.concatenate([x, u], axis=1)

    def one(
        kernel: Any, zeta: Array, white: Array, mean: Array, spread: Array
    ) -> tuple[Array, Array]:
        scale = jnp.exp(-kernel.log_lengthscale)
        points = xu * scale
        centres = zeta * scale
        squared = (
            jnp.sum(points**2, axis=1)[:, None]
            + jnp.sum(centres**2, axis=1)
            - 2.0 * points @ centres.T
        )
        a = jnp.exp(2.0 * kernel.log_std - 0.5 * jnp.maximum(squared, 0.0)) @ white.T
        unsaid = jnp.maximum(jnp.exp(2.0 * kernel.log_std) - jnp.sum(a**2, axis=1), 0.0)
        return a @ mean, unsaid + jnp.sum((a @ spread) ** 2, axis=1)

    deviation, variance = jax.vmap(one, out_axes=1)(
        gp.kernel, gp.zeta, gp.white, gp.mean, gp.spread
    )
    return dynamics.mean(x.T, u.T).T + deviation, variance + dynamics.process_var


def make(work: Work, seed: int = 0, shared: bool = False) -> tuple[StateSpaceModel, TrainingData]:
    """A model at the start of training and a record of noise.

    How long a step takes does not depend on either.
    """
    rng = np.random.default_rng(seed)
    rows = 2 * work.horizon
    record = Record(
        rng.normal(size=(rows, work.input_dim)), rng.normal(size=(rows, work.output_dim))
    )
    config = PAPER.replace(
        latent_dim=work.latent_dim,
        inducing=work.points,
        horizon=work.horizon,
        shared_inducing=shared,
    )
    model = random_model(config, work.input_dim, work.output_dim, rng=rng)
    return jax.tree.map(jnp.asarray, model), TrainingData.of(
        windows.sliding([record], work.horizon)
    )


def objective(work: Work, engine: str, draws: Draws = "step") -> Objective:
    plan = Objective(
        work.horizon, work.batch, work.samples, window=PAPER.recognition_window, draws=draws
    )
    if engine == "batch-first":
        return BatchFirst(**vars(plan))
    return replace(plan, engine=engine)


def value_and_gradient(
    work: Work, engine: str, draws: Draws = "step"
) -> Callable[[StateSpaceModel, TrainingData, Array], tuple[Array, Any]]:
    """One iteration without the optimiser, compiled."""
    return jax.jit(jax.value_and_grad(partial(_negative, objective(work, engine, draws))))


def _negative(plan: Objective, model: StateSpaceModel, data: TrainingData, key: Array) -> Array:
    return -plan(model, data, key)
