"""Measures whether a band holds what it promises, at every nominal level."""

from collections.abc import Sequence

import numpy as np

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
