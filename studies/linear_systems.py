"""Random linear systems with noise, for studies of linear models.

    made = flexible(3)
    made.train, made.test       # Records
    made.order, made.noise      # how many states; sensor noise in deviations of the output

One number is one system, always the same. A new family is a function here and a line in `FAMILIES`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

from prssm.data.record import Record
from prssm.data.simulators.excitation import EXCITATIONS

_RUN_IN = 300  # rows that are dropped, so that a recording does not begin at rest
_TEST_ROWS = 500


@dataclass(frozen=True, eq=False)
class Made:
    """A recording to learn from, one to predict, and what was drawn."""

    train: Record
    test: Record
    order: int
    noise: float


def general(number: int) -> Made:
    """Order 1 to 20: lags and resonances side by side, any of the usual inputs, some noise."""
    rng = np.random.default_rng([101, number])
    order = int(rng.integers(1, 21))
    poles = lags(rng, order % 2) + resonances(rng, order // 2, damping=(0.02, 0.9), most=0.35)
    rows = int(rng.integers(250, 1001))
    kind = str(rng.choice(list(EXCITATIONS)))
    pace = float(np.exp(rng.uniform(np.log(2.0), np.log(12.0))))
    u = EXCITATIONS[kind](rng, _RUN_IN + rows + _TEST_ROWS, pace)
    noise = float(np.exp(rng.uniform(np.log(0.003), np.log(0.2))))
    coloured = bool(rng.random() < 0.3)
    return _made(rng, poles, u, rows=rows, noise=noise, coloured=coloured)


def flexible(number: int) -> Made:
    """A flexible arm: few modes with little damping, a periodic sum of sines, 512 rows."""
    rng = np.random.default_rng([102, number])
    modes = int(rng.integers(2, 6))
    poles = resonances(rng, modes, damping=(0.003, 0.04), most=0.4)
    rows = 512
    u = multisine(rng, _RUN_IN + 2 * rows, period=rows)
    noise = float(np.exp(rng.uniform(np.log(0.003), np.log(0.05))))
    return _made(rng, poles, u, rows=rows, noise=noise, coloured=False)


FAMILIES: dict[str, Callable[[int], Made]] = {"general": general, "flexible": flexible}


def multisine(rng: np.random.Generator, rows: int, period: int) -> np.ndarray:
    """A periodic signal of unit deviation that has all frequencies up to 0.4 of the rate."""
    line = np.arange(1, int(0.4 * period))
    phase = rng.uniform(0.0, 2.0 * np.pi, len(line))
    time = np.arange(rows)[:, None]
    u = np.cos(2.0 * np.pi * line * time / period + phase).sum(axis=1)
    return u / u.std()


def lags(rng: np.random.Generator, count: int) -> list[complex]:
    return [complex(np.exp(-1.0 / rng.uniform(1.0, 30.0))) for _ in range(count)]


def resonances(
    rng: np.random.Generator, count: int, damping: tuple[float, float], most: float
) -> list[complex]:
    """One pole of each pair; frequencies between 0.01 and `most` of the rate."""
    frequency = np.exp(rng.uniform(np.log(0.01), np.log(most), count))
    ratio = np.exp(rng.uniform(*np.log(damping), count))
    turn = 2.0 * np.pi * frequency
    return list(np.exp(turn * (-ratio + 1j * np.sqrt(1.0 - ratio**2))))


def _made(
    rng: np.random.Generator,
    poles: list[complex],
    u: np.ndarray,
    *,
    rows: int,
    noise: float,
    coloured: bool,
) -> Made:
    """Modes side by side, each of about unit size, with sensor noise or a disturbance."""
    y = np.zeros(len(u))
    for pole in poles:
        part = mode(pole, u, lead=bool(rng.random() < 0.5))
        y += rng.uniform(0.3, 1.0) * rng.choice([-1.0, 1.0]) * part / part.std()
    error = rng.standard_normal(len(u))
    if coloured:
        error = lfilter([np.sqrt(1.0 - 0.9**2)], [1.0, -0.9], error)
    y = y + noise * y.std() * error
    whole = Record(u[_RUN_IN:], y[_RUN_IN:])
    order = sum(1 if pole.imag == 0.0 else 2 for pole in poles)
    return Made(whole[:rows], whole[rows:], order, noise)


def mode(pole: complex, u: np.ndarray, lead: bool) -> np.ndarray:
    """One row of delay; `lead` reads the speed of a resonance instead of its position."""
    if pole.imag == 0.0:
        return lfilter([0.0, 1.0], [1.0, -pole.real], u)
    a = [1.0, -2.0 * pole.real, abs(pole) ** 2]
    return lfilter([0.0, 1.0, -1.0] if lead else [0.0, 1.0], a, u)
