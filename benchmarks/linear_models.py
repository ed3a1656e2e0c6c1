"""How long linear models take, and how good they are.

    python benchmarks/linear_models.py
    python benchmarks/linear_models.py --only " x " --test
    PRSSM_DATA=... python benchmarks/linear_models.py --test

Seconds of the processor and of the clock for what a default PR-SSM fit asks of linear models (the
choice of orders, then models of all data and of six folds), and for a fit of `LinearSSM`. Errors
are relative to the output's deviation: `held out` of halves of the training data, `ahead` of the
last third of the training data after a fit to the first two thirds. The test parts of recordings
are read with --test alone. Simulated recordings are noise-free there, so that 0 is best. Those
named by their channels, as in `7 x 7`, are random systems of many inputs and outputs; --seed makes
others, an odd one such that saturate.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from prssm import datasets
from prssm.data.pieces import spread_out
from prssm.data.record import Record
from prssm.data.scaling import Scaler
from prssm.data.splits import folds, split
from prssm.models.linear_ssm import LinearSSM
from prssm.models.prssm.starts.linear_start import Limits, LinearOrders, LinearStart
from prssm.models.prssm.starts.start import MOST_STATES

PUBLIC = ("actuator", "ballbeam", "drives", "furnace", "dryer", "cascaded_tanks", "ced")
FOLDS = 6
WINDOW = 16
LATENT_DIM = 6


@dataclass(frozen=True)
class Task:
    """A recording to learn from, and others to predict."""

    name: str
    train: list[Record]
    test: list[Record]
    states: int = LATENT_DIM  # at most, of the choice of orders


def filtered(poles: list[complex], rows: int, rng: np.random.Generator) -> np.ndarray:
    """Random steps through modes in parallel, each of unit gain in its strongest frequency."""
    u = np.repeat(rng.normal(size=rows), rng.integers(1, 12, rows))[:rows]
    y = np.zeros(rows)
    for index, pole in enumerate(poles):
        x = 0.0 + 0.0j
        for t in range(rows):
            y[t] += (-1.0) ** index * x.real
            x = pole * x + (1.0 - abs(pole)) * u[t]
    return np.stack([u, y], axis=1)


def resonances(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Two resonances and a lag: five states."""
    return filtered([0.95 * np.exp(0.3j), 0.9 * np.exp(1.1j), 0.8], rows, rng)


def saturated(rows: int, rng: np.random.Generator) -> np.ndarray:
    """A resonance and a lag whose sum saturates: no linear model is right."""
    signals = filtered([0.93 * np.exp(0.2j), 0.85], rows, rng)
    scale = signals[:, 1].std()
    signals[:, 1] = np.tanh(signals[:, 1] / scale)
    return signals


def slow_and_fast(rows: int, rng: np.random.Generator) -> np.ndarray:
    """Time constants of a thousand rows beside ten and three."""
    signals = filtered([0.999, 0.9, 0.7], rows, rng)
    return signals


SIMULATED: dict[str, tuple[Callable, int]] = {
    "resonances": (resonances, 250),
    "saturated": (saturated, 500),
    "slow and fast": (slow_and_fast, 2000),
}


def simulated(name: str, noise: float = 0.05) -> Task:
    """Some rows with noise to learn from; four times as many without to predict."""
    system, rows = SIMULATED[name]
    signals = system(5 * rows, np.random.default_rng(rows))
    y = signals[:, 1:] / signals[:rows, 1].std()
    seen = y[:rows] + noise * np.random.default_rng(1).normal(size=(rows, 1))
    test = Record(signals[rows:, :1], y[rows:])
    return Task(f"{name} ({rows})", [Record(signals[:rows, :1], seen)], [test])


# inputs, outputs, states, rows
CHANNELS = [(2, 2, 6, 900), (3, 6, 9, 1250), (5, 2, 8, 2500), (7, 7, 14, 1000)]


def modes(count: int, rng: np.random.Generator) -> np.ndarray:
    """A matrix of dynamics with so many states: resonances, and lags of some rows to hundreds."""
    blocks: list[np.ndarray] = []
    while (left := count - sum(map(len, blocks))) > 0:
        if left >= 2 and rng.random() < 0.5:
            radius = 1.0 - 10.0 ** rng.uniform(-2.0, -0.5)
            pole = radius * np.exp(1j * rng.uniform(0.05, 1.0))
            blocks.append(np.array([[pole.real, pole.imag], [-pole.imag, pole.real]]))
        else:
            blocks.append(np.array([[1.0 - 10.0 ** rng.uniform(-2.3, -0.4)]]))
    return block_diag(*blocks)


def channels(
    inputs: int, outputs: int, states: int, *, rows: int, seed: int = 0, noise: float = 0.05
) -> Task:
    """A random system of many channels; with an odd seed some of its states saturate."""
    rng = np.random.default_rng([seed, inputs, outputs])
    A = modes(states, rng)
    B = rng.normal(size=(states, inputs))
    steps = [
        np.repeat(rng.normal(size=3 * rows), rng.integers(1, 12, 3 * rows)) for _ in range(inputs)
    ]
    u = np.stack([each[: 3 * rows] for each in steps], axis=1)
    x = np.zeros((3 * rows, states))
    for t in range(1, len(x)):
        x[t] = A @ x[t - 1] + B @ u[t - 1]
    x = x / x.std(axis=0)
    if seed % 2:
        x[:, ::2] = np.tanh(0.7 * x[:, ::2]) / 0.7
    y = x @ rng.normal(size=(states, outputs))
    y = y / y[:rows].std(axis=0)
    seen = y[:rows] + noise * rng.normal(size=(rows, outputs))
    name = f"{inputs} x {outputs} ({rows})"
    test = [Record(u[rows:], y[rows:])]
    return Task(name, [Record(u[:rows], seen)], test, states=MOST_STATES)


def tasks(seed: int) -> list[Task]:
    """The simulated recordings, and the public ones that are at hand."""
    found = [simulated(name) for name in SIMULATED]
    for inputs, outputs, states, rows in CHANNELS:
        found.append(channels(inputs, outputs, states, rows=rows, seed=seed))
    for name in PUBLIC:
        if datasets.available(name):
            train, test = (
                part if isinstance(part, list) else [part] for part in datasets.load(name)
            )
            found.append(Task(f"{name} ({sum(map(len, train))})", train, test))
    return found


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What comes of the work, and its seconds of processor and clock."""
    cpu = time.process_time()
    wall = time.perf_counter()
    result = work()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def models_of_folds(records: list[Record], limits: tuple[Limits, ...]) -> int:
    """All linear models that a default fit starts from, for all data and for each fold."""
    of_all = [
        LinearStart.fit(records, limit, WINDOW, thorough=limit is limits[0]) for limit in limits
    ]
    count = len(of_all)
    for stretches in folds(records, FOLDS):
        shown, _ = split(records, stretches)
        for limit, near in zip(limits, of_all, strict=True):
            LinearStart.fit(shown, limit, WINDOW, near=near)
            count += 1
    return count


def relative(model: LinearSSM, records: list[Record], deviation: np.ndarray) -> float:
    """Root mean square error of free runs over records, in deviations of the training outputs."""
    errors = [(model.simulate(r).mean - r.y) / deviation for r in records]
    return float(np.sqrt(np.nanmean(np.concatenate(errors) ** 2)))


def measure(task: Task, with_test: bool) -> str:
    """One line of the table."""
    scaler = Scaler.fit(task.train)
    records = spread_out([scaler.scale(record) for record in task.train])
    found, *orders = timed(lambda: LinearOrders.choose(records, task.states, WINDOW))
    count, *of_folds = timed(lambda: models_of_folds(records, found.limits))
    model, *fit = timed(lambda: LinearSSM().fit(task.train))
    cut = [2 * len(record) // 3 for record in task.train]
    shown = [record[:at] for record, at in zip(task.train, cut, strict=True)]
    later = [record[at:] for record, at in zip(task.train, cut, strict=True)]
    early, *_ = timed(lambda: LinearSSM().fit(shown))
    test = f"{relative(model, task.test, scaler.y_std):8.4f}" if with_test else ""
    seconds = " ".join(f"{cpu:6.2f} {wall:6.2f}" for cpu, wall in (orders, of_folds, fit))
    held_out = float(np.mean(model.start_.error_std))
    return (
        f"{task.name:22s} {seconds} {count:3d} {model.order_:2d} "
        f"{held_out:8.4f} {relative(early, later, scaler.y_std):8.4f} {test}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--test", action="store_true", help="read the test parts too")
    parser.add_argument("--seed", type=int, default=0, help="of the systems of many channels")
    parser.add_argument("--only", nargs="*", help="names of tasks, or parts of them")
    options = parser.parse_args()
    seconds = " ".join(f"{name:>6s} {'clock':>6s}" for name in ("orders", "folds", "fit"))
    print(f"{'recording (rows)':22s} {seconds}   n dx held-out    ahead     test")
    for task in tasks(options.seed):
        if not options.only or any(word in task.name for word in options.only):
            print(measure(task, options.test), flush=True)


if __name__ == "__main__":
    main()
