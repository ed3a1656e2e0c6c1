"""The linear prior mean: it finds a linear system exactly, in coordinates where the outputs come
first.
"""

import numpy as np

from prssm.data.record import Record
from prssm.linear.output_coordinates import fit_linear_mean

A = np.array([[0.8, 0.3, 0.0], [-0.2, 0.7, 0.1], [0.0, 0.1, 0.5]])
B = np.array([[0.0], [1.0], [0.5]])


def free_run(length, seed, outputs):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(length, 1))
    x = rng.normal(size=3)
    y = np.empty((length, outputs))
    for t in range(length):
        y[t] = x[:outputs]
        x = A @ x + B @ u[t]
    return Record(u, y)


def test_a_linear_system_is_found_exactly():
    for outputs in (1, 2):
        records = [free_run(150, 0, outputs), free_run(100, 1, outputs)]
        mean = fit_linear_mean(records, 3, seed=0)
        np.testing.assert_allclose(
            np.sort(np.linalg.eigvals(mean.F)), np.sort(np.linalg.eigvals(A)), atol=1e-4
        )
        for record in [*records, free_run(80, 2, outputs)]:
            np.testing.assert_allclose(mean.states(record)[:, :outputs], record.y, atol=1e-3)


def test_hidden_states_are_uncorrelated_with_unit_deviation():
    records = [free_run(150, 0, 1), free_run(100, 1, 1)]
    mean = fit_linear_mean(records, 3, seed=0)
    x = np.concatenate([mean.states(record) for record in records])
    second = x.T @ x / len(x)
    np.testing.assert_allclose(second[1:, 1:], np.eye(2), atol=1e-6)
    np.testing.assert_allclose(second[0, 1:], 0.0, atol=1e-6)


def test_missing_outputs_are_left_out():
    record = free_run(150, 0, 1)
    holes = np.array(record.y)
    holes[20:30] = np.nan
    mean = fit_linear_mean([Record(record.u, holes)], 3, seed=0)
    np.testing.assert_allclose(
        mean.states(Record(record.u, holes))[:, 0], record.y[:, 0], atol=2e-2
    )
