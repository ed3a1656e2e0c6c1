r"""What the default preset and its levels are worth on data they have not seen.

    PRSSM_DATA=... python studies/generalisation.py --variants choice --out runs/generalisation
    python studies/generalisation_report.py runs/generalisation \
        --docs docs/accuracy.md --figure docs/figures/coverage.png

Test parts of recordings are never read. A task is the training part of a recording, whose last
third is predicted from the first two, or a simulated system. All restarts are run over what is to
be predicted, those of the folds over their held-out stretches too, and all runs written down, so
that rules for choosing, mixing and calibrating can be compared without training again.
"""

import argparse
import json
import time
from functools import partial
from pathlib import Path

import numpy as np

_FREE = {"complexity": "free", "folds": 0, "restarts": 16, "members": 16}
_CORRELATED = _FREE | {"complexity": "correlated"}
_HELD = _FREE | {"complexity": "held", "restarts": 32}  # of which it takes half
# before fewer inducing points and longer training
_OLD = {"inducing": 20, "batch": 10, "iterations": 1000}
_SMALL = _OLD | {"latent_dim": 4, "samples": 10}
_SIX = _OLD | {"latent_dim": 6, "samples": 4}
_LONG = {"iterations": 2000}
VARIANTS: dict[str, dict] = {
    "choice": {},
    "base": _FREE | _SMALL,
    "step": _FREE | _SMALL | {"draws": "step"},
    "long": _FREE | _SMALL | {"iterations": 2000},
    "steplong": _FREE | _SMALL | {"iterations": 2000, "draws": "step"},
    "n50": _FREE | _SMALL | {"samples": 50},
    "stepn4": _FREE | _SMALL | {"samples": 4, "draws": "step"},
    "dx6": _FREE | _SMALL | {"latent_dim": 6},
    "dx6step": _FREE | _SMALL | {"latent_dim": 6, "draws": "step"},
    "dx6stepn4": _FREE | {"latent_dim": 6, "samples": 4, "draws": "step"},
    "dx8step": _FREE | _SMALL | {"latent_dim": 8, "draws": "step"},
    "small": _FREE | _SMALL | {"signal_std": 0.1},
    "warm25": _FREE | _SMALL | {"kl_warmup": 0.25},
    "p40": _FREE | _SMALL | {"inducing": 40},
    "h50": _FREE | _SMALL | {"horizon": 50},
    "lr05": _FREE | _SMALL | {"learning_rate": 0.05},
    "predictive": _FREE | _SMALL | {"likelihood": "predictive"},
    "corr": _CORRELATED | _SMALL,
    "corrstep": _CORRELATED | _SMALL | {"draws": "step"},
    "dx6corrstep": _CORRELATED | _SMALL | {"latent_dim": 6, "draws": "step"},
    "held": _HELD | _SMALL,
    "heldstep": _HELD | _SMALL | {"draws": "step"},
    "six": _FREE | _SIX,
    "sixlong": _FREE | _SIX | _LONG,
    "sixsteplong": _FREE | _SIX | _LONG | {"draws": "step"},
    "sixlr05long": _FREE | _SIX | _LONG | {"learning_rate": 0.05},
    "sixh200": _FREE | _SIX | {"horizon": 200},
    "sixb30": _FREE | _SIX | {"batch": 30},
    "sixp10": _FREE | _SIX | {"inducing": 10},
    "sixp6": _FREE | _SIX | {"inducing": 6},
    "sixp10long": _FREE | _SIX | _LONG | {"inducing": 10},
    "sixp10b30n2": _FREE | _SIX | {"inducing": 10, "batch": 30, "samples": 2},
    "sixn2b20long": _FREE | _SIX | _LONG | {"batch": 20, "samples": 2},
    "now": _FREE,
    "sixcorr": _CORRELATED | _SIX,
    "sixcorrp10long": _CORRELATED | _SIX | _LONG | {"inducing": 10},
    "nowcorr": _CORRELATED,
    "nowheld": _HELD | {"restarts": 16},
    "nowheldprior1": _HELD | {"restarts": 16, "prior_std": 0.1},
    "nowheldcorr": _HELD | {"restarts": 16, "complexity": "held-correlated"},
}
_TRAJECTORIES = 40  # of each restart


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


def _two(name, system, rows, seed, test=1000):
    from prssm import Record

    rng = np.random.default_rng(seed)
    u, y = system(rng, rows + test + 50)
    u = u[50:].reshape(rows + test, -1)
    y = y[50:].reshape(rows + test, -1)
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


def _simulated(name, rows, seed):
    from prssm.data.simulators import simulate

    return simulate(name, rows, 1, seed), simulate(name, 1000, 1, seed + 100)


RECORDINGS = ("actuator", "ballbeam", "drives", "furnace", "dryer", "cascaded_tanks", "ced")
TASKS = (
    {name: partial(_recording, name) for name in RECORDINGS}
    | {f"{name}_whole": partial(_whole, name) for name in RECORDINGS}
    | {
        "ced1": partial(_drive, 0),
        "ced2": partial(_drive, 1),
        "duffing": lambda: _two("duffing", _duffing, 600, seed=1),
        "drift": lambda: _two("drift", _drift, 300, seed=2),
        "valve": lambda: _two("valve", _valve, 500, seed=3),
        "quad": lambda: _two("quad", _quad, 500, seed=4),
        "drives_sim": lambda: _simulated("drives_sim", 400, 1),
        "tanks_sim": lambda: _simulated("tanks_sim", 600, 1),
    }
)


def study(name: str, variant: str, seed: int, out: Path) -> dict:
    """Fits one task and writes the record, with the runs of all restarts."""
    from prssm import PRSSM
    from prssm.foundation.precision import double_precision
    from prssm.models.prssm import estimator

    train, unseen = TASKS[name]()
    caught: dict = {}
    choose = estimator.choose
    estimator.choose = lambda trained, *rest: choose(caught.setdefault("trained", trained), *rest)
    begun = time.perf_counter()
    try:
        model = PRSSM("default", **({"seed": seed} | VARIANTS[variant])).fit(train)
    finally:
        estimator.choose = choose
    record = {
        "task": name,
        "variant": variant,
        "seed": seed,
        "seconds": round(time.perf_counter() - begun, 1),
        "steps": sum(len(part) for part in train),
        "level": model.level_,
        "held_out": model.held_out_,
        "factor": model.calibration_.factor.tolist(),
        "score": model.score(unseen),
    }
    with double_precision():
        arrays = _all_runs(caught["trained"], [model.scaler_.scale(part) for part in unseen])
    if variant == "choice":
        arrays |= _linear_run(train, unseen)
    np.savez_compressed(out / f"{name}-{variant}-{seed}.npz", record=json.dumps(record), **arrays)
    return record


def _linear_run(train, unseen) -> dict:
    """`linear_mean` and `linear_std` (rows, Dy), scaled, of the method `linear`: what there is to
    beat.
    """
    from prssm.models.linear_ssm import LinearSSM

    model = LinearSSM().fit(train)
    runs = model.simulate(unseen)
    scaler = model.scaler_
    return {
        "linear_mean": (np.concatenate([run.mean for run in runs]) - scaler.y_mean) / scaler.y_std,
        "linear_std": np.concatenate([run.std for run in runs]) / scaler.y_std,
    }


def _all_runs(trained, unseen) -> dict:
    """`mean` and `var` (restarts, rows, Dy) over the unseen records; `LEVEL.FOLD.range` says which
    restarts are whose, and `LEVEL.FOLD.h...` are the runs of these over their held-out stretches
    (fold -1 has none).
    """
    import jax

    mean, var = _runs(trained, trained.models, unseen)
    arrays = {
        "y": np.concatenate([record.y for record in unseen]),
        "mean": mean,
        "var": var,
        "final": trained.log.final,
    }
    folds: list = []
    for group in trained.groups:
        label = f"{group.level.name}.-1"
        if group.fold is not None:
            folds += [] if group.fold in folds else [group.fold]
            label = f"{group.level.name}.{folds.index(group.fold)}"
            part = jax.tree.map(lambda array, at=group.restarts: array[at], trained.models)
            arrays[f"{label}.hmean"], arrays[f"{label}.hvar"] = _runs(
                trained, part, group.fold.held_out_records
            )
            arrays[f"{label}.hy"] = np.concatenate(
                [record.y for record in group.fold.held_out_records]
            )
        arrays[f"{label}.range"] = np.array([group.restarts.start, group.restarts.stop])
    return {
        name: array.astype(np.float32) if array.dtype == float and name != "final" else array
        for name, array in arrays.items()
    }


def _runs(trained, models, records) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances (restarts, rows, Dy) of the free runs of every restart over all
    records.
    """
    import jax

    from prssm.models.prssm.mixture import Mixture, _free_runs

    means = []
    variances = []
    for record in records:
        first = Mixture(models, trained.window, trained.draws).first_states(
            record.u, record.y[: trained.window]
        )
        _, outputs, _, noise = _free_runs(
            models, *first, record.u, jax.random.key(0), _TRAJECTORIES, trained.draws
        )
        outputs = np.asarray(outputs)
        means.append(outputs.mean(axis=3))
        variances.append(outputs.var(axis=3, ddof=1) + np.asarray(noise)[:, None])
    return np.concatenate(means, axis=1), np.concatenate(variances, axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--variants", nargs="+", default=["choice"], choices=list(VARIANTS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("runs/generalisation"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for variant in options.variants:
        for name in options.tasks:
            if not (options.out / f"{name}-{variant}-{options.seed}.npz").exists():
                print(json.dumps(study(name, variant, options.seed, out=options.out)), flush=True)


if __name__ == "__main__":
    main()
