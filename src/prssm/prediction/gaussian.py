"""The Gaussian bell, as far as bands and scores need it.

SciPy's distributions can do the same, but importing them takes longer than a simulation.
"""

from statistics import NormalDist

import numpy as np

_STANDARD = NormalDist()
_LOG_NORMALISER = 0.5 * np.log(2.0 * np.pi)


def half_width(level: float) -> float:
    """How many deviations to each side the central interval with this probability reaches."""
    return _STANDARD.inv_cdf(0.5 + 0.5 * level)


def student_factor(values: np.ndarray, level: float = 0.95) -> np.ndarray:
    """By how much a band is wider whose deviation was estimated from so many independent values.

    It is Student's interval beside the normal one; of fewer than two values nothing can be said,
    and they count as two.
    """
    from scipy.special import stdtrit

    return stdtrit(np.maximum(values, 2.0), 0.5 + 0.5 * level) / half_width(level)


def log_density(z: np.ndarray) -> np.ndarray:
    """Logarithm of the standard bell's density."""
    return -0.5 * z**2 - _LOG_NORMALISER
