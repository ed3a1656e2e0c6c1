"""Signals that make a system move: levels, switches, noise and sums of sines.

Each is a function of a random generator and a number of rows; a new one is a function here and, for
random systems to use it, a line in `EXCITATIONS`.
"""

from collections.abc import Callable

import numpy as np


def steps(
    rng: np.random.Generator, rows: int, hold: int, low: float = -1.0, high: float = 1.0
) -> np.ndarray:
    """Levels that change at random times, `hold` rows apart at most."""
    return np.repeat(rng.uniform(low, high, rows), rng.integers(1, hold + 1, rows))[:rows]


def smooth(rng: np.random.Generator, rows: int, corner: float) -> np.ndarray:
    """Noise of unit deviation up to a corner, in parts of the sampling rate."""
    from scipy.signal import butter, sosfilt

    noise = sosfilt(butter(4, 2.0 * corner, output="sos"), rng.normal(size=rows + 1000))[1000:]
    return noise / noise.std()


def on_off(rng: np.random.Generator, rows: int, hold: int) -> np.ndarray:
    """A switch between -1 and 1 at random times, `hold` rows apart at most."""
    lengths = rng.integers(1, hold + 1, rows)
    return np.repeat(np.resize([-1.0, 1.0], rows), lengths)[:rows]


def sines(rng: np.random.Generator, rows: int, corner: float, count: int = 8) -> np.ndarray:
    """A sum of sines with random phases up to a corner, of unit deviation."""
    frequency = rng.uniform(0.1 * corner, corner, count)
    phase = rng.uniform(0.0, 2.0 * np.pi, count)
    time = np.arange(rows)[:, None]
    return np.sqrt(2.0 / count) * np.sin(2.0 * np.pi * frequency * time + phase).sum(axis=1)


# By name: a signal of about unit size whose levels or waves last some `pace` rows.
EXCITATIONS: dict[str, Callable[[np.random.Generator, int, float], np.ndarray]] = {
    "steps": lambda rng, rows, pace: steps(rng, rows, max(2, round(2 * pace)), -1.7, 1.7),
    "on-off": lambda rng, rows, pace: on_off(rng, rows, max(2, round(2 * pace))),
    "smooth": lambda rng, rows, pace: smooth(rng, rows, min(0.4, 0.5 / pace)),
    "sines": lambda rng, rows, pace: sines(rng, rows, min(0.4, 0.5 / pace)),
}
