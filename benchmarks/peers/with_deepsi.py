"""deepSI: the SUBNET encoder network of its README, trained until the time is over.

Settings of the README (batches of 256, a check on the held-out tail every 100 iterations, 10,000
iterations) and of `fit` (50 steps at once). Its example knows that there are two states; here 2, 4
and 6 compete on the held-out tail, each with a third of the time. The encoder reads 16 rows.
"""

import time

import adapter
import deepSI as dsi
import numpy as np
import torch
from deepSI.fitting import compute_NMSE

STATES = (2, 4, 6)
ITERATIONS = 10_000
STEPS = 50
BATCH = 256


def train(states, task, seconds):
    whole = dsi.Input_output_data(u=task.u, y=task.y)
    shown, held_out = whole[: task.cut], whole[task.cut :]
    torch.manual_seed(0)
    inputs, outputs, norm = dsi.get_nu_ny_and_auto_norm(shown)
    model = dsi.SUBNET(inputs, outputs, norm, nx=states, nb=task.start, na=task.start)
    windows = task.cut - task.start - STEPS
    check = clock(seconds)
    found = dsi.fit(
        model,
        shown,
        held_out,
        n_its=ITERATIONS,
        T=STEPS,
        batch_size=min(BATCH, windows),
        val_freq=100,
        loss_fun=check,
        val_fun=check,
    )
    return found["best_model"]


def clock(seconds):
    """Its own error of a model, and Ctrl-C when time is over: `fit` then keeps the best so far."""
    end = time.monotonic() + seconds
    checks = []

    def check(*arguments):
        if checks and time.monotonic() > end:
            raise KeyboardInterrupt
        checks.append(None)
        return compute_NMSE(*arguments)

    return check


def simulate(model, u, y_start):
    y = np.zeros((len(u), y_start.shape[1]))  # what follows the first rows is not read
    y[: len(y_start)] = y_start
    shape = (-1, *(() if model.ny is None else (model.ny,)))
    data = dsi.Input_output_data(u=u, y=y.reshape(shape))
    with torch.no_grad():
        run = model.simulate(data).y
    return np.asarray(run).reshape(len(u), -1)


def fit(task):
    each = task.left / len(STATES)
    models = {states: train(states, task, each) for states in STATES}
    errors = {
        states: adapter.held_out_error(task, model, simulate) for states, model in models.items()
    }
    best = min(errors, key=lambda states: errors[states])
    return models[best], f"{best} states"


if __name__ == "__main__":
    adapter.main(fit, simulate)
