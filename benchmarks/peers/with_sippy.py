"""SIPPY: the subspace methods N4SID, MOESP and CVA.

Settings of its `system_identification`: horizon 20, orders 1 to 10; two options are set, for
feedthrough (`SS_D_required`) and stable models (`SS_A_stability`). The method and the order compete
on the held-out tail. Its Kalman gain takes the first rows in, and the free run goes on from there.
"""

import contextlib
import io

import adapter
import numpy as np
from sippy_unipi import system_identification
from sippy_unipi.functionsetSIM import SS_lsim_predictor_form, SS_lsim_process_form

METHODS = ("N4SID", "MOESP", "CVA")
ORDERS = range(1, 11)


def train(choice, u, y):
    method, order = choice
    centre = u.mean(axis=0), y.mean(axis=0)
    with contextlib.redirect_stdout(io.StringIO()):
        model = system_identification(
            (y - centre[1]).T,
            (u - centre[0]).T,
            method,
            SS_fixed_order=order,
            SS_D_required=True,
            SS_A_stability=True,
        )
    return model, centre


def simulate(found, u, y_start):
    model, (u_mean, y_mean) = found
    u = (u - u_mean).T
    y = (y_start - y_mean).T
    rows = y.shape[1]
    first = np.zeros((model.n, 1))
    if rows and len(model.A_K):
        states, _ = SS_lsim_predictor_form(
            model.A_K, model.B_K, model.C, model.D, model.K, y, u[:, :rows]
        )
        first = states[:, -1:]
    with np.errstate(over="ignore", invalid="ignore"):
        _, run = SS_lsim_process_form(model.A, model.B, model.C, model.D, u[:, rows:], first)
    return np.concatenate([y, run], axis=1).T + y_mean


def fit(task):
    choices = [(method, order) for order in ORDERS for method in METHODS]
    choice = adapter.best_of(task, choices, train, simulate)
    return train(choice, task.u, task.y), f"{choice[0]}, order {choice[1]}"


if __name__ == "__main__":
    adapter.main(fit, simulate)
