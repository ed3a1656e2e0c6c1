"""A band calibrated on errors that the model made where it was not trained.

The deviation of every free run is multiplied by one factor for each output: that with which the
band would have held its share of the errors of a typical held-out stretch. The shape of the band
over time stays the model's own, so that it is wide where the model knows little, and narrower for
the final model, which has seen more data than the models of the folds.

These err more than the final one, which errs less where it was trained: `toward` goes some of the
way from the former to the latter, and adds a little for data that are new to all of them. Outside
of what was seen `prediction/widening.py` makes the band wider still. What was tried is in
docs/explanation/calibration.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from prssm.prediction.gaussian import half_width

_SHARES = (0.9, 0.95)  # bands whose factors are averaged; see docs/studies/accuracy.md
_SEEN = 0.2  # share of the final model's errors where it was trained, in the logarithm
_NEW = 1.15  # times that a band must be wider on data that are new to all models
_RANGE = (0.05, 20.0)  # a factor beyond is a sign of broken folds rather than of a broken band


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
        deviations. Of the stretches' factors the median counts: one stretch on which a model of
        the folds was lost says little of the final one.
        """
        ratios = [np.abs(error / std) for error, std in zip(errors, stds, strict=True)]
        each = [[_factor(column[~np.isnan(column)]) for column in one.T] for one in ratios]
        known = ~np.all(np.isnan(each), axis=0)
        factor = np.ones(len(known))
        factor[known] = np.nanmedian(np.asarray(each)[:, known], axis=0)
        return cls(factor)

    def toward(self, seen: Self) -> Self:
        """Some of the way to the factors that are right where the final model was trained.

        A little wider than that, since new data differ from all stretches of these.
        """
        return type(self)(_NEW * self.factor ** (1.0 - _SEEN) * seen.factor**_SEEN)

    def std(self, std: np.ndarray) -> np.ndarray:
        return self.factor * std

    def samples(self, samples: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Trajectories (S, T, Dy) with the calibrated spread around their mean."""
        return mean + self.factor * (samples - mean)


def _factor(ratio: np.ndarray) -> float:
    """How many of its own deviations a band must have to hold its share of |error| / deviation.

    NaN where nothing was measured.
    """
    if not len(ratio):
        return np.nan
    factors = [np.quantile(ratio, share, method="higher") / half_width(share) for share in _SHARES]
    return float(np.clip(np.exp(np.mean(np.log(np.maximum(factors, 1e-12)))), *_RANGE))
