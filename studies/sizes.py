r"""Systems that ask for more than small fixed sizes, each with what its noise alone would leave.

    python studies/sizes.py --out runs/sizes
    python studies/sizes.py --tasks duffing converter --variants now large --out runs/sizes
    python studies/sizes.py --report-only --out runs/sizes

All are simulated. They are of the kinds that long or odd recordings have: an oscillator and a
sandwich of filters with tens of thousands of rows, a structure with many modes, motion that is slow
and fast at once, a switched input with a quantised output, tanks, a flexible arm with few rows, a
magnet. Errors are in units of the noise where there is any. Recorded rows are not run again.
"""

import argparse
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from kinds import integrate, smooth, steps

VARIANTS: dict[str, dict] = {
    "now": {},
    "fixed": {"grow": False},
}


def duffing(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A hardening spring at 610 Hz, excited up to twice its resonance."""
    u = smooth(rng, rows, 0.16)
    y = integrate(
        lambda x, u: np.array([x[1], 0.6 * u - 0.08 * x[1] - 0.16 * x[0] - 0.0002 * x[0] ** 3]),
        np.zeros(2),
        u,
        dt=1.0,
        finer=4,
    )
    return u, y[:, 0]


def sandwich(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A one-sided saturation between two filters of sixth order."""
    from scipy.signal import cheby1, cheby2, sosfilt

    u = smooth(rng, rows + 500, 0.2)
    inner = sosfilt(cheby1(6, 0.5, 0.18, output="sos"), u)
    inner = np.where(inner > 0, 0.5 * np.tanh(inner / 0.5), inner)
    return u[500:], sosfilt(cheby2(6, 40.0, 0.25, output="sos"), inner)[500:]


def structure(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Six lightly damped modes and a joint whose stiffness depends on its own motion."""
    u = smooth(rng, rows, 0.12)
    frequencies = np.array([0.13, 0.22, 0.31, 0.44, 0.58, 0.70])
    gains = np.array([1.0, -0.8, 0.7, -0.6, 0.5, 0.5])

    def slope(x, u):
        place = x[:6]
        joint = gains @ place
        force = u - 2e-5 * joint**3 / (1.0 + 0.001 * joint**2)
        return np.concatenate(
            [x[6:], gains * force - 0.03 * frequencies * x[6:] - frequencies**2 * place]
        )

    states = integrate(slope, np.zeros(12), u, dt=1.0, finer=3)
    return u, (states[:, 6:] * frequencies) @ gains


def slow_and_fast(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """An arm that drifts over thousands of rows and swings over tens, with friction."""
    u = steps(rng, rows, 400) + 0.3 * smooth(rng, rows, 0.05)
    v = np.stack([u, 1.3 * steps(rng, rows, 3000)], axis=1)

    def slope(x, u):
        slow = (u[1] + 0.3 * u[0] - 1.6 * np.tanh(1.5 * x[0])) / 1500.0
        swing = 0.05 * (u[0] - 0.5 * x[2] / (0.1 + abs(x[2]))) - 0.05 * x[2] - 0.06 * x[1]
        return np.array([slow, x[2], swing])

    states = integrate(slope, np.zeros(3), v, dt=1.0, finer=2)
    return v, 20.0 * states[:, 0] + 1.0 * states[:, 1]


def converter(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A switched converter with a diode: on and off, and an output that is quantised."""
    u = (rng.random(rows) < 0.5).astype(float)
    u = np.repeat(u, rng.integers(2, 40, rows))[:rows]

    def slope(x, u):
        current = (4.0 * u - x[1] - 0.2 * x[0]) / 3.0
        if x[0] <= 0.0 and current < 0.0:
            current = -x[0]
        load = 0.3 * x[1] + 0.25 * np.tanh(2.0 * x[1])
        return np.array([current, (x[0] - load) / 5.0])

    y = integrate(slope, np.zeros(2), u, dt=1.0, finer=8)[:, 1]
    return u, np.round(y / 0.1) * 0.1


def tanks(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Two tanks, one above the other."""
    u = steps(rng, rows, 80, low=0.2, high=1.6)

    def slope(x, u):
        out = 0.5 * np.sqrt(np.maximum(x, 0.0))
        return 0.1 * np.array([0.5 * u - out[0], out[0] - out[1]])

    return u, integrate(slope, np.array([0.6, 0.6]), u, dt=1.0, finer=4)[:, 1]


def flexible_arm(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Two lightly damped modes of an arm and slow motion: linear but for a little friction."""
    u = smooth(rng, rows, 0.1) + 0.5 * smooth(rng, rows, 0.02)

    def slope(x, u):
        force = u - 0.1 * np.tanh(x[1] / 0.05)
        return np.array(
            [
                x[1],
                0.2 * force - 0.05 * x[1] - 0.005 * x[0],
                x[3],
                force - 0.02 * x[3] - 0.16 * x[2],
                x[5],
                force - 0.04 * x[5] - 0.9 * x[4],
            ]
        )

    x = integrate(slope, np.zeros(6), u, dt=1.0, finer=5)
    return u, x[:, 3] - 0.6 * x[:, 5] + 0.3 * x[:, 1]


def magnet(rng: np.random.Generator, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A ball that a magnet holds under a controller; the current's set point is the input."""
    u = steps(rng, rows, 60, low=-1.0, high=1.0)

    def slope(x, u):
        wanted = 0.25 * u
        current = 1.0 + 2.2 * (x[0] - wanted) + 1.6 * x[1]
        force = max(current, 0.0) ** 2 / (1.0 + 0.8 * x[0]) ** 2
        return np.array([x[1], 0.3 * (1.0 - force)])

    return u, integrate(slope, np.zeros(2), u, dt=0.5, finer=4)[:, 0]


class Task(NamedTuple):
    """A system, rows to train on, rows to predict, noise relative to the output's deviation."""

    system: Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
    rows: int
    test: int
    noise: float


TASKS: dict[str, Task] = {
    "duffing": Task(duffing, 65_000, 10_000, 0.001),
    "sandwich": Task(sandwich, 50_000, 10_000, 0.001),
    "structure": Task(structure, 16_000, 4_000, 0.005),
    "slow_and_fast": Task(slow_and_fast, 20_000, 10_000, 0.0),
    "slow_and_fast_noisy": Task(slow_and_fast, 20_000, 10_000, 0.03),
    "converter": Task(converter, 500, 500, 0.0),
    "tanks": Task(tanks, 1_000, 1_000, 0.005),
    "flexible_arm": Task(flexible_arm, 512, 512, 0.01),
    "magnet": Task(magnet, 1_000, 1_000, 0.02),
    "duffing_6000": Task(duffing, 6_000, 6_000, 0.01),
}


def data(name: str, seed: int = 0) -> tuple[list, list, float]:
    """Records to train on and to predict, and the noise's deviation."""
    from prssm import Record

    task = TASKS[name]
    rng = np.random.default_rng([seed, sum(map(ord, name))])
    u, y = task.system(rng, task.rows + task.test)
    u = u.reshape(len(u), -1)
    noise = task.noise * float(y.std())
    y = (y + noise * rng.normal(size=len(y)))[:, None]
    train = Record(u[: task.rows], y[: task.rows], name=name)
    return [train], [Record(u[task.rows :], y[task.rows :], name=name)], noise


def study(name: str, variant: str, seed: int = 0) -> dict:
    """One fit and what it is worth on fresh rows, beside the linear model and a constant."""
    from prssm import PRSSM
    from prssm.models.linear_ssm import LinearSSM

    train, fresh, noise = data(name, seed)
    row: dict = {"task": name, "variant": variant, "seed": seed, "noise": noise}
    row["deviation"] = float(train[0].y.std())
    models = {"linear": LinearSSM(), "prssm": PRSSM(**({"seed": seed} | VARIANTS[variant]))}
    for label, model in models.items():
        begun = time.perf_counter()
        model.fit(train)
        took = time.perf_counter() - begun
        score = model.evaluate(fresh)
        row[label] = {
            "rmse": score["rmse"],
            "inside": score["coverage_2sigma"],
            "log_likelihood": score["log_likelihood_scaled"],
            "fit_s": round(took, 1),
            "stride": model.stride_,
            "findings": dict(model.findings()),
        }
    return row


def report(rows: list[dict]) -> str:
    """A line for each fit."""
    lines = [
        "| task | variant | linear | prssm | noise "
        "| prssm / linear | prssm / noise | inside | fit |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        ours = row["prssm"]
        linear = row["linear"]
        to_noise = f"{ours['rmse'] / row['noise']:.2f}" if row["noise"] else "-"
        lines.append(
            f"| {row['task']} | {row['variant']} | {linear['rmse']:.4g} | {ours['rmse']:.4g} | "
            f"{row['noise']:.4g} | {ours['rmse'] / linear['rmse']:.3f} | {to_noise} | "
            f"{ours['inside']:.2f} | {ours['fit_s']:.0f} s |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--variants", nargs="+", default=["now"], choices=list(VARIANTS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/sizes"))
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    options = parser.parse_args()
    from prssm.evaluation.jobs.results import Results

    results = Results(options.out, "sizes.jsonl")
    if not options.report_only:
        for variant, name, seed in product(options.variants, options.tasks, range(options.seeds)):
            row = results.once(study, name, variant, seed)
            print(name, variant, seed, row["prssm"]["rmse"], flush=True)
    print(report(list(results.records.values())))


if __name__ == "__main__":
    main()
