"""A band calibrated on errors that the model made where it was not trained.

The deviation of every free run is multiplied by one factor for each output: that with which the band would have held its
share of the held-out errors. The shape of the band over time stays the model's own, so that it is wide where the model
knows little, and narrower for the final model, which has seen more data than the models of the folds.

Errors of free runs are correlated in time: some hundreds of them may be worth no more than five independent ones, from
which no deviation can be told well. So the factor is that of Student's distribution with so many degrees of freedom.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.stats import norm, t

from prssm.models.correlation import independent_looks

_SHARES = (0.5, 0.7, 0.9)  # bands whose factors are averaged. The largest errors come from stretches whose like a fold's
# model has never seen; they would make a band that is far too wide for the final model, which has.
_BAND = 0.975  # quantile at which Student's distribution and the normal one are compared
_FEWEST_LOOKS = 2.0
_RANGE = (0.5, 20.0)  # a factor beyond is a sign of broken folds rather than of a broken band


@dataclass(frozen=True, eq=False)
class Calibration:
    """One factor for each output, (Dy,)."""

    factor: np.ndarray

    @classmethod
    def none(cls, outputs: int) -> Self:
        """Leaves every band as it is."""
        return cls(np.ones(outputs))

    @classmethod
    def fit(cls, errors: Sequence[np.ndarray], stds: Sequence[np.ndarray]) -> Self:
        """From held-out free runs: errors (rows, Dy), NaN where nothing was measured, and the bands' deviations there."""
        relative = [error / std for error, std in zip(errors, stds, strict=True)]
        looks = independent_looks(relative)
        columns = np.abs(np.concatenate(relative)).T
        return cls(np.array([_factor(column[~np.isnan(column)], n) for column, n in zip(columns, looks, strict=True)]))

    def std(self, std: np.ndarray) -> np.ndarray:
        return self.factor * std

    def samples(self, samples: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Trajectories (S, T, Dy) with the calibrated spread around their mean."""
        return mean + self.factor * (samples - mean)


def _factor(ratio: np.ndarray, looks: float) -> float:
    """How many of its own deviations a band must have to hold its share of |error| / deviation, given that these are worth
    `looks` independent ones."""
    if not len(ratio):
        return 1.0
    factors = [np.quantile(ratio, share, method="higher") / norm.ppf(0.5 + 0.5 * share) for share in _SHARES]
    known = np.exp(np.mean(np.log(np.maximum(factors, 1e-12))))
    return float(np.clip(known * t.ppf(_BAND, max(looks, _FEWEST_LOOKS)) / norm.ppf(_BAND), *_RANGE))
