"""Deterministic training that can be interrupted: L-BFGS in legs.

Each leg starts its memory anew. Because a leg depends on nothing but the parameters it starts from,
a run that is resumed at the last whole leg is the same run. A restart is finished when its legs are
used up or when one of the last phase gains too little.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from prssm.foundation.errors import TrainingError
from prssm.training.log import CONVERGED, DIVERGED, TrainingLog
from prssm.training.loop import run_to_end
from prssm.training.quasi_newton import Objective, maximise
from prssm.training.session import Session

LEG = 100  # iterations of a leg


@dataclass(frozen=True, eq=False)
class Phase:
    """So many iterations within a box of parameters; equal limits hold a parameter fixed."""

    iterations: int
    lower: Any
    upper: Any


Legs = list[tuple[Phase, int]]


def train(
    objective: Objective,
    starts: Any,
    data: tuple,
    phases: Sequence[Phase],
    least_gain: float,
    session: Session,
    fingerprint: str,
) -> tuple[Any, TrainingLog]:
    """Train all `starts` through the phases and return the parameters of the best one.

    The arrays of `starts` lead with the restart axis. The last phase ends early when a whole leg
    gains less than `least_gain`.
    """
    legs = [
        (phase, min(LEG, phase.iterations - done))
        for phase in phases
        for done in range(0, phase.iterations, LEG)
    ]
    begin = _begin(starts, legs)
    total = len(begin["next_leg"]) * sum(steps for _, steps in legs)
    state = run_to_end(
        begin,
        lambda state: _one_leg(
            objective, state, data, legs=legs, least_gain=least_gain, session=session
        ),
        lambda state: bool((state["next_leg"] >= len(legs)).all()),
        figures=lambda state: {"bound": float(np.nanmax(state["curve"], initial=-np.inf))},
        total=total,
        session=session,
        fingerprint=fingerprint,
    )
    return _choose(objective, state, data, legs=legs)


def _begin(starts: Any, legs: Legs) -> dict[str, Any]:
    restarts = jax.tree.leaves(starts)[0].shape[0]
    return {
        "parameters": jax.tree.map(np.array, starts),
        "iteration": np.asarray(0),
        "seconds": np.asarray(0.0),
        "next_leg": np.zeros(restarts, dtype=np.int64),
        "curve": np.full((restarts, len(legs)), np.nan),
    }


def _one_leg(
    objective: Objective,
    state: dict[str, Any],
    data: tuple,
    legs: Legs,
    least_gain: float,
    session: Session,
) -> dict[str, Any]:
    """The next leg of the first restart that has not ended; the given state is left as it was."""
    restart = int(np.argmax(state["next_leg"] < len(legs)))
    index = int(state["next_leg"][restart])
    before = int(state["iteration"])
    begun = time.perf_counter()
    phase, steps = legs[index]
    ascent = maximise(
        objective,
        _of(state["parameters"], restart),
        data,
        iterations=steps,
        lower=phase.lower,
        upper=phase.upper,
        watch=lambda done, value: session.progress.update(before + done, {"bound": value}),
    )
    previous = state["curve"][restart, index - 1] if index else -np.inf
    ended = not np.isfinite(ascent.value) or (
        phase is legs[-1][0] and ascent.value - previous < least_gain
    )
    parameters, curve, next_leg = jax.tree.map(
        np.array, (state["parameters"], state["curve"], state["next_leg"])
    )
    for array, new in zip(
        jax.tree.leaves(parameters), jax.tree.leaves(ascent.parameters), strict=True
    ):
        array[restart] = new
    curve[restart, index] = ascent.value
    next_leg[restart] = len(legs) if ended else index + 1
    return {
        "parameters": parameters,
        "curve": curve,
        "next_leg": next_leg,
        "iteration": np.asarray(before + steps),
        "seconds": state["seconds"] + (time.perf_counter() - begun),
    }


def _of(parameters: Any, restart: int) -> Any:
    return jax.tree.map(lambda array: jnp.asarray(array[restart]), parameters)


def _choose(
    objective: Objective, state: dict[str, Any], data: tuple, legs: Legs
) -> tuple[Any, TrainingLog]:
    curve = state["curve"]
    reached = np.cumsum([steps for _, steps in legs], dtype=np.int64)
    if not legs:  # no iteration was asked for: the starts are compared as they are
        values = [
            float(objective(_of(state["parameters"], restart), *data))
            for restart in range(len(curve))
        ]
        curve = np.array(values)[:, None]
        reached = np.zeros(1, dtype=np.int64)
    ran = np.isfinite(curve)
    final = np.array(
        [row[known][-1] if known.any() else np.nan for row, known in zip(curve, ran, strict=True)]
    )
    if not ran.any():
        raise TrainingError(
            f"all {len(final)} restarts diverged: the bound is not finite where they start; "
            "check the data's scale, use fewer lags or fewer inducing inputs"
        )
    used = ran.any(axis=0)
    # A restart that ended early keeps its last value.
    held = np.where(ran, curve, final[:, None])[:, used]
    outcomes = tuple(
        CONVERGED if np.isfinite(value) else f"{DIVERGED} at the start" for value in final
    )
    kept = int(np.nanargmax(final))
    log = TrainingLog(
        reached[used],
        held,
        final,
        outcomes=outcomes,
        kept=kept,
        seconds=float(state["seconds"]),
        objective_name="bound",
    )
    return jax.tree.map(lambda array: array[kept], state["parameters"]), log
