"""Gauss-Newton steps to the most likely first state: `least`."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from prssm.inference.state_space import Array

_STEPS = 12


class Local(NamedTuple):
    """A sum of squares at some places, half its gradient and half its curvature there."""

    cost: Float[Array, "*places"]  # infinite: lost
    slope: Float[Array, "*places Dx"]
    curvature: Float[Array, "*places Dx Dx"]


def least(
    at: Callable[[Float[Array, "*places Dx"]], Local],
    x: Float[Array, "*places Dx"],
    *,
    shorter: float,
    tries: int,
    small: float = 0.0,
) -> tuple[Float[Array, "*places Dx"], Local]:
    """Where the cost is least, near each of the places `x`, and the equations there.

    A step that does not help is tried again, `shorter` times as long each time. It ends where no
    place gains more than the share `small` of its cost.
    """
    now = at(x)
    for _ in range(_STEPS):
        before = now.cost
        move = np.linalg.solve(now.curvature, now.slope[..., None])[..., 0]
        for _ in range(tries):
            trial = at(x - move)
            better = np.asarray(trial.cost < now.cost)
            x = np.where(better[..., None], x - move, x)
            now = _either(better, trial, now)
            move = np.where(better[..., None], 0.0, shorter * move)
            if better.all():
                break
        if not np.any((1.0 + small) * np.asarray(now.cost) < before):
            break
    return x, now


def _either(chosen: Array, one: Local, other: Local) -> Local:
    return Local(
        np.where(chosen, one.cost, other.cost),
        np.where(chosen[..., None], one.slope, other.slope),
        np.where(chosen[..., None, None], one.curvature, other.curvature),
    )
