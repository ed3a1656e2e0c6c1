"""Free runs of the members of a mixture, in compiled code or in JAX.

JAX runs what the compiled code does not know; the random numbers are the same.

Long runs go in blocks of time, so that memory does not grow with them beyond what is asked for.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from prssm.dynamics.engines.choice import (
    Engine,
    compiled_trainer,
    conditioned,
    native_free_run,
    rollout,
)
from prssm.models.prssm.compiled import Rows, kinds, why_not
from prssm.models.prssm.elbo import Draws, StateSpaceModel
from prssm.prediction.paired_draws import paired_normal

BLOCK = 2048  # steps at a time


class Block(NamedTuple):
    """Some steps of one member's trajectories.

    States (T, Dx, B) and noise-free outputs (T, Dy, B).
    """

    begin: int
    states: np.ndarray
    outputs: np.ndarray


class FreeRuns:
    """Runs the members of a mixture; `models` lead with the members."""

    def __init__(self, models: StateSpaceModel, draws: Draws, engine: Engine) -> None:
        self.models = jax.tree.map(np.asarray, models)
        self.draws = draws
        # what is run is as precise as its arguments; single precision is for training
        self.engine = cast(Engine, engine.removesuffix("-single"))
        forced = engine.partition("-")[0] in ("adjoint", "scan", "cuda")
        self.compiled = not forced and why_not(self.models) is None
        self.rows = Rows.of(self.models) if self.compiled else None

    def member(
        self,
        index: int,
        u: np.ndarray,
        x1: np.ndarray,
        *,
        rng: np.random.Generator,
        kind: type = np.float64,
    ) -> Iterator[Block]:
        """Member `index` over inputs (T, Du) from first states (Dx, B), block after block."""
        trajectories = x1.shape[1]
        points = self.models.transition.gp.inducing.mean.shape[1:]
        noise = None
        if self.draws == "trajectory":
            noise = paired_normal(rng, (*points, trajectories), kind)
        step = self._compiled_step(index, noise) if self.compiled else self._jax_step(index, noise)
        begin = 0
        while begin < len(u):
            # A block repeats the last state of the one before it, from which it goes on.
            end = min(begin + BLOCK, len(u))
            inputs = u[max(begin - 1, 0) : end]
            eps = paired_normal(rng, (len(inputs), len(x1), trajectories), kind)
            states, outputs = step(inputs, x1, eps)
            x1 = states[-1]
            skip = int(begin > 0)
            yield Block(begin, states[skip:], outputs[skip:])
            begin = end

    def _compiled_step(self, index: int, noise: np.ndarray | None) -> partial:
        one = jax.tree.map(lambda leaf: leaf[index : index + 1], self.models)
        assert self.rows is not None
        offsets = self.rows.offsets()
        theta = self.rows.rows(one)[0]
        return partial(self._run_compiled, one, offsets, theta=theta, noise=noise)

    def _run_compiled(
        self,
        one: StateSpaceModel,
        offsets: compiled_trainer.Offsets,
        u: np.ndarray,
        x1: np.ndarray,
        eps: np.ndarray,
        *,
        theta: np.ndarray,
        noise: np.ndarray | None,
    ) -> tuple[np.ndarray, np.ndarray]:
        _, dx, points, din = one.transition.gp.zeta.shape
        sizes = compiled_trainer.Sizes(
            dx=dx,
            du=din - dx,
            dy=one.log_output_std.shape[1],
            points=points,
            steps=len(u),
            batch=1,
            samples=eps.shape[2],
            per_step=int(self.draws == "step"),
            **kinds(one),
        )
        return native_free_run(sizes, offsets, theta, u=u, x1=x1, eps=eps, noise=noise)

    def _jax_step(self, index: int, noise: np.ndarray | None) -> partial:
        one = jax.tree.map(lambda leaf: leaf[index], self.models)
        return partial(_run_in_jax, one, noise, engine=self.engine)


def _run_in_jax(
    model: StateSpaceModel,
    noise: np.ndarray | None,
    u: np.ndarray,
    x1: np.ndarray,
    eps: np.ndarray,
    *,
    engine: Engine,
) -> tuple[np.ndarray, np.ndarray]:
    states, outputs = _steps(model, noise, u, x1.astype(np.float64), eps=eps, engine=engine)
    return np.asarray(states), np.asarray(outputs)


@partial(jax.jit, static_argnames=("engine",))
def _steps(
    model: StateSpaceModel, noise: Array | None, u: Array, x1: Array, *, eps: Array, engine: Engine
) -> tuple[Array, Array]:
    dynamics = conditioned(model.transition)
    if noise is not None:
        dynamics = dynamics.drawn(noise.astype(dynamics.gp.zeta.dtype))
    inputs = jnp.broadcast_to(u[:, :, None], (*u.shape, eps.shape[2]))
    states = rollout(dynamics, x1, inputs, eps, engine=engine)
    return states, model.emission(states, inputs)
