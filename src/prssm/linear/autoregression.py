"""A linear model for predicting one row ahead: least squares on past outputs and inputs.

    y_t = sum_k A_k y_{t-k} + B_k u_{t-k} + e_t,    k = 1 .. lags

A model of free runs must explain a disturbance by its inputs or not at all. This one takes the last
outputs as they are, so that a disturbance goes on through the system's own dynamics.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from prssm.data.lag_windows import choose_lags, regression
from prssm.data.record import Record
from prssm.linear.system import LinearSystem, stabilised

_RIDGE = 1e-8  # relative to unit variance: an input that never moves keeps a regular problem


@dataclass(frozen=True, eq=False)
class Autoregression:
    """The fitted model as a linear system in observer form, and the deviation of its errors.

    The first Dy states are the outputs, and only they are disturbed: e_t is process noise there.
    """

    system: LinearSystem
    std: np.ndarray
    lags: int

    @classmethod
    def fit(cls, records: Sequence[Record], most_lags: int) -> Self:
        """The lags are chosen by Schwarz' criterion, at most so many; records are scaled."""
        lags = min(choose_lags(records), most_lags)
        data = regression(records, lags)
        rows, width = data.x.shape
        normal = data.x.T @ data.x + _RIDGE * rows * np.eye(width)
        coefficients = np.linalg.solve(normal, data.x.T @ data.y)
        errors = data.y - data.x @ coefficients
        std = np.sqrt(np.sum(errors**2, axis=0) / max(rows - width, 1))
        outputs = data.y.shape[1]
        past = coefficients[: lags * outputs].reshape(lags, outputs, outputs)
        driven = coefficients[lags * outputs :].reshape(lags, -1, outputs)
        return cls(_system(np.swapaxes(past, 1, 2), np.swapaxes(driven, 1, 2)), std, lags)


def _system(past: np.ndarray, driven: np.ndarray) -> LinearSystem:
    """In observer form, from coefficients (lags, Dy, Dy) and (lags, Dy, Du).

    The first is the output itself; x_k' = x_{k+1} + A_k y + B_k u hands the past on to it.
    """
    lags, outputs, inputs = driven.shape
    size = lags * outputs
    A = np.eye(size, k=outputs)
    A[:, :outputs] += past.reshape(size, outputs)
    return LinearSystem(
        stabilised(A),  # a forecast must not grow without end
        driven.reshape(size, inputs),
        np.eye(outputs, size),
        D=np.zeros((outputs, inputs)),
        offset=np.zeros(outputs),
    )
