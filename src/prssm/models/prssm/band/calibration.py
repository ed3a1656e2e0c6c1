"""A band calibrated on errors that the model made where it was not trained.

The deviation of every free run is multiplied by one factor for each output: that with which the
band would have held its share of the errors of all held-out stretches. The shape of the band
over time stays the model's own, so that it is wide where the model knows little, and narrower for
the final model, which has seen more data than the models of the folds.

These err more than the final one, which errs less where it was trained: `toward` goes some of the
way from the former to the latter, and adds a little for data that are new to all of them; `for_few`
adds more where little was held out. Outside
of what was seen `prediction/widening.py` makes the band wider still. White errors of a linear model
have a rule of their own, `of_white`. What was tried is in
docs/explanation/calibration.md.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from prssm.prediction.gaussian import half_width

_SHARES = (0.9, 0.95)  # bands whose factors are averaged; see docs/studies/accuracy.md
_NEW = 1.05  # times that a band must be wider on data that are new to all models
_NEW_TO_WHITE = 1.08  # the same where errors are white
_FEW = 30.0  # held-out errors with which a band is twice as wide as they ask for
_FEWEST = 16  # fewer count as so many
_WORST = 3.0  # times the factor of the typical stretch, that any stretch asks for at most
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
        deviations. All stretches count. One that asks for far more than the typical one is taken to
        ask for less: a stretch on which a model of the folds was lost says little of the final one.
        """
        ratios = [np.abs(error / std) for error, std in zip(errors, stds, strict=True)]
        columns = zip(*(ratio.T for ratio in ratios), strict=True)
        return cls(np.array([_of_stretches(list(column)) for column in columns]))

    @classmethod
    def of_white(cls, errors: Sequence[np.ndarray], stds: Sequence[np.ndarray]) -> Self:
        """The same where errors are as independent as a sensor's noise: as large as they are.

        Their mean square then says more than a few of the largest do.
        """
        squares = np.square(np.concatenate(errors) / np.concatenate(stds))
        known = np.sum(~np.isnan(squares), axis=0)
        mean = np.nansum(squares, axis=0) / np.maximum(known, 1)
        factor = np.clip(_NEW_TO_WHITE * np.sqrt(mean), *_RANGE)
        return cls(np.where(known > 0, factor, 1.0))

    def toward(self, seen: Self, share: float) -> Self:
        """This share of the way to the factors that are right where the final model was trained.

        In the logarithm. A little wider than that, since new data differ from all stretches of
        these.
        """
        return type(self)(_NEW * self.factor ** (1.0 - share) * seen.factor**share)

    def for_few(self, errors: Sequence[np.ndarray]) -> Self:
        """Wider where it rests on few errors (rows, Dy), which show little of what may come.

        By 56 % with 40 of an output, by 6 % with 120 (docs/explanation/calibration.md, few rows).
        """
        known = np.sum([np.sum(~np.isnan(error), axis=0) for error in errors], axis=0)
        wider = 1.0 + (_FEW / np.maximum(known, _FEWEST)) ** 2
        return type(self)(self.factor * np.where(known > 0, wider, 1.0))

    def at_least(self, least: Self) -> Self:
        """Nowhere narrower than the other."""
        return type(self)(np.maximum(self.factor, least.factor))


def _of_stretches(ratios: list[np.ndarray]) -> float:
    """The factor of one output from |error| / deviation in each stretch; 1 if nothing was measured.

    NaN is what was not measured.
    """
    farthest = _RANGE[1] * half_width(_SHARES[-1])  # that makes any difference
    known = [np.minimum(ratio[~np.isnan(ratio)], farthest) for ratio in ratios]
    known = [ratio for ratio in known if len(ratio)]
    if not known:
        return 1.0
    factors = [_factor(ratio) for ratio in known]
    most = _WORST * float(np.median(factors))
    milder = [ratio * min(1.0, most / factor) for ratio, factor in zip(known, factors, strict=True)]
    return _factor(np.concatenate(milder))


def _factor(ratio: np.ndarray) -> float:
    """How many of its own deviations a band must have to hold its share of |error| / deviation."""
    factors = [np.quantile(ratio, share, method="higher") / half_width(share) for share in _SHARES]
    return float(np.clip(np.exp(np.mean(np.log(np.maximum(factors, 1e-12)))), *_RANGE))
