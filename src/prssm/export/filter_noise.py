"""The noises with which exported filters work, from what a fitted model knows of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from prssm.export.description import FilterNoise

LEAST_SENSOR_VAR = 1e-12  # scaled; keeps the filter of a noise-free sensor regular


def filter_noises(
    output_std: np.ndarray,
    correlation: np.ndarray,
    *,
    process: np.ndarray,
    moved: np.ndarray,
    factors: Sequence[Any],
) -> list[FilterNoise]:
    """One for each member, from the trained noises: arrays lead with the members.

    `factors` are those of each member's filter: sensor and coloured noise relative to `output_std`
    (M, Dy), the two poles of the latter (a memory of None is the trained `correlation` (M, Dy)),
    and process noise relative to `moved` (M, Dx, Dx) beside the trained covariance `process`.
    """
    coloured = any(one.coloured != 0.0 for one in factors)
    two_poles = any(one.second != 0.0 for one in factors)
    order = 0 if not coloured else 2 if two_poles else 1  # of all: their states are alike
    found = []
    for index, one in enumerate(factors):
        std = output_std[index]
        trained = correlation[index]
        memory = trained if one.memory is None else np.full_like(trained, one.memory)
        found.append(
            FilterNoise(
                process[index] + one.process**2 * moved[index],
                (one.sensor * std) ** 2 + LEAST_SENSOR_VAR,
                *_colour(one.coloured * std, memory, one.second, order=order),
            )
        )
    return found


def _colour(
    std: np.ndarray, memory: np.ndarray, second: float, *, order: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Step, noise and first covariance of d_t = (p + q) d_{t-1} - p q d_{t-2} + noise.

    The states are d_t and, with two poles, d_{t-1}; the variance of d_t stays std^2.
    """
    a = memory + second
    b = -memory * second
    variance = std**2
    correlation = a / (1.0 - b)  # of neighbours
    fresh = variance * (1.0 - a * correlation - b * (a * correlation + b))
    blank = np.zeros((len(std), len(std)))
    if order == 0:
        none = np.zeros((0, 0))
        return none, none, none
    if order == 1:
        return np.diag(a), np.diag(fresh), np.diag(variance)
    beside = np.diag(variance * correlation)
    return (
        np.block([[np.diag(a), np.diag(b)], [np.eye(len(std)), blank]]),
        np.block([[np.diag(fresh), blank], [blank, blank]]),
        np.block([[np.diag(variance), beside], [beside, np.diag(variance)]]),
    )
