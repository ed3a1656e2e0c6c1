"""How long to train: free-run error on the last quarter of each TRAINING part, by number of iterations.

    PRSSM_DATA=... python benchmarks/choose_iterations.py [--restarts 40] [--group 8] [--out runs/iterations.json]

Test parts are never read. Restarts are trained once on the first three quarters; at each count of iterations they are
divided into groups, and the member of each group with the best training ELBO is scored, as `fit` would choose it.
"""

import argparse
import json
import time
from pathlib import Path

import jax
import numpy as np

from prssm import PRSSM, datasets
from prssm.data import windows
from prssm.foundation.precision import double_precision
from prssm.models.elbo import Objective, TrainingData
from prssm.models.prssm import create_starts
from prssm.training.optimise import Schedule, advance, final_objective, initial_state

SETS = ("actuator", "ballbeam", "drives", "furnace", "dryer")
COUNTS = (125, 250, 500, 1000, 2000)


def study(name: str, restarts: int, group: int, counts: tuple[int, ...]) -> list[dict]:
    """Held-out error of the chosen restarts of one data set, for each count of iterations."""
    train, _ = datasets.load(name)
    cut = len(train) * 3 // 4
    fitting, held_out = train[:cut], train[cut:]
    shell = PRSSM("paper", iterations=0, restarts=1).fit(fitting)  # brings the scaler and the options
    config = shell.config
    rows = []
    with double_precision():
        data = TrainingData.of(windows.sliding([shell.scaler_.scale(fitting)], config.horizon))
        objective = Objective(config.horizon, config.batch, config.samples, config.recognition_window)
        key_train, key_final = jax.random.split(jax.random.key(1000))
        state = initial_state(create_starts(config.replace(seed=1000, restarts=restarts), 1, 1))
        for count in counts:
            begun = time.perf_counter()
            while state["iteration"] < count:
                state = advance(objective, state, data, Schedule(count, config.learning_rate), key_train)
            seconds = time.perf_counter() - begun
            final = final_objective(objective, state, data, key_final)
            final[np.asarray(state["alive_until"]) >= 0] = -np.inf
            chosen = [start + int(np.argmax(final[start:start + group])) for start in range(0, restarts, group)]
            scores = [score_member(shell, state["parameters"], member, held_out) for member in chosen]
            row = {"set": name, "iterations": count, "seconds": round(seconds, 1),
                   **{key: round(float(np.mean([score[key] for score in scores])), 4)
                      for key in ("rmse", "nrmse", "log_likelihood_scaled", "coverage_2sigma")}}
            print(row, flush=True)
            rows.append(row)
    return rows


def score_member(shell: PRSSM, parameters: object, member: int, held_out: object) -> dict[str, float]:
    shell.model_ = jax.tree.map(lambda array: array[member], parameters)
    return shell.score(held_out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--restarts", type=int, default=40)
    parser.add_argument("--group", type=int, default=8)
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--out", type=Path, default=Path("runs/iterations.json"))
    options = parser.parse_args()
    rows = [row for name in options.sets for row in study(name, options.restarts, options.group, tuple(options.counts))]
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(rows, indent=1))
    for count in options.counts:
        mean = np.mean([row["nrmse"] for row in rows if row["iterations"] == count])
        print(f"{count} iterations: mean scaled RMSE on held-out training data {mean:.4f}")


if __name__ == "__main__":
    main()
