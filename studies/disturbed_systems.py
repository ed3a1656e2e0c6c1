"""Systems with disturbances that no input tells of, for the study of linear orders.

    train, unseen = drifting(3)      # lists of Records

One number is one system, always the same. A new kind is a function here and a line in `KINDS`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from linear_order_systems import RUN_IN, UNSEEN, Parts, cut
from linear_systems import lags, mode, resonances
from scipy.signal import lfilter

from prssm.data.record import Record
from prssm.data.simulators.excitation import EXCITATIONS
from prssm.data.simulators.random_systems import random_recording

_ROWS = (250, 250, 500, 1000, 2000)
_NOISE = (0.003, 0.1)  # of the sensors: small beside the disturbances
_FIRST_NONLINEAR = 800  # number of a random system: other studies have those before


@dataclass(frozen=True, eq=False)
class _Motion:
    """Modes side by side and the input that moves them; how much each mode is in the output."""

    u: np.ndarray
    rows: int  # that are learnt from
    poles: Sequence[complex]
    leads: Sequence[bool]
    gains: np.ndarray

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> Self:
        """One to six states, any of the usual inputs."""
        rows = int(rng.choice(_ROWS))
        order = int(rng.integers(1, 7))
        poles = lags(rng, order % 2) + resonances(rng, order // 2, damping=(0.05, 0.9), most=0.25)
        kind = str(rng.choice(list(EXCITATIONS)))
        pace = float(np.exp(rng.uniform(np.log(2.0), np.log(12.0))))
        u = EXCITATIONS[kind](rng, RUN_IN + rows + UNSEEN, pace)
        leads = [bool(rng.random() < 0.5) for _ in poles]
        size = np.array([mode(p, u, lead=lead).std() for p, lead in zip(poles, leads, strict=True)])
        gains = rng.uniform(0.3, 1.0, len(poles)) * rng.choice([-1.0, 1.0], len(poles)) / size
        return cls(u, rows, poles, leads=leads, gains=gains)

    def modes(self, drive: np.ndarray) -> list[np.ndarray]:
        return [
            gain * mode(pole, drive, lead=lead)
            for gain, pole, lead in zip(self.gains, self.poles, self.leads, strict=True)
        ]

    def recorded(self, rng: np.random.Generator, disturbance: np.ndarray, most: float) -> Parts:
        """With the disturbance at the output, 5 % of the motion at least and `most` at most."""
        y = np.sum(self.modes(self.u), axis=0)
        level = np.exp(rng.uniform(np.log(0.05), np.log(most)))
        y = y + level * y.std() * disturbance / disturbance.std()
        return cut(rng, self.u, y, rows=self.rows, noise=_NOISE)


def pushed(number: int) -> Parts:
    """White noise moves each mode beside the input."""
    rng = np.random.default_rng([904, number])
    motion = _Motion.drawn(rng)
    others = [motion.modes(rng.standard_normal(len(motion.u)))[k] for k in range(len(motion.poles))]
    shares = rng.uniform(0.2, 1.0, len(others))
    parts = [share * each / each.std() for share, each in zip(shares, others, strict=True)]
    return motion.recorded(rng, np.sum(parts, axis=0), most=1.0)


def entered(number: int) -> Parts:
    """Something that lasts some ten rows adds to the input."""
    rng = np.random.default_rng([905, number])
    motion = _Motion.drawn(rng)
    added = _wandering(rng, len(motion.u), memory=0.9)
    return motion.recorded(rng, np.sum(motion.modes(added), axis=0), most=0.7)


def drifting(number: int) -> Parts:
    """The output drifts over ten to five hundred rows."""
    rng = np.random.default_rng([906, number])
    motion = _Motion.drawn(rng)
    drift = _wandering(rng, len(motion.u), memory=_slow(rng, 0.002))
    return motion.recorded(rng, drift, most=1.0)


def bent_and_drifting(number: int) -> Parts:
    """A nonlinear system of `random_systems` whose output drifts besides."""
    found = random_recording(_FIRST_NONLINEAR + number)
    rng = np.random.default_rng([907, number])
    memory = _slow(rng, 0.005)
    level = np.exp(rng.uniform(np.log(0.05), np.log(0.5))) * found.train.y.std(axis=0)

    def drifted(record: Record) -> Record:
        parts = [_wandering(rng, len(record), memory) for _ in range(record.output_dim)]
        return Record(record.u, record.y + level * np.stack(parts, axis=1))

    return [drifted(found.train)], [drifted(found.test)]


def in_a_loop(number: int) -> Parts:
    """A lag and an integrator that a controller holds; disturbances come back through its input."""
    rng = np.random.default_rng([908, number])
    rows = int(rng.choice(_ROWS))
    length = RUN_IN + rows + UNSEEN
    pace = float(np.exp(rng.uniform(np.log(4.0), np.log(20.0))))
    wanted = EXCITATIONS[str(rng.choice(list(EXCITATIONS)))](rng, length, pace)
    lag = np.exp(-1.0 / rng.uniform(2.0, 10.0))
    gain = rng.uniform(0.03, 0.12)
    leak = 1.0 - float(rng.choice([0.0, 0.0, 0.01]))
    level = np.exp(rng.uniform(np.log(0.02), np.log(0.3)))
    push = level * _wandering(rng, length, memory=float(rng.choice([0.0, 0.9])))
    seen = 0.02 * rng.standard_normal(length)
    u = np.zeros(length)
    y = np.zeros(length)
    speed = 0.0
    for t in range(length - 1):
        u[t] = wanted[t] - 0.8 * (y[t] + seen[t])
        y[t + 1] = leak * y[t] + gain * speed
        speed = lag * speed + (1.0 - lag) * (u[t] + push[t])
    u[-1] = wanted[-1] - 0.8 * (y[-1] + seen[-1])
    return cut(rng, u, y, rows=rows, noise=(0.003, 0.05))


KINDS: dict[str, Callable[[int], Parts]] = {
    "pushed": pushed,
    "entered": entered,
    "drifting": drifting,
    "bent, drifting": bent_and_drifting,
    "in a loop": in_a_loop,
}


def _slow(rng: np.random.Generator, least: float) -> float:
    """A memory between ten rows and 1 / least."""
    return 1.0 - float(np.exp(rng.uniform(np.log(least), np.log(0.1))))


def _wandering(rng: np.random.Generator, rows: int, memory: float) -> np.ndarray:
    """A disturbance of unit deviation with this correlation from row to row."""
    run_in = 500
    noise = rng.standard_normal(run_in + rows)
    return lfilter([np.sqrt(1.0 - memory**2)], [1.0, -memory], noise)[run_in:]
