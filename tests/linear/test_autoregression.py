"""Least squares on past outputs and inputs, as a linear system."""

import numpy as np

from prssm.data.lag_windows import regression
from prssm.data.record import Record
from prssm.linear.autoregression import Autoregression
from prssm.linear.system import spectral_radius

A = np.array([[[0.9, 0.1], [0.0, 0.7]], [[-0.4, 0.0], [0.2, -0.1]]])  # lags, Dy, Dy
B = np.array([[[1.0], [0.5]], [[-0.3], [0.2]]])
STD = 0.05


def driven(rows: int, seed: int = 0, coefficients: np.ndarray = A, std: float = STD) -> Record:
    """y_t = A_1 y_{t-1} + A_2 y_{t-2} + B_1 u_{t-1} + B_2 u_{t-2} + e_t."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal((rows, 1))
    y = np.zeros((rows, 2))
    for t in range(2, rows):
        parts = (coefficients[k] @ y[t - 1 - k] + B[k] @ u[t - 1 - k] for k in range(2))
        y[t] = sum(parts) + std * rng.standard_normal(2)
    return Record(u, y)


def test_the_system_has_the_impulse_response_of_the_coefficients():
    found = Autoregression.fit([driven(4000)], most_lags=3)
    assert found.lags == 2
    expected = [np.zeros((2, 1)), B[0]]
    for _ in range(6):
        before = expected[-2:]
        now = A[0] @ before[1] + A[1] @ before[0]
        expected.append(now + (B[1] if len(expected) == 2 else 0.0))
    # The inputs have variance 1: a coefficient's standard error is at most STD / sqrt(rows) here.
    np.testing.assert_allclose(found.system.markov(8), expected, atol=8 * STD / np.sqrt(4000))
    np.testing.assert_allclose(found.std, STD, rtol=5 / np.sqrt(2 * 4000))


def test_its_states_hand_the_past_on_to_the_next_output():
    """Whatever the past, C x of the next row is what the regression foretells."""
    record = driven(60, seed=1)
    found = Autoregression.fit([record], most_lags=2)
    data = regression([record], 2)
    normal = data.x.T @ data.x + 1e-8 * len(data.x) * np.eye(6)
    foretold = data.x @ np.linalg.solve(normal, data.x.T @ data.y)
    system = found.system
    x = np.zeros(4)
    for t in range(len(record)):
        if t >= 2:
            np.testing.assert_allclose(system.C @ x, foretold[t - 2], atol=1e-9)
        x[:2] = record.y[t]  # the outputs are the first states
        x = system.A @ x + system.B @ record.u[t]


def test_forecasts_do_not_grow_and_lags_are_bounded():
    growing = np.array([np.diag([1.05, 0.5]), np.zeros((2, 2))])
    found = Autoregression.fit([driven(150, coefficients=growing)], most_lags=1)
    assert found.lags == 1
    assert spectral_radius(found.system.A) < 1.0
