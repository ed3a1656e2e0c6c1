"""The noises with which exported filters work, from what a fitted model knows of them."""

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
    factors: Any = None,
) -> list[FilterNoise]:
    """One for each member, from the trained noises: arrays lead with the members.

    `factors` are those that a fit found for its filters, if it did: sensor and coloured noise
    relative to `output_std` (M, Dy), the two poles of the latter, and process noise relative to
    `moved` (M, Dx, Dx) beside the trained covariance `process`. Without them noise is coloured
    where training has given it a correlation (M, Dy).
    """
    coloured = bool(np.any(correlation != 0.0))
    sensor_factor = getattr(factors, "sensor", 0.0 if coloured else 1.0)
    colour_factor = getattr(factors, "coloured", 1.0 if coloured else 0.0)
    memory = getattr(factors, "memory", None)
    second = getattr(factors, "second", 0.0)
    poles = correlation if memory is None else np.full_like(correlation, memory)
    order = 0 if colour_factor == 0.0 else 1 if second == 0.0 else 2
    extra = getattr(factors, "process", 0.0)
    return [
        FilterNoise(
            own_process + extra**2 * own_moved,
            (sensor_factor * std) ** 2 + LEAST_SENSOR_VAR,
            *_colour(colour_factor * std, pole, second, order=order),
        )
        for std, pole, own_process, own_moved in zip(output_std, poles, process, moved, strict=True)
    ]


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
