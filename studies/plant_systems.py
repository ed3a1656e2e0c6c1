"""Plants whose logs the study `plants` learns from: how each runs, its rows, its sensors' noise.

    train, fresh = data("exchanger")

One more is a function of random numbers and a number of rows, and a line in `PLANTS`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter

from prssm.data.record import Record
from prssm.data.simulators.excitation import smooth, steps
from prssm.data.simulators.system import integrate

RUNS = 4  # fresh ones to predict

Signals = tuple[np.ndarray | None, np.ndarray]  # inputs (T, Du), outputs (T, Dy) without noise
Run = Callable[[np.random.Generator, int], Signals]


class Plant(NamedTuple):
    """How it runs, how many rows and experiments there are, and its sensors' noise."""

    run: Run
    rows: int
    records: int = 1
    noise: float = 0.05  # in parts of each output's deviation
    fresh_rows: int = 500


def wandering(rng: np.random.Generator, rows: int, memory: float) -> np.ndarray:
    """A disturbance of unit deviation that nobody measures."""
    noise = rng.standard_normal(rows + 500)
    return lfilter([np.sqrt(1.0 - memory**2)], [1.0, -memory], noise)[500:]


def lag(signal: np.ndarray, time: float) -> np.ndarray:
    """A first-order lag of unit gain that lasts so many rows."""
    keep = np.exp(-1.0 / time)
    return lfilter([0.0, 1.0 - keep], [1.0, -keep], signal)


def channels(rng, rows, inputs, outputs, *, times, disturbance=0.0, hold=20, bend=0.0, key=1):
    """Each output is a sum of lags of bent inputs, and of something that nobody measures."""
    fixed = np.random.default_rng(key)
    gains = fixed.normal(size=(outputs, inputs))
    each = np.exp(fixed.uniform(np.log(times[0]), np.log(times[1]), (outputs, inputs)))
    u = np.stack([steps(rng, rows + 200, hold) for _ in range(inputs)], axis=1)
    y = np.zeros((rows + 200, outputs))
    for i in range(outputs):
        for j in range(inputs):
            y[:, i] += lag(gains[i, j] * (u[:, j] + bend * u[:, j] ** 2), each[i, j])
        y[:, i] *= 1.0 + bend * np.tanh(y[:, i])
        y[:, i] += disturbance * y[:, i].std() * wandering(rng, rows + 200, 0.97)
    return u[200:], y[200:]


def power_plant(rng, rows):
    """Five inputs, three outputs, slow, much that nobody measures."""
    return channels(rng, rows, 5, 3, times=(3, 30), disturbance=0.3, key=11)


def evaporator(rng, rows):
    """Three stages whose levels hardly settle."""
    u = np.stack([steps(rng, rows + 300, 40) for _ in range(3)], axis=1)
    first = lag(u[:, 0] - 0.5 * u[:, 1], 15.0)
    level = lag(30.0 * (u[:, 1] + 0.3 * first * u[:, 2]), 150.0)
    last = lag(level / (1.0 + 0.1 * np.abs(level)) + u[:, 2], 10.0)
    y = np.stack([first, level, last], axis=1)
    return u[300:], y[300:]


def winding(rng, rows):
    """Five inputs, two tensions: nearly linear, quick, disturbed."""
    return channels(rng, rows, 5, 2, times=(1.5, 8), disturbance=0.15, hold=12, bend=0.1, key=12)


def player_arm(rng, rows):
    """Two inputs, two outputs, six lightly damped modes, white inputs."""
    fixed = np.random.default_rng(13)
    u = rng.normal(size=(rows + 500, 2))
    y = np.zeros((rows + 500, 2))
    for turn in (0.12, 0.31, 0.55, 0.9, 1.4, 2.1):
        pole = np.exp(complex(-0.02, 1.0) * turn)
        a = [1.0, -2.0 * pole.real, abs(pole) ** 2]
        push = u @ fixed.normal(size=2)
        y += lfilter([0.0, turn], a, push)[:, None] * fixed.normal(size=2)
    return u[500:], y[500:]


def drum(rng, rows):
    """A steam generator: four inputs, four outputs, swings and slow levels."""
    return channels(rng, rows, 4, 4, times=(2, 120), disturbance=0.1, hold=60, bend=0.2, key=14)


def furnace(rng, rows):
    """Three burners, six thermocouples behind each other."""
    u = np.stack([steps(rng, rows + 300, 40) for _ in range(3)], axis=1)
    y = [lag(lag(u[:, i // 2], 5.0 + 3.0 * i), 20.0) for i in range(6)]
    for i in range(1, 6):
        y[i] = y[i] + 0.4 * lag(y[i - 1], 8.0)
    y = np.stack(y, axis=1) + 0.1 * wandering(rng, rows + 300, 0.99)[:, None]
    return u[300:], y[300:]


def exchanger(rng, rows):
    """A heat exchanger: gain falls with flow, first goes the wrong way, disturbed."""
    u = steps(rng, rows + 200, 30, 0.3, 1.7)
    y = lag(1.0 / u, 12.0) - 0.3 * lag(1.0 / u - lag(1.0 / u, 3.0), 4.0)
    return u[200:], (y + 0.1 * y.std() * wandering(rng, rows + 200, 0.98))[200:]


def neutralised(rng, rows):
    """pH of acid and base streams in a stirred vessel."""
    acid = steps(rng, rows + 200, 30, 0.7, 1.3)
    base = steps(rng, rows + 200, 30, 0.7, 1.3)
    mixed = lag(base - acid, 10.0)
    y = 7.0 + np.arcsinh(40.0 * mixed + 3.0 * lag(acid, 25.0) - 3.0)
    return np.stack([acid, base], axis=1)[200:], y[200:]


def wall(rng, rows):
    """A thermic wall: two inputs, diffusion, few rows."""
    u = np.stack([steps(rng, rows + 300, 20) for _ in range(2)], axis=1)

    def slope(x, u):
        left = np.concatenate([[u[0]], x[:-1]])
        right = np.concatenate([x[1:], [u[1]]])
        return 0.15 * (left - 2.0 * x + right)

    x = integrate(slope, np.zeros(6), u, dt=1.0)
    return u[300:], x[300:, 2]


def flutter(rng, rows):
    """Two weakly damped modes close to each other, a swept sine, few rows."""
    time = np.arange(rows)
    start = rng.uniform(0.0, 2.0 * np.pi)
    u = np.sin(start + 2.0 * np.pi * (0.01 * time + 0.5 * 0.12 / rows * time**2))
    y = np.zeros(rows)
    for turn, gain in ((0.35, 1.0), (0.42, -0.8), (0.7, 0.3)):
        pole = np.exp(complex(-0.01, 1.0) * turn)
        y += lfilter([0.0, gain * turn], [1.0, -2.0 * pole.real, abs(pole) ** 2], u)
    return u, y


def lake(rng, rows):
    """Five inputs, two outputs, monthly: some dozen rows."""
    return channels(rng, rows, 5, 2, times=(1.0, 4.0), disturbance=0.3, hold=5, key=15)


def loop(rng, rows):
    """Ball and beam: two integrators under a clumsy hand, pushed by what nobody measures."""
    target = steps(rng, rows, 80)
    push = 0.02 * wandering(rng, rows, 0.7)
    x = np.zeros(2)
    u = np.zeros(rows)
    y = np.zeros(rows)
    for t in range(rows):
        y[t] = x[0]
        u[t] = 0.15 * (target[t] - x[0]) - 0.6 * x[1] + 0.05 * rng.normal()
        x = np.array([x[0] + x[1], x[1] + 0.3 * np.sin(u[t]) + push[t]])
    return u, y


def levitation(rng, rows):
    """A magnet holds a ball that would fall: unstable without its controller."""
    target = 1.0 + 0.15 * lag(steps(rng, rows, 60), 4.0)
    x = np.array([1.0, 0.0])
    u = np.zeros(rows)
    y = np.zeros(rows)
    for t in range(rows):
        y[t] = x[0]
        u[t] = 1.0 + 3.0 * (x[0] - target[t]) + 2.0 * x[1] + 0.02 * rng.normal()
        for _ in range(5):
            x = x + 0.02 * np.array([x[1], 1.0 - max(u[t], 0.0) ** 2 / x[0] ** 2])
    return u, y


def cart(rng, rows):
    """A cart that carries a hanging pendulum, four outputs."""
    u = 2.0 * smooth(rng, rows, 0.05)

    def slope(x, u):
        s, c = np.sin(x[2]), np.cos(x[2])
        move = (u - 1.0 * x[1] - 0.5 * x[0] + 0.3 * s * (x[3] ** 2 + 9.8 * c)) / (1.0 + 0.3 * s**2)
        return np.array([x[1], move, x[3], -move * c - 9.8 * s - 0.3 * x[3]])

    x = integrate(slope, np.zeros(4), u, dt=0.08)
    return u, np.stack([x[:, 0], x[:, 1], np.sin(x[:, 2]), x[:, 3]], axis=1)


def switched(rng, rows):
    """A boost converter: its duty is one of two, the output is read in coarse steps."""
    u = np.where(steps(rng, rows, 25) > 0, 0.55, 0.3)

    def slope(x, d):
        return np.array(
            [(1.0 - (1.0 - d) * x[1] - 0.05 * x[0]) / 2.0, ((1.0 - d) * x[0] - x[1] / 3.0) / 4.0]
        )

    x = integrate(slope, np.array([1.0, 1.5]), u, dt=0.7)
    return u, np.round(x[:, 1] / 0.1) * 0.1


def overflow(rng, rows):
    """Two tanks; the upper one runs over, which the lower one gets in part."""
    u = steps(rng, rows, 40, 0.0, 1.5)

    def slope(x, u):
        over = 0.4 * u * (x[0] > 1.6)
        flow = 0.09 * np.sqrt(np.maximum(x, 0.0))
        return np.array(
            [0.1 * u - flow[0] - 2.0 * max(x[0] - 1.6, 0.0), flow[0] - flow[1] + 0.1 * over]
        )

    return u, integrate(slope, np.array([0.6, 0.6]), u, dt=1.0)[:, 1]


def spots(rng, rows):
    """No input: an oscillation that noise drives."""
    noise = rng.normal(size=rows + 300)
    return None, lfilter([1.0], [1.0, -1.85, 0.92], noise)[300:]


def batches(rng, rows):
    """A fed batch: everything grows from seed to end; every run its own feed."""
    feed = 0.6 + 0.3 * steps(rng, rows, 20)

    def slope(x, u):
        growth = 0.12 * x[1] / (0.3 + x[1]) * x[0]
        return np.array([growth, 0.05 * u - 0.9 * growth])

    start = np.array([0.1 + 0.02 * rng.normal(), 0.8 + 0.05 * rng.normal()])
    return feed, integrate(slope, np.abs(start), feed, dt=1.0)


def stick(rng, rows):
    """A slide with dry friction, driven by a force."""
    u = 2.0 * smooth(rng, rows, 0.03)

    def slope(x, u):
        return np.array([x[1], u - 0.8 * x[0] - 0.2 * x[1] - 0.8 * np.tanh(x[1] / 0.02)])

    return u, integrate(slope, np.zeros(2), u, dt=0.15, finer=8)[:, 0]


def other_levels(rng, rows):
    """A valve that a switch moved in training: two levels of its curve are all that is known."""
    u = np.where(steps(rng, rows, 15) > 0, 1.0, -0.5)
    return u, lag(np.exp(0.8 * u), 6.0)


def drifting(rng, rows):
    """Linear, with a sensor that drifts."""
    u = steps(rng, rows, 15)
    y = lag(lag(u, 5.0), 3.0)
    return u, y + 0.15 * np.cumsum(rng.normal(size=rows)) / np.sqrt(rows)


def twins(rng, rows):
    """Three inputs of which two are all but the same."""
    a = steps(rng, rows, 20)
    b = a + 0.01 * rng.normal(size=rows)
    c = steps(rng, rows, 15)
    return np.stack([a, b, c], axis=1), lag(a, 6.0) + np.tanh(2.0 * lag(c, 3.0))


def seldom(rng, rows):
    """One valve moves all the time, the other one three times in all."""
    a = steps(rng, rows, 20)
    b = np.repeat(rng.uniform(-1.0, 1.0, 4), rows // 4 + 1)[:rows]
    return np.stack([a, b], axis=1), lag(a * (1.0 + 0.5 * b), 5.0) + 0.5 * lag(b, 15.0)


def pipe(rng, rows):
    """Forty rows of dead time before a bent lag."""
    u = steps(rng, rows + 100, 50)
    delayed = np.roll(u, 40)
    return u[100:], lag(delayed + 0.5 * delayed**2, 12.0)[100:]


def oversampled(rng, rows):
    """A slow valve logged five hundred times for each of its time constants."""
    u = steps(rng, rows, 1500)
    level = lag(u, 500.0)
    return u, np.tanh(1.5 * level) + 0.2 * level


def swept(rng, rows):
    """A hardening spring, swept through its resonance; fresh runs are noise."""
    if rows > 1000:
        time = np.arange(rows)
        u = 1.2 * np.sin(2.0 * np.pi * (0.01 * time + 0.5 * 0.08 / rows * time**2))
    else:
        u = 1.0 * smooth(rng, rows, 0.08)

    def slope(x, u):
        return np.array([x[1], u - 0.15 * x[1] - x[0] - 0.5 * x[0] ** 3])

    return u, integrate(slope, np.zeros(2), u, dt=0.35)[:, 0]


def clipped(rng, rows):
    """A resonance whose sensor ends at its range."""
    u = smooth(rng, rows, 0.08)
    pole = np.exp(complex(-0.15, 1.0) * 0.3)
    y = lfilter([0.0, 0.05], [1.0, -2.0 * pole.real, abs(pole) ** 2], u)
    return u, np.clip(y, -1.2, 1.2)


def parallel(rng, rows):
    """Two branches of filter, curve, filter in parallel."""
    u = smooth(rng, rows + 200, 0.15)

    def branch(turn, after, bend):
        pole = np.exp(complex(-0.3, 1.0) * turn)
        a = [1.0, -2.0 * pole.real, abs(pole) ** 2]
        v = lfilter([0.0, sum(a)], a, u)
        return lag(v + bend * v**3 / (1.0 + v**2), after)

    y = branch(0.5, 2.0, 1.0) + branch(0.25, 4.0, -0.8)
    return u[200:], y[200:]


PLANTS: dict[str, Plant] = {
    "parallel": Plant(parallel, 8000, noise=0.01, fresh_rows=2000),
    "oversampled": Plant(oversampled, 10_000, noise=0.03, fresh_rows=4000),
    "drum": Plant(drum, 4800, fresh_rows=2000),
    "stick": Plant(stick, 3000, noise=0.02, fresh_rows=1000),
    "evaporator": Plant(evaporator, 3000, noise=0.02, fresh_rows=1000),
    "exchanger": Plant(exchanger, 2000, noise=0.03, fresh_rows=1000),
    "winding": Plant(winding, 1250),
    "swept": Plant(swept, 2000, noise=0.03),
    "player_arm": Plant(player_arm, 1024, noise=0.05),
    "cart": Plant(cart, 1500, noise=0.03),
    "neutralised": Plant(neutralised, 1000, noise=0.03),
    "levitation": Plant(levitation, 1000, noise=0.02),
    "switched": Plant(switched, 500, noise=0.0),
    "overflow": Plant(overflow, 1000, noise=0.02),
    "pipe": Plant(pipe, 1000, noise=0.03),
    "loop": Plant(loop, 500, noise=0.03),
    "furnace": Plant(furnace, 620, noise=0.05),
    "drifting": Plant(drifting, 600, noise=0.05),
    "twins": Plant(twins, 500, noise=0.05),
    "seldom": Plant(seldom, 600, noise=0.03),
    "clipped": Plant(clipped, 500, noise=0.02),
    "flutter": Plant(flutter, 512, noise=0.03),
    "wall": Plant(wall, 340, noise=0.05),
    "batches": Plant(batches, 60, records=6, noise=0.03, fresh_rows=60),
    "spots": Plant(spots, 300, noise=0.1),
    "other_levels": Plant(other_levels, 300, noise=0.03),
    "power_plant": Plant(power_plant, 200, noise=0.1),
    "lake": Plant(lake, 40, noise=0.1, fresh_rows=40),
}


def data(name: str) -> tuple[list[Record], list[Record]]:
    """Records to train on, and fresh ones to predict."""
    plant = PLANTS[name]
    rng = np.random.default_rng(sum(map(ord, name)) + 77)
    lengths = [plant.rows] * plant.records + [plant.fresh_rows] * RUNS
    runs = [plant.run(rng, length) for length in lengths]
    runs = [(u, y.reshape(len(y), -1)) for u, y in runs]
    spread = plant.noise * np.concatenate([y for _, y in runs[: plant.records]]).std(axis=0)
    found = [Record(u, y + spread * rng.normal(size=y.shape), name=name) for u, y in runs]
    return found[: plant.records], found[plant.records :]
