"""Gradient ascent on many restarts at once: compiled in chunks, watched, checkpointed, resumable.

Random numbers of iteration i are derived from (key, i), never from what was drawn before, so a
resumed run is the same run.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, PRNGKeyArray

from prssm.training.distributed.devices import everywhere, kept_everywhere
from prssm.training.distributed.processes import noticing_losses
from prssm.training.feed import Feed, PerIteration
from prssm.training.log import TrainingLog
from prssm.training.loop import run_to_end
from prssm.training.schedule import Schedule
from prssm.training.session import Session

CHUNK = 10  # iterations between looks at the clock, the watcher and the keyboard
FINAL_DRAWS = 5 * CHUNK  # estimates of the objective, averaged to compare the restarts

Objective = Callable[[Any, Any, PRNGKeyArray, Array], Array]
"""(parameters, data, key, weight of the regulariser) -> what to maximise.

Hashable, so that it is compiled once.
"""


class PerRestart(eqx.Module):
    """Data of which a part is every restart's own.

    Arrays of `own` lead with the restart axis, `shared` is for all. The objective gets a PerRestart
    with the own part of one restart.
    """

    shared: Any
    own: Any


def optimise(
    objective: Objective,
    starts: Any,
    data: Any,
    schedule: Schedule,
    key: PRNGKeyArray,
    session: Session,
    fingerprint: str,
) -> tuple[Any, TrainingLog]:
    """Train all `starts` and return the parameters of the best one.

    `starts` is a tree whose arrays lead with the restart axis.
    """
    parameters, log = optimise_all(
        objective,
        starts,
        data,
        schedule=schedule,
        key=key,
        session=session,
        fingerprint=fingerprint,
    )
    return jax.tree.map(lambda array: array[log.kept], parameters), log


def optimise_all(
    objective: Objective,
    starts: Any,
    data: Any,
    schedule: Schedule,
    key: PRNGKeyArray,
    session: Session,
    fingerprint: str,
) -> tuple[Any, TrainingLog]:
    """Train all `starts` and return them all.

    A restart whose objective or gradient is no longer finite stops there; its `final` is NaN.
    """
    mesh = session.mesh
    key_train, key_final = everywhere(tuple(jax.random.split(key)), mesh)
    data = _placed(data, mesh)
    state = run_to_end(
        initial_state(starts),
        lambda state: advance(objective, state, data, schedule=schedule, key=key_train, mesh=mesh),
        lambda state: (
            state["iteration"] >= schedule.iterations
            or bool(np.all(np.asarray(state["alive_until"]) >= 0))
        ),
        figures=_figures,
        total=schedule.iterations,
        session=session,
        fingerprint=fingerprint,
    )
    with noticing_losses():
        final = final_objective(objective, state, data, key=key_final, mesh=mesh)
    return jax.tree.map(np.asarray, state["parameters"]), TrainingLog.of_restarts(state, final)


def initial_state(starts: Any) -> dict[str, Any]:
    """The state of a run that has not begun.

    The arrays of the parameters lead with the restart axis.
    """
    # Weak types would compile three times.
    starts = jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype=leaf.dtype), starts)
    restarts = jax.tree.leaves(starts)[0].shape[0]
    return {
        "parameters": starts,
        "optimiser": jax.vmap(_optimiser().init)(starts),
        "iteration": np.asarray(0),
        "alive_until": jnp.full(restarts, -1, dtype=int),  # -1: still alive
        "seconds": np.asarray(0.0),
        "curve": np.zeros((0, restarts)),
        "curve_iteration": np.zeros(0, dtype=np.int64),
    }


def _optimiser() -> Any:
    import optax  # here, since it takes long and compiled training does not need it

    return optax.scale_by_adam()


def _figures(state: dict[str, Any]) -> dict[str, float]:
    latest = state["curve"][-1]
    alive = np.asarray(state["alive_until"]) < 0
    figures = {"best ELBO": float(np.max(latest[alive]))} if alive.any() else {}
    return figures | ({"diverged": float((~alive).sum())} if not alive.all() else {})


def advance(
    objective: Objective,
    state: dict[str, Any],
    data: Any,
    schedule: Schedule,
    key: PRNGKeyArray,
    mesh: Mesh | None = None,
) -> dict[str, Any]:
    """One chunk of iterations; with a mesh, data and key are on all its devices."""
    begun = time.perf_counter()
    first = int(state["iteration"])
    steps = min(CHUNK, schedule.iterations - first)
    moving, mean_value = jax.block_until_ready(
        _chunk(
            objective,
            _moving(state, mesh),
            _of_chunk(data, key, first, mesh=mesh),
            key=key,
            first=first,
            steps=steps,
            schedule=schedule,
            mesh=mesh,
        )
    )
    parameters, optimiser, alive_until = moving
    return {
        "parameters": parameters,
        "optimiser": optimiser,
        "alive_until": alive_until,
        "iteration": np.asarray(first + steps),
        "seconds": state["seconds"] + (time.perf_counter() - begun),
        "curve": np.concatenate([state["curve"], np.asarray(mean_value)[None]]),
        "curve_iteration": np.append(state["curve_iteration"], first + steps),
    }


def _moving(state: dict[str, Any], mesh: Mesh | None) -> tuple:
    """What an iteration changes, on all devices."""
    return everywhere((state["parameters"], state["optimiser"], state["alive_until"]), mesh)


def _placed(data: Any, mesh: Mesh | None) -> Any:
    """Data on all devices; what is read from disk gets there chunk by chunk."""
    if isinstance(data, PerRestart) and isinstance(data.shared, Feed):
        return PerRestart(data.shared, everywhere(data.own, mesh))
    return everywhere(data, mesh)


def _of_chunk(data: Any, key: PRNGKeyArray, first: int, mesh: Mesh | None) -> Any:
    """What the iterations of a chunk need of the data."""
    if isinstance(data, PerRestart) and isinstance(data.shared, Feed):
        return PerRestart(everywhere(data.shared.chunk(key, first), mesh), data.own)
    return data


def _of_iteration(data: Any, offset: Array) -> Any:
    if isinstance(data, PerRestart) and isinstance(data.shared, PerIteration):
        return PerRestart(jax.tree.map(lambda array: array[offset], data.shared.chunk), data.own)
    return data


@partial(jax.jit, static_argnames=("objective", "mesh"))
def _chunk(
    objective: Objective,
    moving: tuple,
    data: Any,
    key: PRNGKeyArray,
    first: Array,
    steps: Array,
    schedule: Schedule,
    mesh: Mesh | None = None,
) -> tuple[tuple, Array]:
    """`steps` iterations of all restarts, and the mean objective.

    Compiled once for each structure of the parameters, whatever data and seeds.
    """

    data_axes = PerRestart(None, 0) if isinstance(data, PerRestart) else None

    def step(offset: Array, carry: tuple) -> tuple:
        (parameters, state, alive_until), total = carry
        # The draw is the same for all restarts, so that they compare fairly.
        draw = jax.random.fold_in(key, first + offset)
        here = _of_iteration(data, offset)
        one = partial(_iteration, objective, schedule)
        moving, value = jax.vmap(one, in_axes=(0, 0, 0, data_axes, None, None))(
            parameters, state, alive_until, here, draw, first + offset
        )
        return moving, total + value

    moving, total = jax.lax.fori_loop(0, steps, step, (moving, jnp.zeros(moving[2].shape)))
    return kept_everywhere((moving, total / steps), mesh)


def _iteration(
    objective: Objective,
    schedule: Schedule,
    parameters: Any,
    state: Any,
    alive_until: Array,
    data: Any,
    draw: PRNGKeyArray,
    iteration: Array,
) -> tuple[tuple, Array]:
    """One restart after one iteration, and its objective before.

    A restart whose objective or gradient is not finite stays as it was.
    """
    value, gradient = jax.value_and_grad(
        lambda p: -objective(p, data, draw, schedule.weight(iteration))
    )(parameters)
    finite = jnp.isfinite(value) & jnp.all(
        jnp.asarray([jnp.all(jnp.isfinite(g)) for g in jax.tree.leaves(gradient)])
    )
    norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(gradient)))
    gradient = jax.tree.map(
        lambda g: g * jnp.minimum(1.0, schedule.clip / jnp.maximum(norm, 1e-300)), gradient
    )
    direction, new_state = _optimiser().update(gradient, state, parameters)
    change = jax.tree.map(lambda d: -schedule.rate(iteration) * d, direction)
    healthy = finite & (alive_until < 0)
    kept = jax.tree.map(
        lambda new, old: jnp.where(healthy, new, old),
        (jax.tree.map(jnp.add, parameters, change), new_state),
        (parameters, state),
    )
    return (*kept, jnp.where((alive_until < 0) & ~finite, iteration, alive_until)), -value


def final_objective(
    objective: Objective,
    state: dict[str, Any],
    data: Any,
    key: PRNGKeyArray,
    mesh: Mesh | None = None,
) -> np.ndarray:
    """Each restart's objective, the mean of several estimates.

    The estimates are training steps of size zero, so nothing new is compiled.
    """
    moving = _moving(state, mesh)
    still = Schedule(FINAL_DRAWS, 0.0, 0.0)
    estimates = []
    for first in range(0, FINAL_DRAWS, CHUNK):
        _, value = _chunk(
            objective,
            moving,
            _of_chunk(data, key, first, mesh=mesh),
            key=key,
            first=first,
            steps=CHUNK,
            schedule=still,
            mesh=mesh,
        )
        estimates.append(np.asarray(value))
    return np.mean(estimates, axis=0)
