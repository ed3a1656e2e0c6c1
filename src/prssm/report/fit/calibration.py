"""Measures whether a band holds what it promises, at every nominal level."""

from collections.abc import Sequence

import numpy as np

from prssm.prediction.correlation import independent_values
from prssm.prediction.gaussian import half_width
from prssm.prediction.prediction import Prediction

LEVELS = np.linspace(0.02, 0.98, 49)


def coverage_curve(predictions: Sequence[Prediction], levels: np.ndarray = LEVELS) -> np.ndarray:
    """Share of the measured values inside the central Gaussian band of each level.

    All steps and outputs count alike.
    """
    errors = np.concatenate(
        [(p.measured - p.mean).ravel() for p in predictions if p.measured is not None]
    )
    spreads = np.concatenate(
        [np.asarray(p.std).ravel() for p in predictions if p.measured is not None]
    )
    known = np.isfinite(errors)
    z = np.sort(np.abs(errors[known]) / spreads[known])
    reach = [half_width(level) for level in levels]
    return np.searchsorted(z, reach, side="right") / max(len(z), 1)


def independent_errors(predictions: Sequence[Prediction]) -> float:
    """How many independent errors tell as much as those of some runs, which follow each other.

    Outputs are counted one by one and added, as coverage counts them; infinite without runs.
    """
    errors = [p.measured - p.mean for p in predictions if p.measured is not None]
    return max(float(independent_values(errors).sum()), 1.0) if errors else np.inf


def chance_of_holding(share: float, level: float, independent: float) -> float:
    """How likely a band that is right holds at least this share of so many independent errors.

    The tail of a binomial distribution, as the incomplete beta function for any real number.
    """
    from scipy.special import betainc

    if not np.isfinite(independent):
        return 1.0 if share <= level else 0.0
    held = share * independent
    return float(betainc(held, independent - held + 1.0, level)) if held > 0.0 else 1.0
