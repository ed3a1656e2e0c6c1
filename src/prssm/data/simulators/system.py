"""What every simulated system is.

Parameters that are checked, and a function that runs experiments.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from prssm.data.record import Record
from prssm.foundation.options import Options


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One simulated experiment with its truth.

    The record as a sensor saw it, and the states (T, Dx) behind it.
    """

    record: Record
    states: np.ndarray


@dataclass(frozen=True)
class System:
    """A physical system.

    `run(parameters, length, generators)` gives one Trajectory for each random generator.

    Experiments that share a call to `run` may be computed together (`batch` at most), but each
    depends on its own generator alone.
    """

    name: str
    title: str
    Parameters: type[Options]
    run: Callable[[Any, int, Sequence[np.random.Generator]], list[Trajectory]]
    batch: int = 1


def random_levels(
    length: int, low: float, high: float, hold: int, rng: np.random.Generator
) -> np.ndarray:
    """A staircase of levels that are uniform in [low, high].

    Each is held for one to four times `hold` samples.
    """
    durations = hold * rng.integers(1, 5, size=length // hold + 1)
    return np.repeat(rng.uniform(low, high, size=len(durations)), durations)[:length]


def integrate(
    slope: Callable, x: np.ndarray, u: np.ndarray, dt: float, finer: int = 4
) -> np.ndarray:
    """States (T, Dx) at the rows of inputs that are held between them.

    By the Runge-Kutta method of fourth order.
    """
    states = [np.asarray(x, float)]
    for value in u[:-1]:
        x = states[-1]
        h = dt / finer
        for _ in range(finer):
            a = slope(x, value)
            b = slope(x + 0.5 * h * a, value)
            c = slope(x + 0.5 * h * b, value)
            x = x + h / 6.0 * (a + 2.0 * b + 2.0 * c + slope(x + h * c, value))
        states.append(x)
    return np.array(states)
