"""One damped step of least squares: shared parameters, and some that each record has of its own.

Compiled where the native library is there; what stands here is the same in NumPy, and the oracle.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from prssm.dynamics.engines.choice import compiled_network, trainer_why_not

_LEAST_CURVATURE = 1e-9  # of the largest one, that is damped


def damped_step(
    squares: np.ndarray, slopes: np.ndarray, shared: int, damping: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """What to subtract from the shared parameters (shared,) and from the own ones (R, own).

    `squares` (R, size, size) and `slopes` (R, size) are J'J and J'e of each record, with the shared
    parameters first. None where rounding leaves no step. So it is where errors are as small as
    rounding: then the prior is as weak, and more damping is needed.
    """
    if trainer_why_not() is None:
        return compiled_network.damped_step(squares, slopes, shared, damping)
    return plain_damped_step(squares, slopes, shared, damping=damping)


def plain_damped_step(
    squares: np.ndarray, slopes: np.ndarray, shared: int, *, damping: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """`damped_step` in NumPy."""
    try:
        return _eliminated(squares, slopes, shared, damping=damping)
    except np.linalg.LinAlgError:
        return None


def _eliminated(
    squares: np.ndarray, slopes: np.ndarray, shared: int, *, damping: float
) -> tuple[np.ndarray, np.ndarray]:
    """The step itself, with each record's own parameters eliminated from the equations."""
    square = np.zeros((shared, shared))
    slope = np.zeros(shared)
    kept: list[tuple] = []
    for one, g in zip(squares, slopes, strict=True):
        curvature = one.diagonal()
        brake = damping * np.maximum(curvature, _LEAST_CURVATURE * curvature.max())
        damped = one + np.diag(brake)
        factor = cho_factor(damped[shared:, shared:])
        across = cho_solve(factor, damped[shared:, :shared])
        back = cho_solve(factor, g[shared:])
        square += damped[:shared, :shared] - damped[:shared, shared:] @ across
        slope += g[:shared] - damped[:shared, shared:] @ back
        kept.append((across, back))
    change = cho_solve(cho_factor(square), slope)
    return change, np.stack([back - across @ change for across, back in kept])
