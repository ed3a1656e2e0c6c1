"""Where a system comes to rest: f(x, u) = x, by Newton's method, for many systems at once."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from prssm.models.functions.plausible import Plausible, Slopes

_SETTLING = 30  # steps towards the equilibrium before Newton's first one
_MOST = 60  # of Newton's steps
_REACH = 2.0  # of one of them, in scaled units: far from rest the slopes mislead
_NEAR = 1e-9


class Rest(NamedTuple):
    """The points at rest, in scaled units, and which of them were found."""

    x: Float[np.ndarray, "M G B Dx"]
    u: Float[np.ndarray, "M G B Du"]
    slopes: Slopes
    found: np.ndarray  # (M, G, B)


def for_inputs(systems: Plausible, u: Float[np.ndarray, "G Du"]) -> Rest:
    """The equilibria of G constant inputs."""
    inputs = _for_each(systems, u)
    x = _settled(systems, inputs)

    def residual(x: np.ndarray, slopes: Slopes) -> tuple[np.ndarray, np.ndarray]:
        states = x.shape[-1]
        return x - slopes.following, np.eye(states) - slopes.by_following[..., :states]

    for _ in range(_MOST):
        slopes = systems.at(x, inputs)
        error, slope = residual(x, slopes)
        if _done(error).all():
            break
        x = x - _limited(_solved(slope, error))
    slopes = systems.at(x, inputs)
    return Rest(x, inputs, slopes, _done(residual(x, slopes)[0]))


def for_outputs(systems: Plausible, y: Float[np.ndarray, "G Dy"], inputs: int) -> Rest:
    """States and inputs that hold G outputs; the smallest change of input where several do."""
    wanted = _for_each(systems, y)
    u = _for_each(systems, np.zeros((len(y), inputs)))
    x = _settled(systems, u)
    states = x.shape[-1]
    still = np.concatenate([np.eye(states), np.zeros((states, inputs))], axis=1)
    for _ in range(_MOST):
        slopes = systems.at(x, u)
        error = np.concatenate([slopes.following - x, slopes.output - wanted], axis=-1)
        if _done(error).all():
            break
        slope = np.concatenate([slopes.by_following - still, slopes.by_output], axis=-2)
        step = _limited(_solved(slope, error))
        x = x - step[..., :states]
        u = u - step[..., states:]
    slopes = systems.at(x, u)
    error = np.concatenate([slopes.following - x, slopes.output - wanted], axis=-1)
    return Rest(x, u, slopes, _done(error))


def _for_each(systems: Plausible, values: np.ndarray) -> np.ndarray:
    """(G, D) for all members and systems: (M, G, B, D)."""
    members, count, _ = systems.shape
    grid, width = values.shape
    return np.broadcast_to(values[None, :, None], (members, grid, count, width))


def _settled(systems: Plausible, u: np.ndarray) -> np.ndarray:
    """Some steps from the middle of the states; 0 where they run away."""
    x = np.zeros((*u.shape[:3], systems.shape[2]))
    for _ in range(_SETTLING):
        x = systems.at(x, u).following
    calm = np.isfinite(x).all(axis=-1, keepdims=True) & (np.abs(x) < 1e3).all(
        axis=-1, keepdims=True
    )
    return np.where(calm, x, 0.0)


def _solved(slope: np.ndarray, error: np.ndarray) -> np.ndarray:
    """The least change that removes the error; none where numbers have run away."""
    fine = np.isfinite(slope).all(axis=(-1, -2)) & np.isfinite(error).all(axis=-1)
    slope = np.where(fine[..., None, None], slope, 0.0)
    error = np.where(fine[..., None], error, 0.0)
    return (np.linalg.pinv(slope) @ error[..., None])[..., 0]


def _limited(step: np.ndarray) -> np.ndarray:
    size = np.linalg.norm(step, axis=-1, keepdims=True)
    return step * np.minimum(1.0, _REACH / np.maximum(size, 1e-30))


def _done(error: np.ndarray) -> np.ndarray:
    return np.abs(error).max(axis=-1, initial=0.0) < _NEAR
