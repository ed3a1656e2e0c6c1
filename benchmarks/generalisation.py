"""What each level of the default preset is worth on data it has not seen; test parts of recordings are never read.

    PRSSM_DATA=... python benchmarks/generalisation.py --variants default --out runs/generalisation

A task is the training part of a recording, whose last third is predicted from the first two, or a simulated system. All
restarts of a fit are run over what is to be predicted, and their means and variances written down, so that rules for
choosing and mixing can be compared without training again.
"""

import argparse
import json
import time
from functools import partial
from pathlib import Path

import numpy as np

VARIANTS: dict[str, dict] = {
    "default": {},
    "long": {"iterations": 2000},
    "states6": {"latent_dim": 6},
    "folds4": {"folds": 4},
}


def _recording(name: str) -> tuple[list, list]:
    from prssm import datasets

    train, _ = datasets.load(name)
    train = train if isinstance(train, list) else [train]
    cut = 2 / 3 if name != "furnace" else 7 / 8  # short, and its folds need their length
    cuts = [round(cut * len(record)) for record in train]
    return ([record[:at] for record, at in zip(train, cuts, strict=True)],
            [record[at:] for record, at in zip(train, cuts, strict=True)])


def _whole(name: str) -> tuple[list, list]:
    """All of the training part; nothing is unseen, only the held-out errors tell anything."""
    from prssm import datasets

    train, _ = datasets.load(name)
    train = train if isinstance(train, list) else [train]
    return train, train


def _steps(rng, length, hold, low=-1.0, high=1.0):
    return np.repeat(rng.uniform(low, high, length), rng.integers(1, hold, length))[:length]


def _two(name, system, rows, seed, test=1000):
    from prssm import Record

    rng = np.random.default_rng(seed)
    u, y = system(rng, rows + test + 50)
    u, y = u[50:].reshape(rows + test, -1), y[50:].reshape(rows + test, -1)
    return [Record(u[:rows], y[:rows], name=name)], [Record(u[rows:], y[rows:], name=name)]


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
    y, d = np.zeros(length), np.zeros(length)
    for t in range(2, length):
        y[t] = 1.5 * y[t - 1] - 0.58 * y[t - 2] + 0.1 * u[t - 2]
        d[t] = 0.95 * d[t - 1] + 0.06 * rng.normal()
    return u, y + d + 0.02 * rng.normal(size=length)


def _valve(rng, length):
    u = _steps(rng, length, 15, -2, 2)
    w = np.tanh(1.5 * u) + 0.2 * u**2
    y = np.zeros(length)
    for t in range(4, length):
        y[t] = 1.6 * y[t - 1] - 0.66 * y[t - 2] + 0.06 * w[t - 4]
    return u, y + 0.03 * rng.normal(size=length)


def _quad(rng, length):
    u = np.stack([_steps(rng, length, 25, 0.5, 2), _steps(rng, length, 25, 0.5, 2)], axis=1)
    h = np.full(4, 1.0)
    y = np.zeros((length, 2))
    for t in range(length):
        y[t] = h[:2]
        for _ in range(4):
            q = 0.9 * np.sqrt(np.maximum(h, 0))
            h = h + 0.03 * np.array([0.6 * u[t, 0] + q[2] - q[0], 0.6 * u[t, 1] + q[3] - q[1],
                                      0.4 * u[t, 1] - q[2], 0.4 * u[t, 0] - q[3]])
    return u, y + 0.01 * rng.normal(size=y.shape)


def _simulated(name, rows, seed):
    from prssm.data.simulators import simulate

    return simulate(name, rows, 1, seed), simulate(name, 1000, 1, seed + 100)


RECORDINGS = ("actuator", "ballbeam", "drives", "furnace", "dryer", "cascaded_tanks", "ced")
TASKS = {name: partial(_recording, name) for name in RECORDINGS} | {
    f"{name}_whole": partial(_whole, name) for name in RECORDINGS} | {
    "duffing": lambda: _two("duffing", _duffing, 600, 1),
    "drift": lambda: _two("drift", _drift, 300, 2),
    "valve": lambda: _two("valve", _valve, 500, 3),
    "quad": lambda: _two("quad", _quad, 500, 4),
    "drives_sim": lambda: _simulated("drives_sim", 400, 1),
    "tanks_sim": lambda: _simulated("tanks_sim", 600, 1),
}


def study(name: str, variant: str, seed: int, out: Path) -> dict:
    """Fits one task and writes the record; runs of all levels over the unseen data go with it."""
    from prssm import PRSSM
    from prssm.foundation.precision import double_precision
    from prssm.models import prssm as estimator
    from prssm.models.levels import levels_of

    train, unseen = TASKS[name]()
    caught: dict = {}
    choose = estimator.choose
    estimator.choose = lambda trained, *rest: choose(caught.setdefault("trained", trained), *rest)
    begun = time.perf_counter()
    try:
        model = PRSSM("default", **({"seed": seed} | VARIANTS[variant])).fit(train)
    finally:
        estimator.choose = choose
    record = {"task": name, "variant": variant, "seed": seed, "seconds": round(time.perf_counter() - begun, 1),
              "level": model.level_, "held_out": model.held_out_, "factor": model.calibration_.factor.tolist(),
              "score": model.score(unseen)}
    scaled = [model.scaler_.scale(record) for record in unseen]
    arrays = {"y": np.concatenate([record.y for record in scaled])}
    with double_precision():
        for level in levels_of(model.config.complexity, model.config.prior_std):
            arrays |= _level_runs(caught["trained"], level, scaled)
    np.savez_compressed(out / f"{name}-{variant}-{seed}.npz", record=json.dumps(record), **arrays)
    return record


def _level_runs(trained, level, records) -> dict:
    group = next(group for group in trained.groups if group.level == level and group.fold is None)
    mixture = trained.mixture(trained.members(group))
    runs = [mixture.run(record.u, record.y[: trained.window], 200, 0) for record in records]
    held_out = trained.held_out(level, 0)
    parts = {"mean": [run.mean for run in runs], "std": [run.std for run in runs], "held_out_error": held_out.errors,
             "held_out_std": held_out.stds}
    return {f"{level.name}.{what}": np.concatenate(arrays).astype(np.float32) for what, arrays in parts.items() if arrays}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--variants", nargs="+", default=["default"], choices=list(VARIANTS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/generalisation"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for variant in options.variants:
        for name in options.tasks:
            if not (options.out / f"{name}-{variant}-{options.seed}.npz").exists():
                print(json.dumps(study(name, variant, options.seed, options.out)), flush=True)


if __name__ == "__main__":
    main()
