"""The unscented Kalman filter: a Gaussian goes through a function as a few points of equal moments.

It needs no Jacobian and sees the curvature; on linear models it is the Kalman filter, exactly.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from prssm.inference.gaussian.update import Predicted, Seen, condition
from prssm.inference.state_space import Array, Belief, Local, StateSpace, root, symmetric

__all__ = ["condition", "predict", "predict_output", "predict_with_cross", "update"]


def sigma_points(belief: Belief) -> tuple[Float[Array, "M B S Dx"], Float[Array, " S"]]:
    """Points with the belief's mean and covariance, and their weights; none is negative.

    The centre, and pairs at sqrt(n + kappa) deviations along each axis; kappa = 3 - n fits the
    fourth moment of a Gaussian where it is not negative.
    """
    n = belief.mean.shape[-1]
    kappa = max(3.0 - n, 0.0)
    reach = np.sqrt(n + kappa) * np.swapaxes(root(belief.covariance), -1, -2)
    centre = belief.mean[..., None, :]
    weight = np.full(2 * n + 1, 0.5 / (n + kappa)) if n else np.ones(1)
    weight[0] = kappa / (n + kappa) if n else 1.0
    return np.concatenate([centre, centre + reach, centre - reach], axis=-2), weight


def predict(space: StateSpace, belief: Belief, u: Float[Array, "B U"]) -> Belief:
    """The next state: the moments of f at the points, plus the mean of Q there."""
    return predict_with_cross(space, belief, u)[0]


def predict_with_cross(
    space: StateSpace, belief: Belief, u: Float[Array, "B U"]
) -> tuple[Belief, Float[Array, "M B Dx Dx"]]:
    """The next state, and the covariance of the present state with it."""
    points, weight = sigma_points(belief)
    value, noise = _through(space.step, points, u)
    mean = weight @ value
    deviation = value - mean[..., None, :]
    spread = _product(deviation, weight, deviation)
    spread = symmetric(spread + np.einsum("s,mbsij->mbij", weight, noise))
    return Belief(mean, spread), _product(points - belief.mean[..., None, :], weight, deviation)


def predict_output(space: StateSpace, belief: Belief, u: Float[Array, "B U"]) -> Predicted:
    """The measurement: the moments of g at the points, plus the mean of R there."""
    points, weight = sigma_points(belief)
    value, noise = _through(space.output, points, u)
    output = weight @ value
    deviation = value - output[..., None, :]
    S = _product(deviation, weight, deviation) + np.einsum("s,mbsij->mbij", weight, noise)
    cross = _product(points - belief.mean[..., None, :], weight, deviation)
    return Predicted(output, symmetric(S), cross)


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


def _through(
    function: Callable[[Array, Array], Local], points: Float[Array, "M B S Dx"], u: Array
) -> tuple[Array, Array]:
    """Values and noises of a model's function at all points, as one batch."""
    members, batch, count, states = points.shape
    flat = points.reshape(members, batch * count, states)
    value, _, noise = function(flat, np.repeat(u, count, axis=0))
    size = value.shape[-1]
    return (
        value.reshape(members, batch, count, size),
        np.broadcast_to(noise, (*flat.shape[:2], size, size)).reshape(
            members, batch, count, size, size
        ),
    )


def _product(left: Array, weight: Array, right: Array) -> Array:
    """sum_s w_s left_s right_s'."""
    return np.swapaxes(left, -1, -2) @ (weight[:, None] * right)
