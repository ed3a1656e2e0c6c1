"""A band calibrated on errors that the model made where it was not trained.

The deviation of every free run is multiplied by one factor for each output: that with which the
band would have held its share of the held-out errors. The shape of the band over time stays the
model's own, so that it is wide where the model knows little, and narrower for the final model,
which has seen more data than the models of the folds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from prssm.prediction.gaussian import half_width

_SHARES = (0.9, 0.95)  # bands whose factors are averaged; see docs/studies/accuracy.md for others
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
        """The calibration that held-out free runs ask for.

        Their errors are (rows, Dy), NaN where nothing was measured; with them come the bands'
        deviations.
        """
        ratios = np.abs(
            np.concatenate([error / std for error, std in zip(errors, stds, strict=True)])
        )
        return cls(np.array([_factor(ratio[~np.isnan(ratio)]) for ratio in ratios.T]))

    def std(self, std: np.ndarray) -> np.ndarray:
        return self.factor * std

    def samples(self, samples: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Trajectories (S, T, Dy) with the calibrated spread around their mean."""
        return mean + self.factor * (samples - mean)


def _factor(ratio: np.ndarray) -> float:
    """How many of its own deviations a band must have to hold its share of |error| / deviation."""
    if not len(ratio):
        return 1.0
    factors = [np.quantile(ratio, share, method="higher") / half_width(share) for share in _SHARES]
    return float(np.clip(np.exp(np.mean(np.log(np.maximum(factors, 1e-12)))), *_RANGE))
