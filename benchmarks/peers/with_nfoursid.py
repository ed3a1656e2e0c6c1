"""nfoursid: N4SID with a Kalman filter, as in its overview notebook.

Ten block rows as there; it leaves the order to a look at eigenvalues, so here 1 to 10 compete on
the held-out tail. Its Kalman filter takes the first rows in, and the free run goes on from there.
"""

import adapter
import numpy as np
import pandas as pd
from nfoursid.kalman import Kalman
from nfoursid.nfoursid import NFourSID
from nfoursid.state_space import StateSpace

BLOCK_ROWS = 10
ORDERS = range(1, 11)


def train(order, u, y):
    centre = u.mean(axis=0), y.mean(axis=0)
    inputs = [f"u{i}" for i in range(u.shape[1])]
    outputs = [f"y{i}" for i in range(y.shape[1])]
    frame = pd.DataFrame(np.hstack([u - centre[0], y - centre[1]]), columns=inputs + outputs)
    method = NFourSID(
        frame, output_columns=outputs, input_columns=inputs, num_block_rows=BLOCK_ROWS
    )
    method.subspace_identification()
    system, covariance = method.system_identification(rank=order)
    return system, covariance, centre


def simulate(found, u, y_start):
    system, covariance, (u_mean, y_mean) = found
    kalman = Kalman(StateSpace(system.a, system.b, system.c, system.d), covariance)
    for u_row, y_row in zip(u - u_mean, y_start - y_mean, strict=False):
        kalman.step(y_row[:, None], u_row[:, None])
    x = kalman.x_predicteds[-1] if kalman.x_predicteds else np.zeros((system.x_dim, 1))
    model = StateSpace(system.a, system.b, system.c, system.d, x_init=x)
    with np.errstate(over="ignore", invalid="ignore"):
        run = [model.step(row[:, None])[:, 0] for row in u[len(y_start) :] - u_mean]
    return np.concatenate([y_start, np.array(run) + y_mean])


def fit(task):
    order = adapter.best_of(task, ORDERS, train, simulate)
    return train(order, task.u, task.y), f"order {order}"


if __name__ == "__main__":
    adapter.main(fit, simulate)
