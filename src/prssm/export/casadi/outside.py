"""How far a step is outside of the training data, in CasADi: `export/description.py`."""

from typing import Any

import casadi
import numpy as np

from prssm.prediction.seen import AWAY, Seen
from prssm.prediction.widening import FADES, MOST, WIDER

Expression = Any  # constants and symbols of CasADi, which mix
_SMALL = 1e-30  # under a root, so that its slope is finite at a point of the cloud


def distance(
    seen: Seen, path: Expression, u: Expression, *, mean: Expression, before: Expression
) -> Expression:
    """From scaled path, inputs and mean outputs, columns each, and what it was `before`."""
    far = casadi.fmax(_beyond(mean, seen.output_limits), _beyond(u, seen.input_limits))
    if seen.axes.shape[1]:
        far = casadi.fmax(far, _from_cloud(seen, casadi.vertcat(path, u)))
    return casadi.fmax(casadi.fmin(far, MOST), FADES * before)


def widened(far: Expression) -> Expression:
    """The factor of the band."""
    return 1.0 + WIDER * far


def _from_cloud(seen: Seen, xu: Expression) -> Expression:
    """Beyond its limit, from the nearest point that training has shown."""
    at: Expression = casadi.mtimes(casadi.DM(seen.axes.T), _tamed(xu) - casadi.DM(seen.centre))
    apart = casadi.DM(seen.points.T) - casadi.repmat(at, 1, len(seen.points))
    squares = casadi.sum1(apart**2)
    while squares.shape[1] > 1:  # by halves: CasADi cannot differentiate its own minimum
        half = squares.shape[1] // 2
        less = casadi.fmin(squares[:, :half], squares[:, half : 2 * half])
        squares = casadi.horzcat(less, squares[:, 2 * half :])
    return casadi.sqrt(squares + _SMALL) - float(seen.limit)


def _beyond(values: Expression, limits: np.ndarray) -> Expression:
    """By how much the worst of some values is beyond its limits; 0 where none is."""
    most: Expression = 0.0
    for at in range(values.shape[0]):
        value = _tamed(values[at])
        most = casadi.fmax(most, float(limits[0, at]) - value)
        most = casadi.fmax(most, value - float(limits[1, at]))
    return most


def _tamed(values: Expression) -> Expression:
    """What is too large to be squared is far away."""
    return casadi.fmax(casadi.fmin(values, AWAY), -AWAY)
