"""prssm itself, with its defaults: `PRSSM()`, or with the word `linear` its `LinearSSM()`.

PRSSM gets the same time as the others as its budget where the data are long.
"""

import sys

import adapter
import numpy as np

import prssm

_LONG = 2000  # rows; a default fit of fewer needs no budget


def fit(task):
    record = prssm.Record(task.u, task.y)
    if sys.argv[4:] == ["linear"]:
        model = prssm.LinearSSM().fit(record)
        return model, f"order {model.order_}"
    budget = task.left if len(record) > _LONG else None
    model = prssm.PRSSM().fit(record, budget=budget)
    return model, f"level {model.level_}, {model.config_.latent_dim} states"


def simulate(model, u, y_start):
    y = np.full((len(u), y_start.shape[1]), np.nan)
    y[: len(y_start)] = y_start
    return model.free_runs(prssm.Record(u, y))[0].mean


if __name__ == "__main__":
    adapter.main(fit, simulate)
