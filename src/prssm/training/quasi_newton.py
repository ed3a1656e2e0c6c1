"""Deterministic ascent on an objective of a tree of parameters, for fits of seconds.

By L-BFGS-B in double precision.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

# (parameters, *data) -> what to maximise. A module-level function, so that it compiles once.
Objective = Callable[..., jax.Array]
Watch = Callable[[int, float], None]  # (iteration, best value so far)

# Added to the best cost where the objective is not finite, so that the line search turns back.
_UNUSABLE = 1e10


@dataclass(frozen=True, eq=False)
class Ascent:
    """Where it ended: the parameters, the objective there, and its value after each iteration."""

    parameters: Any
    value: float
    curve: np.ndarray


def maximise(
    objective: Objective,
    start: Any,
    data: tuple,
    iterations: int,
    lower: Any = None,
    upper: Any = None,
    watch: Watch = lambda iteration, value: None,
) -> Ascent:
    """Climb from `start`; `lower` and `upper` are trees like `start`.

    An objective that is nowhere finite gives the value NaN.
    """
    from scipy.optimize import minimize  # here: importing it takes long

    best: dict[str, Any] = {"cost": np.inf, "at": None}
    curve: list[float] = []

    def cost_and_slope(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = _value_and_slope(objective, _tree(flat, start), data)
        slope = -_flat(gradient)
        if not np.isfinite(value) or not np.isfinite(slope).all():
            return (0.0 if best["at"] is None else best["cost"]) + _UNUSABLE, np.zeros_like(flat)
        if -float(value) < best["cost"]:
            best.update(cost=-float(value), at=flat.copy())
        return -float(value), slope

    def after_iteration(_: np.ndarray) -> None:
        curve.append(-best["cost"])
        watch(len(curve), curve[-1])

    bounds = None if lower is None else np.stack([_flat(lower), _flat(upper)], axis=1)
    minimize(
        cost_and_slope,
        _flat(start),
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        callback=after_iteration,
        options={"maxiter": iterations, "maxcor": 20, "maxfun": 2 * iterations + 20},
    )
    if best["at"] is None:
        return Ascent(start, float("nan"), np.zeros(0))
    return Ascent(_tree(best["at"], start), -best["cost"], np.asarray(curve))


@partial(jax.jit, static_argnums=0)
def _value_and_slope(objective: Objective, parameters: Any, data: tuple) -> tuple[jax.Array, Any]:
    return jax.value_and_grad(objective)(parameters, *data)


def _flat(tree: Any) -> np.ndarray:
    return np.concatenate(
        [np.asarray(leaf, dtype=np.float64).ravel() for leaf in jax.tree.leaves(tree)]
    )


def _tree(flat: np.ndarray, like: Any) -> Any:
    leaves, structure = jax.tree.flatten(like)
    ends = np.cumsum([np.size(leaf) for leaf in leaves])
    parts = np.split(flat, ends[:-1])
    return jax.tree.unflatten(
        structure,
        [
            jnp.asarray(part.reshape(np.shape(leaf)))
            for part, leaf in zip(parts, leaves, strict=True)
        ],
    )
