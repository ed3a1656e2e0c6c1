"""Random numbers for trajectories that come in pairs, each the mirror image of the other.

What is linear in the numbers cancels in the mean over a pair. So the mean of a free run is exact
for a linear model, and for others as exact as that of many more trajectories drawn one by one.
"""

import numpy as np


def paired_normal(
    rng: np.random.Generator, shape: tuple[int, ...], kind: type = np.float64
) -> np.ndarray:
    """Standard normal numbers; along the last axis the second half is minus the first.

    Of an odd number of trajectories the one in the middle has no partner.
    """
    count = shape[-1]
    half = rng.standard_normal((*shape[:-1], count - count // 2), kind)
    return np.concatenate([half, -half[..., : count // 2]], axis=-1)
