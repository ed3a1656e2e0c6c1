"""The kernels that targets know: the correlation at a squared scaled distance, in NumPy.

The same functions as in `gp/kernels.py`; a test compares them. A new kernel is a line here and one
in each target.
"""

from collections.abc import Callable

import numpy as np


def _squared_exponential(squared: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * squared)


def _matern32(squared: np.ndarray) -> np.ndarray:
    r = np.sqrt(3.0 * squared)
    return (1.0 + r) * np.exp(-r)


def _matern52(squared: np.ndarray) -> np.ndarray:
    r = np.sqrt(5.0 * squared)
    return (1.0 + r + r**2 / 3.0) * np.exp(-r)


PROFILES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "squared-exponential": _squared_exponential,
    "matern32": _matern32,
    "matern52": _matern52,
}


def _squared_exponential_slope(squared: np.ndarray) -> np.ndarray:
    return -0.5 * np.exp(-0.5 * squared)


def _matern32_slope(squared: np.ndarray) -> np.ndarray:
    return -1.5 * np.exp(-np.sqrt(3.0 * squared))


def _matern52_slope(squared: np.ndarray) -> np.ndarray:
    r = np.sqrt(5.0 * squared)
    return -5.0 / 6.0 * (1.0 + r) * np.exp(-r)


# Their derivatives by the squared distance.
SLOPES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "squared-exponential": _squared_exponential_slope,
    "matern32": _matern32_slope,
    "matern52": _matern52_slope,
}
