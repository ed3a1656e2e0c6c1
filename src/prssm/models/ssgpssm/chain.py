"""A run of the particle Gibbs sampler: compiled in chunks, watched, checkpointed, resumable.

Random numbers of iteration i are derived from (seed, chain, i), never from what was drawn before,
so a resumed run is the same run.
"""

import time
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from prssm.foundation.errors import TrainingError
from prssm.models.ssgpssm.config import SSGPSSMConfig
from prssm.models.ssgpssm.sweep import Chain, Structure, Training, sweep
from prssm.training.log import CONVERGED, DIVERGED, TrainingLog
from prssm.training.loop import run_to_end
from prssm.training.session import Session

CHUNK = 10  # iterations between looks at the clock, the watcher and the keyboard


class Draws(eqx.Module):
    """Models kept from the posterior."""

    weights: Float[Array, "... S Dx M"]
    process: Float[Array, "... S Dx Dx"]
    output_std: Float[Array, "... S Dy"]
    hyper: Float[Array, "... S H"]


def run(
    starts: Chain,
    structure: Structure,
    data: Training,
    config: SSGPSSMConfig,
    session: Session,
    fingerprint: str,
) -> tuple[Draws, TrainingLog]:
    """Run all chains (their arrays lead with the chain axis) and return the models of the best one.

    A chain whose numbers are no longer finite is dropped.
    """
    state = run_to_end(
        _initial_state(starts, config.kept_count),
        lambda state: _advance(state, structure, data, config=config),
        lambda state: (
            state["iteration"] >= config.iterations or not (state["alive_until"] < 0).any()
        ),
        figures=lambda state: {"log likelihood": float(np.max(state["curve"][-1]))},
        total=config.iterations,
        session=session,
        fingerprint=fingerprint,
        label="particle Gibbs",
    )
    return _choose(state, config)


def _initial_state(starts: Chain, kept: int) -> dict[str, Any]:
    chains = len(starts.log_likelihood)
    room = [jnp.zeros((chains, kept, *array.shape[1:])) for array in _kept_parts(starts)]
    return {
        "chains": starts,
        "draws": Draws(*room),
        "iteration": np.asarray(0),
        "seconds": np.asarray(0.0),
        "alive_until": np.full(chains, -1),  # -1: still alive
        "curve": np.zeros((0, chains)),
        "curve_iteration": np.zeros(0, dtype=np.int64),
    }


def _kept_parts(chain: Chain) -> tuple[Array, ...]:
    return chain.weights, chain.process, chain.output_std, chain.hyper


def _advance(
    state: dict[str, Any], structure: Structure, data: Training, config: SSGPSSMConfig
) -> dict[str, Any]:
    """One chunk of iterations."""
    begun = time.perf_counter()
    first = int(state["iteration"])
    steps = min(CHUNK, config.iterations - first)
    chains, draws, value = jax.block_until_ready(
        _chunk(
            state["chains"],
            state["draws"],
            structure,
            data=data,
            key=jax.random.key(config.seed),
            first=first,
            steps=steps,
            first_kept=config.first_kept,
            thinning=config.thinning,
            particles=config.particles,
        )
    )
    lost = (state["alive_until"] < 0) & ~np.isfinite(np.asarray(value))
    return {
        "chains": chains,
        "draws": draws,
        "iteration": np.asarray(first + steps),
        "seconds": state["seconds"] + (time.perf_counter() - begun),
        "alive_until": np.where(lost, first, state["alive_until"]),
        "curve": np.concatenate([state["curve"], np.asarray(value)[None]]),
        "curve_iteration": np.append(state["curve_iteration"], first + steps),
    }


@partial(jax.jit, static_argnames=("particles",))
def _chunk(
    chains: Chain,
    draws: Draws,
    structure: Structure,
    data: Training,
    key: PRNGKeyArray,
    first: Array,
    steps: Array,
    first_kept: Array,
    thinning: Array,
    particles: int,
) -> tuple[Chain, Draws, Array]:
    """`steps` iterations of all chains, and the mean of their log-likelihoods."""
    keys = jax.vmap(lambda chain: jax.random.fold_in(key, chain))(
        jnp.arange(len(chains.log_likelihood))
    )
    room = draws.weights.shape[1]

    def step(offset: Array, carry: tuple) -> tuple:
        chains, draws, total = carry
        iteration = first + offset
        now = jax.vmap(lambda one: jax.random.fold_in(one, iteration))(keys)
        chains = jax.vmap(
            lambda chain, one: sweep(chain, structure, data, particles=particles, key=one)
        )(chains, now)
        since = iteration - first_kept
        # A slot out of range is not kept.
        slot = jnp.where((since >= 0) & (since % thinning == 0), since // thinning, room)
        draws = jax.tree.map(
            lambda kept, new: kept.at[:, slot].set(new, mode="drop"),
            draws,
            Draws(*_kept_parts(chains)),
        )
        return chains, draws, total + chains.log_likelihood

    chains, draws, total = jax.lax.fori_loop(
        0, steps, step, (chains, draws, jnp.zeros_like(chains.log_likelihood))
    )
    return chains, draws, total / steps


def _choose(state: dict[str, Any], config: SSGPSSMConfig) -> tuple[Draws, TrainingLog]:
    """The chain whose models explain the outputs best after the burn-in."""
    alive_until = state["alive_until"]
    curve = state["curve"]
    final = np.full(len(alive_until), np.nan)
    if (alive_until < 0).any():  # else the run ended early, perhaps within the burn-in
        after = state["curve_iteration"] > config.first_kept
        final = np.where(alive_until < 0, curve[after].mean(axis=0), np.nan)
    if np.isnan(final).all():
        raise TrainingError(
            f"all {len(final)} chains diverged, the last at iteration {alive_until.max()}; "
            "try a larger process_std or output_std, or fewer basis functions"
        )
    kept = int(np.nanargmax(final))
    outcomes = tuple(CONVERGED if at < 0 else f"{DIVERGED} at iteration {at}" for at in alive_until)
    log = TrainingLog(
        state["curve_iteration"],
        curve.T,
        final,
        outcomes=outcomes,
        kept=kept,
        seconds=float(state["seconds"]),
        objective_name="log likelihood",
    )
    return jax.tree.map(lambda array: np.asarray(array)[kept], state["draws"]), log
