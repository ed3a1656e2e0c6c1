"""Errors that are correlated in time: by how much."""

from collections.abc import Sequence

import numpy as np

_WHITE = 0.15  # correlation of neighbours below which errors count as independent


def lag_one(errors: Sequence[np.ndarray]) -> np.ndarray:
    """Correlation of neighbouring errors (rows, Dy) for each output, in [0, 0.999].

    Zero where there are no neighbours.
    """
    now = np.concatenate([error[:-1] for error in errors])
    later = np.concatenate([error[1:] for error in errors])
    both = np.isfinite(now) & np.isfinite(later)
    now = np.where(both, now, 0.0)
    later = np.where(both, later, 0.0)
    size = np.sqrt(np.sum(now**2, axis=0) * np.sum(later**2, axis=0))
    return np.clip(np.sum(now * later, axis=0) / np.where(size > 0.0, size, 1.0), 0.0, 0.999)


def independent_values(errors: Sequence[np.ndarray]) -> np.ndarray:
    """How many independent values of each output tell as much of a deviation as these errors.

    n (1 - c) / (1 + c) for n errors with the correlation c of neighbours.
    """
    correlation = lag_one(errors)
    known = np.sum([np.isfinite(error).sum(axis=0) for error in errors], axis=0)
    return known * (1.0 - correlation) / (1.0 + correlation)


def are_white(errors: Sequence[np.ndarray]) -> bool:
    """Whether errors (rows, Dy) are like noise of the sensors: neighbours hardly depend on another.

    In all outputs. Those of a run that is lost are not.
    """
    lost = any(np.isinf(error).any() for error in errors)
    return not lost and bool(np.all(lag_one(errors) < _WHITE))
