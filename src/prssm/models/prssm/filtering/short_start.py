"""The first state from fewer samples than the recognition model reads.

It is the most likely one given what was measured of the first rows. With m the state that the
recognition model would see if the last sample stayed, S the covariance of the states in training
and yhat the outputs of the mean dynamics,

    (x_1 - m)' S^-1 (x_1 - m) + sum_r |y_r - yhat_r(x_1)|^2 / sensor noise^2   is least.

S knows which states go together: a few rows then tell of all of them. Rows between two steps of a
model at a slow rate lie on the line between them, and tell how fast the output moves. A sensor is
taken for no worse than held-out errors say: training may leave its noise far too large.
Gauss-Newton steps from many places find the state; the curvature there says how well it is known.
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
    space: PRSSMSpace,
    u: Float[Array, "T Du"],
    y: Float[Array, "R Dy"],
    *,
    stride: int,
    usual: Firsts | None = None,
    noise: Float[Array, " Dy"] | float = 1.0,
) -> Firsts | None:
    """From outputs of the first rows, and inputs of the model's steps; None where y is empty.

    `space` is the model with the noises of free runs and without colour. `usual` are the states
    that training has shown; N(0, I), the prior of training, where that is not known. `noise` is
    the sensors' relative to the trained one.
    """
    if not len(y) or np.isnan(y).all():
        return None
    usual = usual or Firsts.apart(space.first().mean[:, 0], np.zeros((space.members, space.shown)))
    steps = min(len(u), -(-(len(y) - 1) // stride) + 1)
    held = _held(space, u, y[::stride])
    problem = _Problem(
        space,
        u[:steps],
        y,
        stride=stride,
        prior=Firsts(held[:, 0], usual.factor),
        noise=noise * np.exp(space.models.log_output_std),
    )
    places = np.concatenate([space.first().mean, held, sigma_points(usual)], axis=1)
    x, local = least(problem.at, places, shorter=_SHORTER, tries=_TRIES)
    best = local.cost.argmin(axis=1)
    members = np.arange(space.members)
    spread = np.linalg.inv(local.curvature[members, best])
    return Firsts(x[members, best], np.linalg.cholesky(spread))


def sigma_points(around: Firsts) -> Float[Array, "M B Dx"]:
    """The mean, and one deviation to either side of it along each column of the factor."""
    columns = np.swapaxes(_matrix(around.factor), 1, 2)
    mean = around.mean[:, None]
    return np.concatenate([mean, mean + columns, mean - columns], axis=1)


def _matrix(factor: Float[Array, "M Dx Dx"] | Float[Array, "M Dx"]) -> Float[Array, "M Dx Dx"]:
    """A factor as a matrix, of independent states too."""
    return factor[:, :, None] * np.eye(factor.shape[1]) if factor.ndim == 2 else factor


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
        self,
        space: PRSSMSpace,
        u: Array,
        y: Array,
        *,
        stride: int,
        prior: Firsts,
        noise: Float[Array, "M Dy"],
    ) -> None:
        self.space = space
        self.centre = prior.mean[:, None]
        inverse = np.linalg.inv(_matrix(prior.factor))
        self.precision = np.swapaxes(inverse, 1, 2) @ inverse
        self.u = u
        self.y = y
        self.stride = stride
        self.weight = noise[:, None] ** -2.0  # (M, 1, Dy)

    def at(self, x: Float[Array, "M B Dx"]) -> Local:
        away = x - self.centre
        slope = away @ self.precision
        cost = np.sum(away * slope, axis=2)
        curvature = np.repeat(self.precision[:, None], x.shape[1], axis=1)
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
