r"""What the default preset is worth on data it has not seen; test parts are never read.

    PRSSM_DATA=... python studies/generalisation.py --variants now --out runs/generalisation
    python studies/generalisation.py --report-only --against before --out runs/generalisation

A task is the training part of a recording, whose last third is predicted from the first two, or a
simulated system. A variant is the preset with some options changed. The record of a fit holds its
scores on the unseen data, those of the linear model, and for every level after every round
(`PRSSM.restarts_`) its held-out error beside its error on the unseen data. The choice between them
is the one that ships. Recorded rows are not run again.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

# Options of the preset that differ.
VARIANTS: dict[str, dict] = {
    "now": {},
    "one-round": {"first_round": 1.0},
    "p8": {"inducing": 8},
    "p12": {"inducing": 12},
    "short": {"first_round": 0.3},
    "wide": {"batch": 32, "samples": 1},
    "old-batch": {"batch": 20},
    "few": {"iterations": 1000},
    "h200": {"horizon": 200},
}
# The fourteen tasks that tables have.
FOURTEEN = (
    *("actuator", "ballbeam", "drives", "furnace", "dryer", "cascaded_tanks", "ced1", "ced2"),
    *("duffing", "drift", "valve", "quad", "drives_sim", "tanks_sim"),
)


def _recording(name: str) -> tuple[list, list]:
    from prssm import datasets
    from prssm.data.splits import ends, split

    train, _ = datasets.load(name)
    train = train if isinstance(train, list) else [train]
    cut = 2 / 3 if name != "furnace" else 7 / 8  # short, and its folds need their length
    return split(train, ends(train, cut))


def _whole(name: str) -> tuple[list, list]:
    """All of the training part; nothing is unseen, only the held-out errors tell anything."""
    from prssm import datasets

    train, _ = datasets.load(name)
    train = train if isinstance(train, list) else [train]
    return train, train


def _steps(rng, length, hold, low=-1.0, high=1.0):
    return np.repeat(rng.uniform(low, high, length), rng.integers(1, hold, length))[:length]


def _drive(series: int) -> tuple[list, list]:
    """As many rows as the Drives set has to train on, of drives with another excitation; none of
    their test part.
    """
    from prssm import datasets

    record = datasets.load("ced")[0][series]
    return [record[:250]], [record[250:]]


def _made(name: str, rows: int, seed: int) -> list:
    """One record of a system that is written out below."""
    from prssm import Record

    u, y = SYSTEMS[name].run(np.random.default_rng(seed), rows + SETTLING)
    u = u[SETTLING:].reshape(rows, -1)
    y = y[SETTLING:].reshape(rows, -1)
    return [Record(u, y, name=name)]


def _two(name: str) -> tuple[list, list]:
    """What there is to learn from, and the rest of the same run."""
    system = SYSTEMS[name]
    record = _made(name, system.rows + UNSEEN_ROWS, system.seed)[0]
    return [record[: system.rows]], [record[system.rows :]]


def _duffing(rng, length):
    u = rng.normal(size=length)
    u = np.convolve(u, np.ones(4) / 2, "same")
    x = v = 0.0
    y = np.zeros(length)
    for t in range(length):
        y[t] = x
        for _ in range(5):
            v += 0.06 * (u[t] - 0.3 * v - x - 0.8 * x**3)
            x += 0.06 * v
    return u, y + 0.02 * rng.normal(size=length)


def _drift(rng, length):
    u = _steps(rng, length, 12)
    y = np.zeros(length)
    d = np.zeros(length)
    for t in range(2, length):
        y[t] = 1.5 * y[t - 1] - 0.58 * y[t - 2] + 0.1 * u[t - 2]
        d[t] = 0.95 * d[t - 1] + 0.06 * rng.normal()
    return u, y + d + 0.02 * rng.normal(size=length)


def _valve(rng, length):
    u = _steps(rng, length, 15, low=-2, high=2)
    w = np.tanh(1.5 * u) + 0.2 * u**2
    y = np.zeros(length)
    for t in range(4, length):
        y[t] = 1.6 * y[t - 1] - 0.66 * y[t - 2] + 0.06 * w[t - 4]
    return u, y + 0.03 * rng.normal(size=length)


def _quad(rng, length):
    u = np.stack(
        [_steps(rng, length, 25, low=0.5, high=2), _steps(rng, length, 25, low=0.5, high=2)], axis=1
    )
    h = np.full(4, 1.0)
    y = np.zeros((length, 2))
    for t in range(length):
        y[t] = h[:2]
        for _ in range(4):
            q = 0.9 * np.sqrt(np.maximum(h, 0))
            h = h + 0.03 * np.array(
                [
                    0.6 * u[t, 0] + q[2] - q[0],
                    0.6 * u[t, 1] + q[3] - q[1],
                    0.4 * u[t, 1] - q[2],
                    0.4 * u[t, 0] - q[3],
                ]
            )
    return u, y + 0.01 * rng.normal(size=y.shape)


class System(NamedTuple):
    """A simulated system that a task has: how it runs, rows to learn from, seed of its noise."""

    run: Callable
    rows: int
    seed: int


SYSTEMS = {
    "duffing": System(_duffing, 600, 1),
    "drift": System(_drift, 300, 2),
    "valve": System(_valve, 500, 3),
    "quad": System(_quad, 500, 4),
}
SIMULATORS = {"drives_sim": 400, "tanks_sim": 600}  # of the package, and rows to learn from
UNSEEN_ROWS = 1000
SETTLING = 50  # rows that a run leaves out at its start
FRESH = 1000  # first seed of further runs


def _simulated(name: str) -> tuple[list, list]:
    from prssm.data.simulators import simulate

    return simulate(name, SIMULATORS[name], 1, 1), simulate(name, UNSEEN_ROWS, 1, 101)


def fresh_runs(name: str, runs: int, rows: int) -> list:
    """Further records of a task's system, like its unseen one; none of a recording."""
    from prssm.data.simulators import simulate

    if name in SYSTEMS:
        return [record for k in range(runs) for record in _made(name, rows, FRESH + k)]
    if name in SIMULATORS:
        return simulate(name, rows, runs, FRESH)
    return []


RECORDINGS = ("actuator", "ballbeam", "drives", "furnace", "dryer", "cascaded_tanks", "ced")
TASKS = (
    {name: partial(_recording, name) for name in RECORDINGS}
    | {f"{name}_whole": partial(_whole, name) for name in RECORDINGS}
    | {
        "ced1": partial(_drive, 0),
        "ced2": partial(_drive, 1),
    }
    | {name: partial(_two, name) for name in SYSTEMS}
    | {name: partial(_simulated, name) for name in SIMULATORS}
)


def study(name: str, variant: str, seed: int) -> dict:
    """One task with one variant of the preset."""
    from prssm import PRSSM

    train, unseen = TASKS[name]()
    begun = time.perf_counter()
    model = PRSSM("default", seed=seed, **VARIANTS[variant]).fit(train)
    seconds = time.perf_counter() - begun
    return {
        "task": name,
        "variant": variant,
        "seed": seed,
        "seconds": round(seconds, 1),
        "level": model.level_,
        "held_out": model.held_out_,
        "factor": model.calibration_.factor.tolist(),
        "score": model.evaluate(unseen),
        "linear": linear_score(train, unseen),
        "candidates": [
            {
                "level": one.level.name,
                "round": one.round,
                "held_out": one.held_out.typical,
                "unseen": candidate_error(model, one, unseen),
            }
            for one in model.restarts_.candidates()
        ],
    }


def linear_score(train: list, unseen: list) -> dict:
    """What there is to beat."""
    from prssm import LinearSSM

    return LinearSSM().fit(train).evaluate(unseen)


def candidate_error(model, candidate, unseen: list) -> float:
    """Root mean square error on the unseen data, scaled, of one level after one round."""
    trained = model.restarts_
    mixture = trained.mixture(candidate.round, trained.final(candidate.level, candidate.round))
    errors = []
    for record in map(model.scaler_.scale, unseen):
        run = mixture.run(record.u, record.y[: trained.window], 200, 0, quick=True)
        errors.append(record.y - run.mean)
    return float(np.sqrt(np.nanmean(np.concatenate(errors) ** 2)))


def table(rows: list[dict], against: str) -> str:
    """A Markdown table of a variant's errors relative to another's, by task, with their mean.

    The mean is the geometric one.
    """
    found: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        found.setdefault((row["variant"], row["task"]), []).append(row["score"]["rmse"])
    variants = sorted({variant for variant, _ in found} - {against})
    tasks = [task for task in FOURTEEN if (against, task) in found]
    lines = ["| | " + " | ".join([against, *variants]) + " |", "|---" * (len(variants) + 2) + "|"]
    mean = {key: float(np.mean(values)) for key, values in found.items()}
    for task in tasks:
        cells = [mean.get((variant, task)) for variant in (against, *variants)]
        shown = ("not run" if cell is None else f"{cell:.4g}" for cell in cells)
        lines.append(f"| {task} | " + " | ".join(shown) + " |")
    means = []
    for variant in variants:
        ratios = [
            mean[variant, task] / mean[against, task] for task in tasks if (variant, task) in mean
        ]
        means.append(f"{np.exp(np.mean(np.log(ratios))):.3f}")
    lines.append("| geometric mean of the ratios | 1 | " + " | ".join(means) + " |")
    lines += [_row_of("inside 2 sigma", rows, [against, *variants], "coverage_2sigma")]
    lines += [_row_of("log-likelihood", rows, [against, *variants], "log_likelihood_scaled")]
    return "\n".join(lines)


def _row_of(title: str, rows: list[dict], variants: list[str], metric: str) -> str:
    """The mean over all tasks."""
    means = [
        np.mean([row["score"][metric] for row in rows if row["variant"] == variant])
        for variant in variants
    ]
    return f"| {title} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=list(FOURTEEN), choices=list(TASKS))
    parser.add_argument("--variants", nargs="+", default=["now"], choices=list(VARIANTS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/generalisation"))
    parser.add_argument(
        "--against", default="now", help="the variant that others are compared with"
    )
    parser.add_argument("--report-only", action="store_true", help="run nothing")
    options = parser.parse_args()
    from prssm.evaluation.jobs.results import Results

    results = Results(options.out, "generalisation.jsonl")
    if not options.report_only:
        for variant in options.variants:
            for name in options.tasks:
                for seed in range(options.seeds):
                    row = results.once(study, name, variant, seed)
                    print(
                        row["task"],
                        row["variant"],
                        row["seconds"],
                        row["score"]["rmse"],
                        flush=True,
                    )
    print(table(list(results.records.values()), options.against))


if __name__ == "__main__":
    main()
