"""The extended Kalman filter: a Gaussian goes through a function as through its tangent.

On linear models it is the Kalman filter, exactly.
"""

import numpy as np
from jaxtyping import Bool, Float

from prssm.inference.gaussian.update import Predicted, Seen, condition
from prssm.inference.state_space import Array, Belief, StateSpace

__all__ = ["condition", "predict", "predict_output", "predict_with_cross", "update"]


def predict(space: StateSpace, belief: Belief, u: Float[Array, "B U"]) -> Belief:
    """The next state:  f(m),  A P A' + Q."""
    return predict_with_cross(space, belief, u)[0]


def predict_with_cross(
    space: StateSpace, belief: Belief, u: Float[Array, "B U"]
) -> tuple[Belief, Float[Array, "M B Dx Dx"]]:
    """The next state, and the covariance P A' of the present state with it."""
    mean, A, Q = space.step(belief.mean, u)
    cross = belief.covariance @ np.swapaxes(A, -1, -2)
    return Belief(mean, A @ cross + Q), cross


def predict_output(space: StateSpace, belief: Belief, u: Float[Array, "B U"]) -> Predicted:
    """The measurement:  g(m),  S = C P C' + R."""
    output, C, R = space.output(belief.mean, u)
    cross = belief.covariance @ np.swapaxes(C, -1, -2)
    return Predicted(output, C @ cross + R, cross)


def update(
    space: StateSpace,
    belief: Belief,
    u: Float[Array, "B U"],
    *,
    y: Float[Array, " Dy"],
    known: Bool[Array, " Dy"],
) -> tuple[Belief, Seen]:
    """The state given the channels of y that are known."""
    return condition(belief, predict_output(space, belief, u), y, known)
