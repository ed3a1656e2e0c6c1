"""Free runs of a recurrent network, the normal equations of their errors, a step of training.

All compiled. `networks.equations` and `networks.damped_step` say what each computes, in NumPy.
"""

import ctypes
from collections.abc import Callable, Sequence

import numpy as np

from prssm.dynamics.engines.native import library
from prssm.foundation.errors import TrainingError

Sizes = tuple[int, int, int, int]  # states, inputs, outputs, neurons


def network_run(
    sizes: Sizes, theta: np.ndarray, u: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """States (T, Dx) and outputs (T, Dy) over inputs (T, Du); None where the run is lost."""
    x = np.empty((len(u), sizes[0]))
    y = np.empty((len(u), sizes[2]))
    stays = _call(library.loaded().prssm_network_run, (*sizes, len(u)), theta, u, x, y)
    return (x, y) if stays else None


def network_equations(
    sizes: Sizes, theta: np.ndarray, u: np.ndarray, y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """J'J, J'e and e'e; None where the run is lost."""
    square = np.empty((len(theta), len(theta)))
    slope = np.zeros(len(theta))
    error = np.zeros(1)
    call = library.loaded().prssm_network_equations
    stays = _call(call, (*sizes, len(u)), theta, u, y, square, slope, error)
    return (square, slope, float(error[0])) if stays else None


def damped_step(
    squares: np.ndarray, slopes: np.ndarray, shared: int, damping: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """What to subtract from shared parameters and from each record's own; None: nothing solves."""
    records, size = slopes.shape
    change = np.empty(shared)
    own = np.empty((records, size - shared))
    call = library.loaded().prssm_damped_step
    sizes = (records, size, shared)
    solved = _call(call, sizes, squares, slopes, np.array([damping]), change, own)
    return (change, own) if solved else None


def _call(function: Callable[..., int], sizes: Sequence[int], *arrays: np.ndarray) -> bool:
    """False where there is no result. The arrays that are written must be as they should lie."""
    given = [np.ascontiguousarray(part, np.float64) for part in arrays]
    failed = function(
        *(ctypes.c_int64(size) for size in sizes),
        *(ctypes.c_void_p(part.ctypes.data) for part in given),
    )
    if failed == 1:
        raise TrainingError("out of memory in the training of a network; try fewer neurons")
    return failed == 0
