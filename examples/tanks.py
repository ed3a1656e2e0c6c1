"""Two simulated tanks as a plant to be controlled, and a model learnt from their log.

The examples beside this file share it.
"""

from functools import cache

import numpy as np

import prssm
from prssm.data.simulators.tanks import TanksParameters, rates

PUMP = (0.0, 6.0)  # volts that the pump takes
DT = 4.0  # seconds between two samples


class Tanks:
    """The true plant: `measure()`, then `apply(voltage)` for one sample; `level` is the truth."""

    def __init__(self, seed: int = 0, start: tuple[float, float] = (4.0, 4.0)) -> None:
        self._parameters = TanksParameters()
        self._levels = np.array(start)
        self._random = np.random.default_rng(seed)

    @property
    def level(self) -> float:
        """Of the lower tank, without the sensor's noise."""
        return float(self._levels[1])

    def measure(self) -> float:
        noise = self._parameters.output_std * self._random.standard_normal()
        return float(np.minimum(self.level + noise, self._parameters.sensor_limit))

    def apply(self, voltage: float) -> None:
        """Run for one sample, by the midpoint rule in steps of a second."""
        p = self._parameters
        pumped = voltage + p.process_std * self._random.standard_normal()
        for _ in range(int(DT)):
            half = self._levels + 0.5 * rates(p, self._levels, np.array(pumped))
            moved = self._levels + rates(p, np.clip(half, 0.0, p.height), np.array(pumped))
            self._levels = np.clip(moved, 0.0, p.height)


@cache
def learnt(quick: bool) -> prssm.PRSSM:
    """A model of the tanks from a log of an hour and more; `quick` takes a second, else a
    minute.
    """
    train, _ = prssm.datasets.load("tanks_sim")
    if quick:
        model = prssm.PRSSM(
            latent_dim=3, inducing=15, complexity="held", folds=0, restarts=2, iterations=300
        )
        return model.fit(train[:600])
    # no budget of time: the model is the same on a busy machine
    return prssm.PRSSM(
        latent_dim=4, complexity="held", restarts=4, iterations=1500, grow=False
    ).fit(train)


def staircase(steps: int, low: float, high: float, seed: int = 0) -> np.ndarray:
    """Levels to follow, a new one every fifty samples."""
    levels = np.random.default_rng(seed).uniform(low, high, steps // 50 + 1)
    return np.repeat(levels, 50)[:steps]
