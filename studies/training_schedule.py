r"""How long and how to train PR-SSM: training ELBO and held-back error by schedule.

    PRSSM_DATA=... PYTHONPATH=src python studies/training_schedule.py \
        [--sets drives furnace] [--restarts 16]

A quarter of each training part is held back. Test parts are never read, and recorded rows are not
run again. All restarts train on the first three quarters of the training part. They are divided
into groups, and of each group the member with the best training ELBO is taken, as `fit` takes it;
the figures are means over the groups.
"""

import argparse
import time
from itertools import product
from pathlib import Path

import jax
import numpy as np

from prssm import PRSSM, datasets
from prssm.data import windows
from prssm.evaluation.jobs.results import Results
from prssm.foundation.precision import double_precision
from prssm.models.prssm.elbo import Objective, TrainingData
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.starts.start import Starts
from prssm.training.optimise import Schedule, advance, final_objective, initial_state

SETS = ("actuator", "ballbeam", "drives", "furnace", "dryer")
# iterations, step size at start and end, fraction with KL warm-up, gradient norm a step
SCHEDULES = {
    "constant step": (1000, 0.05, 0.05, 0.0, np.inf),
    "cosine": (1000, 0.05, 0.0005, 0.0, np.inf),
    "cosine, clip": (1000, 0.05, 0.0005, 0.0, 10.0),
    "cosine, clip, KL warm-up, 250": (250, 0.05, 0.0005, 0.5, 10.0),
    "cosine, clip, KL warm-up, 500": (500, 0.05, 0.0005, 0.5, 10.0),
    "cosine, clip, KL warm-up, 1000": (1000, 0.05, 0.0005, 0.5, 10.0),
    "cosine, clip, KL warm-up, 2000": (2000, 0.05, 0.0005, 0.5, 10.0),
}
GROUP = 8


def study(name: str, schedule: str, restarts: int) -> dict:
    """One schedule on one data set."""
    train, _ = datasets.load(name)
    cut = len(train) * 3 // 4
    # brings the scaler and the options
    shell = PRSSM("paper", iterations=0, restarts=1).fit(train[:cut])
    config = shell.config
    iterations, rate, final_rate, warmup, clip = SCHEDULES[schedule]
    with double_precision():
        data = TrainingData.of(windows.sliding([shell.scaler_.scale(train[:cut])], config.horizon))
        objective = Objective(
            config.horizon, config.batch, config.samples, window=config.recognition_window
        )
        key_train, key_final = jax.random.split(jax.random.key(1000))
        state = initial_state(Starts(config.replace(seed=1000), [train]).create("free", restarts))
        plan = Schedule(
            iterations, rate, final_rate, ramp=round(warmup * iterations), clip=clip * cut
        )
        begun = time.perf_counter()
        while state["iteration"] < iterations:
            state = advance(objective, state, data, plan, key_train)
        seconds = time.perf_counter() - begun
        elbo = final_objective(objective, state, data, key=key_final)
    elbo[(np.asarray(state["alive_until"]) >= 0) | ~np.isfinite(elbo)] = -np.inf
    chosen = [
        start + int(np.argmax(elbo[start : start + GROUP])) for start in range(0, restarts, GROUP)
    ]
    scores = []
    for member in chosen:
        models = jax.tree.map(
            lambda array, member=member: np.asarray(array)[[member]], state["parameters"]
        )
        shell.mixture_ = Mixture(models, shell.warmup, config.draws)
        scores.append(shell.evaluate(train[cut:]))
    means = {
        key: round(float(np.mean([score[key] for score in scores])), 4)
        for key in ("nrmse", "log_likelihood_scaled")
    }
    return {
        "set": name,
        "schedule": schedule,
        "seconds": round(seconds, 1),
        "elbo": round(float(np.mean(elbo[chosen])), 1),
        **means,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--restarts", type=int, default=16)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--schedules", nargs="+", default=list(SCHEDULES), choices=list(SCHEDULES))
    parser.add_argument("--out", type=Path, default=Path("runs/schedules.jsonl"))
    options = parser.parse_args()
    results = Results(options.out.parent, options.out.name)
    for name, schedule in product(options.sets, options.schedules):
        print(results.once(study, name, schedule, options.restarts), flush=True)


if __name__ == "__main__":
    main()
