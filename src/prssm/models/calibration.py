"""A band calibrated on errors that the model made where it was not trained.

A free run's variance s^2 becomes scale * s^2 + extra. The two numbers of each output maximise the Gaussian likelihood of
held-out errors, with a weak prior towards leaving the band as it is. `extra` stands for disturbances that no free run can
know; drawn trajectories show them with the correlation in time that the errors have.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import minimize

from prssm.models.initial_state import lag_one

_PRIOR_STD = 2.0  # of log scale
_LEAST_EXTRA = 1e-8  # in scaled units, where the search begins its logarithm


@dataclass(frozen=True, eq=False)
class Calibration:
    """Numbers of each output: (Dy,) arrays."""

    scale: np.ndarray
    extra: np.ndarray
    correlation: np.ndarray

    @classmethod
    def none(cls, outputs: int) -> Self:
        """Leaves every band as it is."""
        return cls(np.ones(outputs), np.zeros(outputs), np.zeros(outputs))

    @classmethod
    def fit(cls, errors: Sequence[np.ndarray], stds: Sequence[np.ndarray]) -> Self:
        """From held-out free runs: errors (rows, Dy), NaN where nothing was measured, and the bands' deviations there."""
        error, std = np.concatenate(errors), np.concatenate(stds)
        pairs = [_fit_one(error[:, d], std[:, d]) for d in range(error.shape[1])]
        scale, extra = np.array(pairs).T
        return cls(scale, extra, lag_one(errors))

    def std(self, std: np.ndarray) -> np.ndarray:
        return np.sqrt(self.scale * std**2 + self.extra)

    def samples(self, samples: np.ndarray, mean: np.ndarray, seed: int) -> np.ndarray:
        """Trajectories (S, T, Dy) with the calibrated spread around their mean."""
        noise = np.random.default_rng([seed, 1]).standard_normal(samples.shape)
        fresh = np.sqrt(1.0 - self.correlation**2)
        for t in range(1, samples.shape[1]):
            noise[:, t] = self.correlation * noise[:, t - 1] + fresh * noise[:, t]
        return mean + np.sqrt(self.scale) * (samples - mean) + np.sqrt(self.extra) * noise


def _fit_one(error: np.ndarray, std: np.ndarray) -> tuple[float, float]:
    there = ~np.isnan(error)
    error, variance = error[there], std[there] ** 2
    if not len(error):
        return 1.0, 0.0

    def loss(logs: np.ndarray) -> float:
        total = np.exp(logs[0]) * variance + np.exp(logs[1])
        return 0.5 * float(np.sum(np.log(total) + error**2 / total)) + 0.5 * (logs[0] / _PRIOR_STD) ** 2

    typical = max(float(np.mean(error**2)), _LEAST_EXTRA)
    bounds = [(-6.0, 6.0), (np.log(_LEAST_EXTRA), np.log(typical) + 3.0)]
    starts = [np.array([0.0, np.log(typical)]), np.array([0.0, np.log(0.01 * typical + _LEAST_EXTRA)])]
    best = min((minimize(loss, np.clip(start, *np.array(bounds).T), bounds=bounds) for start in starts), key=lambda r: r.fun)
    return float(np.exp(best.x[0])), float(np.exp(best.x[1]))
