"""jax-sysid: the residual recurrent network of its README, several seeds, chosen as there.

Settings of the README: five neurons for states and outputs, 1e-4 on parameters and first state,
1000 epochs of Adam and 1000 of L-BFGS, scaled data, the best of several seeds by `find_best_model`.
The README leaves the number of states open: 2, 4 and 6 compete on the held-out tail.
"""

import adapter
import jax
import jax.numpy as jnp
import numpy as np
from jax_sysid.models import Model
from jax_sysid.utils import standard_scale

STATES = (2, 4, 6)
SEEDS = (0, 1, 2)
NEURONS = 5


def train(choice, u, y):
    states, seed = choice
    y_scaled, *y_scale = standard_scale(y)
    u_scaled, *u_scale = standard_scale(u)
    model = Model(states, y.shape[1], u.shape[1], state_fcn=next_state, output_fcn=output)
    model.init(params=first_parameters(states, u.shape[1], y.shape[1], seed=seed))
    model.loss(rho_x0=1e-4, rho_th=1e-4)
    model.optimization(adam_epochs=1000, lbfgs_epochs=1000, iprint=-1)
    model.fit(y_scaled, u_scaled)
    return model, u_scale, y_scale


def sigmoid(v):
    return 1.0 / (1.0 + jnp.exp(-v))


@jax.jit
def next_state(x, u, params):
    A, B, _, W1, W2, W3, b1, b2, *_ = params
    return A @ x + B @ u + W3 @ sigmoid(W1 @ x + W2 @ u + b1) + b2


@jax.jit
def output(x, u, params):
    C, W4, W5, b3, b4 = params[2], *params[8:]
    return C @ x + W5 @ sigmoid(W4 @ x + b3) + b4


def first_parameters(states, inputs, outputs, seed):
    rng = np.random.RandomState(seed)
    return [
        0.5 * np.eye(states),
        0.1 * rng.randn(states, inputs),
        0.1 * rng.randn(outputs, states),
        0.1 * rng.randn(NEURONS, states),
        0.5 * rng.randn(NEURONS, inputs),
        0.5 * rng.randn(states, NEURONS),
        np.zeros(NEURONS),
        np.zeros(states),
        0.5 * rng.randn(NEURONS, states),
        0.5 * rng.randn(outputs, NEURONS),
        np.zeros(NEURONS),
        np.zeros(outputs),
    ]


def simulate(found, u, y_start):
    model, (u_mean, u_gain), (y_mean, y_gain) = found
    u = (u - u_mean) * u_gain
    y = (y_start - y_mean) * y_gain
    first = model.learn_x0(u[: len(y)], y, verbosity=False)
    run, _ = model.predict(first, u)
    return np.asarray(run) / y_gain + y_mean


def fit(task):
    choices = [(states, seed) for seed in SEEDS for states in STATES]
    choice = adapter.best_of(task, choices, train, simulate)
    return train(choice, task.u, task.y), f"{choice[0]} states"


if __name__ == "__main__":
    adapter.main(fit, simulate)
