r"""The default preset on many kinds of systems: where would a user be let down?

    python studies/kinds.py --out runs/kinds
    python studies/kinds.py --out runs/kinds --docs docs/studies/accuracy.md
    python studies/kinds.py --tasks oscillator sandwich hysteresis \
        --free p10 p20 p40 p10long p20long

It is compared with a linear model and a constant. All are simulated, with sensor noise. None was
used to choose anything, but for the sizes that long data get (--free: the free level alone, with
other sizes), which were chosen on the three that are named there.
"""

import argparse
import json
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from prssm.data.simulators.excitation import smooth, steps
from prssm.data.simulators.system import integrate
from prssm.report.page_sections import with_section

Signals = tuple[np.ndarray | None, np.ndarray]  # inputs (T, Du), outputs (T, Dy) without noise
System = Callable[[np.random.Generator, int], Signals]


def oscillator(rng, rows):
    """A hardening spring, excited over its resonance; fast sampling, many rows (as the
    Silverbox).
    """
    u = 60.0 * smooth(rng, rows, 0.15)
    x = integrate(
        lambda x, u: np.array([x[1], u - 0.6 * x[1] - 25.0 * x[0] - 4.0 * x[0] ** 3]),
        np.zeros(2),
        u,
        dt=0.12,
    )
    return u, x[:, 0]


def sandwich(rng, rows):
    """A saturation between two filters of third order (as the Wiener-Hammerstein circuit)."""
    from scipy.signal import cheby1, sosfilt

    u = smooth(rng, rows, 0.2)
    inner = sosfilt(cheby1(3, 0.5, 0.18, output="sos"), u)
    inner = np.where(inner > 0, 0.4 * np.tanh(inner / 0.4), inner)
    return u, sosfilt(cheby1(3, 0.5, 0.22, output="sos"), inner)


def hysteresis(rng, rows):
    """A mass on a spring with hysteresis (Bouc and Wen), 750 Hz."""
    u = 70.0 * smooth(rng, rows, 0.08)

    def slope(x, u):
        bend = 5e4 * x[1] - 800.0 * abs(x[1]) * x[2] + 1100.0 * x[1] * abs(x[2])
        return np.array([x[1], (u - 10.0 * x[1] - 5e4 * x[0] - x[2]) / 2.0, bend])

    return u, 1e3 * integrate(slope, np.zeros(3), u, dt=1 / 750)[:, 0]


def titration(rng, rows):
    """Acid is dosed into a stirred vessel; its pH is measured (a steep static curve behind a slow
    mixture).
    """
    u = steps(rng, rows, 40, low=0.0, high=1.0)
    level = integrate(lambda x, u: (u - x) / 8.0, np.array([0.5]), u, dt=1.0)[:, 0]
    return u, 7.0 + 3.5 * np.tanh(8.0 * (level - 0.5)) + 2.0 * (level - 0.5)


def reactor(rng, rows):
    """An exothermic reaction in a cooled vessel: concentration and temperature from coolant and
    feed.
    """
    coolant = steps(rng, rows, 60, low=280.0, high=300.0)
    feed = steps(rng, rows, 60, low=0.9, high=1.05)

    def slope(x, u):
        rate = 7.2e10 * np.exp(-8750.0 / x[1]) * x[0]
        return np.array([u[1] - x[0] - rate, 350.0 - x[1] + 209.2 * rate + 2.092 * (u[0] - x[1])])

    u = np.stack([coolant, feed], axis=1)
    return u, integrate(slope, np.array([0.88, 324.0]), u, dt=0.1, finer=20)


def linear_plant(rng, rows):
    """Three inputs and three outputs, linear, five states: nothing to find beyond it."""
    u = np.stack([steps(rng, rows, 20) for _ in range(3)], axis=1)
    poles = np.array([0.95, 0.9, 0.85, 0.7, 0.5])
    fixed = np.random.default_rng(3)
    B = fixed.normal(size=(5, 3)) * (1.0 - poles)[:, None]
    C = fixed.normal(size=(3, 5))
    x = np.zeros(5)
    y = []
    for value in u:
        y.append(C @ x)
        x = poles * x + B @ value
    return u, np.array(y)


def dead_time(rng, rows):
    """Twelve samples of dead time before a lag whose gain depends on the level (a heated pipe)."""
    u = steps(rng, rows, 30)
    delayed = np.concatenate([np.zeros(12), u[:-12]])
    return u, integrate(lambda x, u: (u + 0.4 * u**2 - x) / 6.0, np.zeros(1), delayed, dt=1.0)[:, 0]


def pendulum(rng, rows):
    """Sine and cosine of a driven pendulum's angle, which may turn over."""
    u = 3.0 * smooth(rng, rows, 0.03)
    x = integrate(
        lambda x, u: np.array([x[1], u - 0.5 * x[1] - 5.0 * np.sin(x[0])]), np.zeros(2), u, dt=0.1
    )
    return u, np.stack([np.sin(x[:, 0]), np.cos(x[:, 0])], axis=1)


def limit_cycle(rng, rows):
    """Van der Pol's oscillator from anywhere, without inputs."""
    start = rng.uniform(-3.0, 3.0, 2)
    none = np.zeros((rows, 0))
    return None, integrate(
        lambda x, _: np.array([x[1], 1.5 * (1.0 - x[0] ** 2) * x[1] - x[0]]), start, none, dt=0.15
    )[:, 0]


def servo(rng, rows):
    """A carriage with friction under a position controller, 1 kHz (as the EMPS): the force is the
    input.
    """
    reference = np.cumsum(smooth(rng, rows, 0.0005)) * 2e-4
    state = np.zeros(2)
    force = []
    position = []
    for target in reference:
        push = 400.0 * (target - state[0]) - 40.0 * state[1]
        force.append(push)
        position.append(state[0])
        for _ in range(2):
            speed = (push - 8.0 * state[1] - 2.0 * np.tanh(state[1] / 0.005)) / 5.0
            state = state + 0.0005 * np.array([state[1], speed])
    return np.array(force), np.array(position)


def backlash(rng, rows):
    """A gear with play before a lag."""
    u = steps(rng, rows, 15)
    play = 0.0
    output = []
    for value in u:
        play = min(max(play, value - 0.25), value + 0.25)
        output.append(play)
    return u, integrate(lambda x, u: (u - x) / 3.0, np.zeros(1), np.array(output), dt=1.0)[:, 0]


def many_inputs(rng, rows):
    """Eight inputs, of which three matter."""
    u = np.stack([steps(rng, rows, 20) for _ in range(8)], axis=1)
    y = integrate(
        lambda x, u: (u[0] + u[1] * u[2] - x + 0.3 * np.sin(3.0 * x)) / 5.0, np.zeros(1), u, dt=1.0
    )
    return u, y[:, 0]


def predator(rng, rows):
    """Feed given to prey; prey and predators are counted."""
    u = steps(rng, rows, 40, low=0.6, high=1.4)

    def slope(x, u):
        eaten = x[0] * x[1] / (1.0 + x[0])
        return np.array([x[0] * (1.0 - x[0] / 3.0) * u - eaten, 0.8 * eaten - 0.4 * x[1]])

    return u, integrate(slope, np.array([1.0, 1.0]), u, dt=0.3)


# name: the system, rows to train on, records of them, noise in parts of each output's deviation,
# share of outputs missing
KINDS: dict[str, tuple[System, int, int, float, float]] = {
    "oscillator": (oscillator, 20_000, 1, 0.01, 0.0),
    "sandwich": (sandwich, 8_000, 1, 0.01, 0.0),
    "hysteresis": (hysteresis, 6_000, 1, 0.01, 0.0),
    "titration": (titration, 1_000, 1, 0.03, 0.0),
    "reactor": (reactor, 1_500, 1, 0.03, 0.0),
    "linear_plant": (linear_plant, 600, 1, 0.1, 0.0),
    "dead_time": (dead_time, 800, 1, 0.03, 0.0),
    "pendulum": (pendulum, 1_000, 1, 0.03, 0.0),
    "limit_cycle": (limit_cycle, 120, 12, 0.03, 0.0),
    "servo": (servo, 20_000, 1, 0.01, 0.0),
    "backlash": (backlash, 800, 1, 0.03, 0.0),
    "many_inputs": (many_inputs, 600, 1, 0.05, 0.0),
    "predator": (predator, 800, 1, 0.03, 0.0),
    "few_rows": (titration, 150, 1, 0.03, 0.0),
    "much_noise": (titration, 1_000, 1, 0.7, 0.0),
    "missing": (titration, 1_000, 1, 0.03, 0.3),
}


FREE = {"complexity": "free", "folds": 0, "restarts": 16, "members": 4}
SIZES = {
    "p10": {"inducing": 10, "iterations": 2000},
    "p20": {"inducing": 20, "iterations": 2000},
    "p40": {"inducing": 40, "iterations": 2000},
    "p10b40": {"inducing": 10, "iterations": 2000, "batch": 40},
    "p10long": {"inducing": 10, "iterations": 4000},
    "p20long": {"inducing": 20, "iterations": 4000},
}


def data(name: str, runs_more: int = 0) -> tuple[list, list]:
    """Records to train on, and one or more to predict; `runs_more` of these come last."""
    from prssm import Record

    system, rows, count, noise, missing = KINDS[name]
    rng = np.random.default_rng(sum(map(ord, name)))
    others = np.random.default_rng([sum(map(ord, name)), 1])
    length = max(rows // 4, 1000) if count == 1 else rows
    runs = [system(rng, rows) for _ in range(count)]
    fresh = [system(rng, length) for _ in range(1 if count == 1 else 4)]
    more = [system(others, length) for _ in range(runs_more)]
    spread = noise * np.concatenate([y.reshape(len(y), -1) for _, y in runs]).std(axis=0)

    def measured(run, holes, rng):
        u, y = run
        y = y.reshape(len(y), -1)
        y = y + spread * rng.normal(size=y.shape)
        return Record(u, np.where(rng.random(y.shape) < holes, np.nan, y), name=name)

    train = [measured(run, missing, rng) for run in runs]
    unseen = [measured(run, 0.0, rng) for run in fresh]
    return train, unseen + [measured(run, 0.0, others) for run in more]


def error_of(model: Any, fresh: list) -> float:
    """Root mean square error after the warm-up, in units of the outputs' deviations."""
    errors = np.concatenate(
        [(run.mean - run.measured)[model.warmup :] for run in model.simulate(fresh)]
    )
    return float(np.sqrt(np.mean((errors / model.scaler_.y_std) ** 2)))


def free(name: str, sizes: str) -> dict:
    from prssm import PRSSM

    train, fresh = data(name)
    return {
        "task": name,
        "sizes": sizes,
        "error": error_of(PRSSM(**(FREE | SIZES[sizes])).fit(train), fresh),
    }


def study(name: str) -> dict:
    from prssm import PRSSM
    from prssm.models.constant import Constant
    from prssm.models.linear_ssm import LinearSSM

    train, fresh = data(name)
    record: dict = {"task": name, "noise": KINDS[name][3]}
    for label, model in {"constant": Constant(), "linear": LinearSSM(), "prssm": PRSSM()}.items():
        begun = time.perf_counter()
        model.fit(train)
        fitted = time.perf_counter()
        score = model.evaluate(fresh)
        record[label] = {
            "error": error_of(model, fresh),
            "inside": score["coverage_2sigma"],
            "log_likelihood": score["log_likelihood_scaled"],
            "fit_s": round(fitted - begun, 1),
            "score_s": round(time.perf_counter() - fitted, 1),
            "stride": model.stride_,
            "findings": dict(model.findings()),
        }
    return record


def page(records: list[dict]) -> str:
    head = [
        "",
        "rows",
        "noise",
        "constant",
        "linear",
        "`default`",
        "inside 2 sigma",
        "log-likelihood",
        "linear's",
        "chosen",
    ]
    lines = [head, ["---"] * len(head)]
    for record in records:
        ours = record["prssm"]
        linear = record["linear"]
        _, rows, count, noise, _ = KINDS[record["task"]]
        lines.append(
            [
                record["task"],
                f"{count} x {rows}" if count > 1 else str(rows),
                f"{noise:.2g}",
                f"{record['constant']['error']:.3f}",
                f"{linear['error']:.3f}",
                f"{ours['error']:.3f}",
                f"{ours['inside']:.2f}",
                f"{ours['log_likelihood']:.2f}",
                f"{linear['log_likelihood']:.2f}",
                "`"
                + ours["findings"].get("Complexity", "?").split(" ")[0]
                + "`"
                + (f", {ours['stride']} rows a step" if ours["stride"] > 1 else ""),
            ]
        )
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--out", type=Path, default=Path("runs/kinds"))
    parser.add_argument(
        "--docs", type=Path, help="only write the table of what is there into this page"
    )
    parser.add_argument(
        "--free",
        nargs="+",
        choices=list(SIZES),
        help="only print errors of the free level, with these sizes",
    )
    options = parser.parse_args()
    if options.free:
        for name, sizes in product(options.tasks, options.free):
            print(json.dumps(free(name, sizes)), flush=True)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    paths = {name: options.out / f"{name}.json" for name in KINDS}
    if options.docs:
        records = [json.loads(path.read_text()) for path in paths.values() if path.exists()]
        options.docs.write_text(with_section(options.docs.read_text(), "kinds", page(records)))
        return
    for name in options.tasks:
        if not paths[name].exists():
            paths[name].write_text(json.dumps(study(name), indent=1))
            print(paths[name].read_text(), flush=True)


if __name__ == "__main__":
    main()
