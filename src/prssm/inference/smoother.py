"""The Rauch-Tung-Striebel smoother: the state at every row, given the whole recording."""

from types import ModuleType

import numpy as np
from jaxtyping import Float

from prssm.inference.filtering import Filtered
from prssm.inference.gaussian import extended
from prssm.inference.state_space import Array, Belief, StateSpace, symmetric, windows

# Relative to the largest of a covariance: a direction below it is known exactly.
_KNOWN = 1e-13


def smooth(
    space: StateSpace, found: Filtered, u: Float[Array, "T Du"], rule: ModuleType = extended
) -> Belief:
    """Backwards from the last row:

    G = cov(x_t, x_{t+1}) P_{t+1|t}^-1,   m = m_t + G (m_{t+1} - m_{t+1|t}),
    P = P_t + G (P_{t+1} - P_{t+1|t}) G'.
    """
    mean, covariance = (np.array(part) for part in found.filtered)
    inputs = windows(u, space.lags)
    before = Belief(mean[:, :-1], covariance[:, :-1])
    ahead, cross = rule.predict_with_cross(space, before, inputs[: mean.shape[1] - 1])
    gain = cross @ np.linalg.pinv(ahead.covariance, rcond=_KNOWN, hermitian=True)
    turned = np.swapaxes(gain, -1, -2)
    for t in range(mean.shape[1] - 2, -1, -1):
        G = gain[:, t]
        change = mean[:, t + 1] - ahead.mean[:, t]
        mean[:, t] += (G @ change[..., None])[..., 0]
        spread = covariance[:, t + 1] - ahead.covariance[:, t]
        covariance[:, t] += G @ spread @ turned[:, t]
    return Belief(mean, symmetric(covariance))
