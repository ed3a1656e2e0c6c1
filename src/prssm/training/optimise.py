"""Gradient ascent on many restarts at once: compiled in chunks, watched, checkpointed, resumable.

Random numbers of iteration i are derived from (key, i), never from what was drawn before, so a resumed run is the same run.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, PRNGKeyArray

from prssm.foundation.errors import TrainingError, TrainingInterrupted
from prssm.training.checkpoint import Checkpoint
from prssm.training.log import CONVERGED, DIVERGED, TrainingLog
from prssm.training.session import Session

CHUNK = 10  # iterations between looks at the clock, the watcher and the keyboard
FINAL_DRAWS = 20  # estimates of the objective, averaged to compare the restarts

Objective = Callable[[Any, Any, PRNGKeyArray], Array]  # (parameters, data, key) -> what to maximise; hashable


@dataclass(frozen=True)
class Schedule:
    """How long and how fast."""

    iterations: int
    learning_rate: float


def optimise(objective: Objective, starts: Any, data: Any, schedule: Schedule, key: PRNGKeyArray, session: Session,
             fingerprint: str) -> tuple[Any, TrainingLog]:
    """Train all `starts` (a tree whose arrays lead with the restart axis) and return the best one's parameters.

    A restart whose objective or gradient is no longer finite stops there and is dropped.
    """
    key_train, key_final = jax.random.split(key)
    checkpoint = Checkpoint(session.checkpoint, fingerprint)
    state = initial_state(starts)
    if session.resume:
        state = checkpoint.load(state)
    session.progress.start(schedule.iterations, int(state["iteration"]), "training")
    try:
        state = _run(objective, state, data, schedule, key_train, session, checkpoint)
    finally:
        session.progress.stop()
    return _choose(objective, state, data, key_final)


def initial_state(starts: Any) -> dict[str, Any]:
    """The state of a run that has not begun, for parameters whose arrays lead with the restart axis."""
    starts = jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype=leaf.dtype), starts)  # weak types would compile thrice
    restarts = jax.tree.leaves(starts)[0].shape[0]
    return {
        "parameters": starts, "optimiser": jax.vmap(optax.adam(0.0).init)(starts), "iteration": np.asarray(0),
        "alive_until": jnp.full(restarts, -1, dtype=int),  # -1: still alive
        "seconds": np.asarray(0.0), "curve": np.zeros((0, restarts)), "curve_iteration": np.zeros(0, dtype=np.int64),
    }


def _run(objective: Objective, state: dict[str, Any], data: Any, schedule: Schedule, key: PRNGKeyArray, session: Session,
         checkpoint: Checkpoint) -> dict[str, Any]:
    saved_at = time.monotonic()
    try:
        while state["iteration"] < schedule.iterations:
            state = advance(objective, state, data, schedule, key)
            session.progress.update(int(state["iteration"]), _figures(state))
            if np.all(np.asarray(state["alive_until"]) >= 0):
                break
            if time.monotonic() - saved_at > session.checkpoint_seconds:
                checkpoint.save(state)
                saved_at = time.monotonic()
    except KeyboardInterrupt:
        checkpoint.save(state)
        where = f"; resume from {checkpoint.path}" if checkpoint.path else " (no checkpoint file was named)"
        raise TrainingInterrupted(f"training interrupted at iteration {int(state['iteration'])} of "
                                  f"{schedule.iterations}{where}") from None
    checkpoint.save(state)
    return state


def _figures(state: dict[str, Any]) -> dict[str, float]:
    latest = state["curve"][-1]
    alive = np.asarray(state["alive_until"]) < 0
    figures = {"best ELBO": float(np.max(latest[alive]))} if alive.any() else {}
    return figures | ({"diverged": float((~alive).sum())} if not alive.all() else {})


def advance(objective: Objective, state: dict[str, Any], data: Any, schedule: Schedule, key: PRNGKeyArray) -> dict[str, Any]:
    """One chunk of iterations."""
    begun = time.perf_counter()
    first = int(state["iteration"])
    steps = min(CHUNK, schedule.iterations - first)
    moving = (state["parameters"], state["optimiser"], state["alive_until"])
    moving, values = jax.block_until_ready(
        _chunk(objective, steps, moving, data, key, jnp.asarray(first), jnp.asarray(schedule.learning_rate)))
    parameters, optimiser, alive_until = moving
    return {
        "parameters": parameters, "optimiser": optimiser, "alive_until": alive_until,
        "iteration": np.asarray(first + steps), "seconds": state["seconds"] + (time.perf_counter() - begun),
        "curve": np.concatenate([state["curve"], np.asarray(values).mean(axis=0)[None]]),
        "curve_iteration": np.append(state["curve_iteration"], first + steps),
    }


@partial(jax.jit, static_argnames=("objective", "steps"))
def _chunk(objective: Objective, steps: int, moving: tuple, data: Any, key: PRNGKeyArray, first: Array,
           learning_rate: Array) -> tuple[tuple, Array]:
    """`steps` iterations of all restarts; compiled once for each structure, whatever the data and seeds."""
    optimiser = optax.adam(learning_rate)

    def one(parameters: Any, state: Any, alive_until: Array, restart: Array, iteration: Array) -> tuple:
        draw = jax.random.fold_in(jax.random.fold_in(key, iteration), restart)
        value, gradient = jax.value_and_grad(lambda p: -objective(p, data, draw))(parameters)
        finite = jnp.isfinite(value) & jnp.all(jnp.asarray([jnp.all(jnp.isfinite(g)) for g in jax.tree.leaves(gradient)]))
        change, new_state = optimiser.update(gradient, state, parameters)
        healthy = finite & (alive_until < 0)
        kept = jax.tree.map(lambda new, old: jnp.where(healthy, new, old),
                            (optax.apply_updates(parameters, change), new_state), (parameters, state))
        return (*kept, jnp.where((alive_until < 0) & ~finite, iteration, alive_until)), -value

    def step(moving: tuple, iteration: Array) -> tuple[tuple, Array]:
        restarts = jnp.arange(moving[2].shape[0])
        return jax.vmap(one, in_axes=(0, 0, 0, 0, None))(*moving, restarts, iteration)

    return jax.lax.scan(step, moving, first + jnp.arange(steps))


@partial(jax.jit, static_argnames=("objective",))
def final_objective(objective: Objective, parameters: Any, data: Any, key: PRNGKeyArray) -> Array:
    """The mean of several estimates, with the same random numbers for every restart, so that they compare fairly."""
    draws = jax.random.split(key, FINAL_DRAWS)
    one = lambda p: jnp.mean(jax.lax.map(lambda draw: objective(p, data, draw), draws))  # noqa: E731
    return jax.vmap(one)(parameters)


def _choose(objective: Objective, state: dict[str, Any], data: Any, key: PRNGKeyArray) -> tuple[Any, TrainingLog]:
    alive_until = np.asarray(state["alive_until"])
    final = np.array(final_objective(objective, state["parameters"], data, key))
    lost = (alive_until >= 0) | ~np.isfinite(final)
    final[lost] = np.nan
    if lost.all():
        raise TrainingError(f"all {len(final)} restarts diverged, the last at iteration {alive_until.max()}; try a smaller "
                            f"learning_rate, a shorter horizon, more restarts or fewer latent dimensions")
    kept = int(np.nanargmax(final))
    outcomes = tuple(f"{DIVERGED} at iteration {at}" if gone else CONVERGED for at, gone in zip(alive_until, lost, strict=True))
    log = TrainingLog(state["curve_iteration"], state["curve"].T, final, outcomes, kept, float(state["seconds"]))
    return jax.tree.map(lambda array: array[kept], state["parameters"]), log
