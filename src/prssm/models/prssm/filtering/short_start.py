"""The first state from fewer samples than the recognition model reads.

It is the most likely one given what was measured of the first rows. With m the state that the
recognition model would see if the last sample stayed, and yhat the outputs of the mean dynamics,

    |x_1 - m|^2 + sum_r |y_r - yhat_r(x_1)|^2 / sensor noise^2   is least:

a prior as wide as that of training, but around m. Rows between two steps of a model at a slow rate
lie on the line between them, and tell how fast the output moves. Gauss-Newton steps from two places
find it; the curvature there says how well it is known.
"""

from typing import NamedTuple, Self

import numpy as np
from jaxtyping import Float

from prssm.inference.state_space import Array
from prssm.models.prssm.filtering.gauss_newton import Local, least
from prssm.models.prssm.filtering.space import PRSSMSpace

_SHORTER = 0.3  # times a step of Gauss-Newton, where a whole one does not help
_TRIES = 5
_FAR = 1e6  # a run that goes beyond it is lost


class Firsts(NamedTuple):
    """The first state of every member: its mean, and a factor F of its covariance F F'.

    Where the states are independent, the factor is the vector of their deviations.
    """

    mean: Float[Array, "M Dx"]
    factor: Float[Array, "M Dx Dx"] | Float[Array, "M Dx"]

    @classmethod
    def apart(cls, mean: Float[Array, "M Dx"], log_std: Float[Array, "M Dx"]) -> Self:
        """Of independent states."""
        return cls(mean, np.exp(log_std))


def spread_of(
    factor: Float[Array, "Dx Dx"] | Float[Array, " Dx"], drawn: Float[Array, "Dx S"]
) -> Float[Array, "Dx S"]:
    """Deviations from the mean, of standard normal numbers."""
    return factor[:, None] * drawn if factor.ndim == 1 else factor @ drawn


def short_start(
    space: PRSSMSpace, u: Float[Array, "T Du"], y: Float[Array, "R Dy"], stride: int
) -> Firsts | None:
    """From outputs of the first rows, and inputs of the model's steps; None where y is empty.

    `space` is the model with the noises of free runs and without colour.
    """
    if not len(y) or np.isnan(y).all():
        return None
    steps = min(len(u), -(-(len(y) - 1) // stride) + 1)
    held = _held(space, u, y[::stride])
    problem = _Problem(space, u[:steps], y, stride=stride, centre=held)
    x = np.concatenate([space.first().mean, held], axis=1)
    x, local = least(problem.at, x, shorter=_SHORTER, tries=_TRIES)
    best = local.cost.argmin(axis=1)
    members = np.arange(space.members)
    spread = np.linalg.inv(local.curvature[members, best])
    return Firsts(x[members, best], np.linalg.cholesky(spread))


def _held(space: PRSSMSpace, u: Array, y: Array) -> Float[Array, "M 1 Dx"]:
    """What the recognition model would say if the last sample stayed."""
    window = space.window
    rows = len(y)
    lacking = ((0, max(0, window - rows)), (0, 0))
    samples = (np.pad(part[:rows], lacking, mode="edge")[:window] for part in (u, y))
    found = space.recognised(*samples) if window > 1 else None
    return space.first().mean if found is None else found[1].mean


class _Problem:
    """The cost at some first states (M, B, Dx), half its gradient, and half its curvature."""

    def __init__(
        self, space: PRSSMSpace, u: Array, y: Array, *, stride: int, centre: Array
    ) -> None:
        self.space = space
        self.centre = centre
        self.u = u
        self.y = y
        self.stride = stride
        self.weight = np.exp(-2.0 * space.models.log_output_std)[:, None]  # (M, 1, Dy)

    def at(self, x: Float[Array, "M B Dx"]) -> Local:
        members, batch, states = x.shape
        slope = x - self.centre
        cost = np.sum(slope**2, axis=2)
        curvature = np.broadcast_to(np.eye(states), (members, batch, states, states)).copy()
        values, responses = self._run(x)
        for row, measured in enumerate(self.y):
            known = ~np.isnan(measured)
            step, rest = divmod(row, self.stride)
            share = rest / self.stride
            after = min(step + 1, len(values) - 1)
            output = (1.0 - share) * values[step] + share * values[after]
            response = (1.0 - share) * responses[step] + share * responses[after]
            error = np.where(known, output - np.where(known, measured, 0.0), 0.0)
            weight = self.weight * known
            cost = cost + np.sum(weight * error**2, axis=2)
            turned = np.swapaxes(response, 2, 3)
            slope += (turned @ (weight * error)[..., None])[..., 0]
            curvature += turned @ (weight[..., None] * response)
        return Local(np.where(np.isfinite(cost), cost, np.inf), slope, curvature)

    def _run(self, x: Array) -> tuple[list[Array], list[Array]]:
        """Outputs of each step (M, B, Dy), and their derivatives by the first state."""
        states = x.shape[2]
        total = np.broadcast_to(np.eye(states), (*x.shape[:2], states, states))
        values = []
        responses = []
        for now in self.u:
            inputs = np.repeat(now[None], x.shape[1], axis=0)
            seen = self.space.output(x, inputs)
            values.append(seen.value)
            responses.append(seen.jacobian[..., :states] @ total)
            moved = self.space.step(x, inputs)
            x = np.clip(moved.value, -_FAR, _FAR)
            total = moved.jacobian @ total
        return values, responses
