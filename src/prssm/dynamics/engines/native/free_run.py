"""Free runs of one PR-SSM in the native library, without JAX.

Nothing is compiled for a new length.
"""

import ctypes

import numpy as np

from prssm.dynamics.engines.native import library
from prssm.dynamics.engines.native.trainer import Offsets, Sizes
from prssm.foundation.errors import TrainingError


def free_run(
    sizes: Sizes,
    offsets: Offsets,
    theta: np.ndarray,
    *,
    u: np.ndarray,
    x1: np.ndarray,
    eps: np.ndarray,
    noise: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """States (T, Dx, B) and noise-free outputs (T, Dy, B) from first states x1 (Dx, B).

    In the precision of `eps`, which is (T, Dx, B); `u` is (T, Du). `noise` (Dx, P, B) draws a
    function for each trajectory where it keeps one.
    """
    kind = eps.dtype
    states = np.empty(eps.shape, kind)
    outputs = np.empty((len(eps), sizes.dy, eps.shape[2]), kind)
    rows = [np.ascontiguousarray(part, np.float64) for part in (theta, u)]
    trajectories = [np.ascontiguousarray(part, kind) for part in (x1, eps)]
    drawn = None if noise is None else np.ascontiguousarray(noise, kind)
    failed = library.loaded().prssm_free_run(
        ctypes.byref(sizes),
        ctypes.byref(offsets),
        *(ctypes.c_void_p(part.ctypes.data) for part in (*rows, *trajectories)),
        ctypes.c_void_p(None if drawn is None else drawn.ctypes.data),
        *(ctypes.c_void_p(part.ctypes.data) for part in (states, outputs)),
        ctypes.c_int64(kind == np.float32),
    )
    if failed == 1:
        raise TrainingError("out of memory in a free run; try fewer samples")
    if failed == 2:  # the covariance of the inducing points is broken: so is all that follows
        states.fill(np.nan)
        outputs.fill(np.nan)
    return states, outputs
