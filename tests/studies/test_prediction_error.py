"""The study of prediction errors: its estimate and its conversions against known systems."""

import numpy as np
from prediction_error import (
    METHODS,
    SHIPPED,
    autoregression,
    page,
    prediction_error,
    predictor,
    simulator,
    where_clearly_better,
    with_offset,
)

from prssm.data.record import Record
from prssm.linear.output_error import Identification
from prssm.linear.system import MAX_RADIUS, LinearSystem

TRUTH = LinearSystem(
    np.array([[0.9, 0.2], [-0.1, 0.7]]),
    np.array([[0.3], [1.0]]),
    np.array([[1.0, 0.4]]),
    D=np.zeros((1, 1)),
    offset=np.zeros(1),
)
GAIN = np.array([[1.0], [0.5]])


def disturbed(rows: int, gain: np.ndarray, seed: int = 0) -> Record:
    """x' = A x + B u + K e, y = C x + e."""
    random = np.random.default_rng(seed)
    u = np.repeat(random.standard_normal(rows), 3)[:rows, None]
    e = 0.3 * random.standard_normal((rows, 1))
    x = np.zeros(2)
    y = np.zeros((rows, 1))
    for t in range(rows):
        y[t] = TRUTH.C @ x + e[t]
        x = TRUTH.A @ x + TRUTH.B @ u[t] + gain @ e[t]
    return Record(u, y)


def far(system: LinearSystem) -> float:
    return float(np.linalg.norm(system.markov(40) - TRUTH.markov(40)))


def test_a_predictor_and_its_system_are_converted_exactly() -> None:
    u = np.random.default_rng(1).standard_normal((50, 1))
    y = disturbed(50, GAIN).y
    D = np.array([[0.5]])
    found = LinearSystem(
        TRUTH.A - GAIN @ TRUTH.C,
        np.concatenate([TRUTH.B - GAIN @ D, GAIN], axis=1),
        TRUTH.C,
        D=np.concatenate([D, np.zeros((1, 1))], axis=1),
        offset=np.zeros(1),
    )
    system = simulator(found, 1)
    np.testing.assert_allclose(system.A, TRUTH.A, atol=1e-12)
    np.testing.assert_allclose(system.B, TRUTH.B, atol=1e-12)
    # one row ahead: the predictor is the system that its own errors correct
    ahead, _ = found.simulate(np.zeros(2), np.concatenate([u, y], axis=1))
    x = np.zeros(2)
    for t in range(50):
        by_hand = system.C @ x + system.D @ u[t]
        np.testing.assert_allclose(ahead[t], by_hand, atol=1e-10)
        x = system.A @ x + system.B @ u[t] + GAIN @ (y[t] - by_hand)


def test_where_noise_moves_the_state_the_estimate_is_better_than_output_error() -> None:
    """It finds K, and its error falls as the root of the rows grows: to 0.35 for eight times.

    Eight times as many rows, that is; chance is left some room.
    """
    errors: dict[int, np.ndarray] = {}
    for rows in (500, 4000):
        gains = []
        pairs = []
        for seed in range(4):
            record = [disturbed(rows, GAIN, seed)]
            start = Identification(record).best(2, starts=1, random_starts=0)
            gains.append(predictor(record, start, MAX_RADIUS).markov(4)[1:, 0, 1])
            pairs.append((far(prediction_error(record, start, MAX_RADIUS)), far(start)))
        errors[rows] = np.mean(pairs, axis=0)
    assert errors[4000][0] < 0.6 * errors[500][0]
    assert errors[500][0] + errors[4000][0] < 0.85 * (errors[500][1] + errors[4000][1])
    powers = [np.linalg.matrix_power(TRUTH.A - GAIN @ TRUTH.C, k) for k in range(3)]
    expected = [float((TRUTH.C @ power @ GAIN).item()) for power in powers]
    # one record of 4000 rows has deviations of 0.02, 0.03 and 0.01
    np.testing.assert_allclose(np.mean(gains, axis=0), expected, atol=0.05)


def test_without_such_noise_both_agree() -> None:
    record = [disturbed(1500, 0.0 * GAIN)]
    start = Identification(record).best(2, starts=1, random_starts=0)
    found = prediction_error(record, start, MAX_RADIUS)
    assert np.abs(found.markov(40) - start.markov(40)).max() < 0.1 * np.abs(start.markov(40)).max()


def test_the_filter_that_makes_errors_white_is_found() -> None:
    random = np.random.default_rng(2)
    errors = np.zeros((3000, 2))
    for t in range(1, 3000):
        errors[t] = 0.9 * errors[t - 1] + random.standard_normal(2) * [1.0, 5.0]
    errors[100:110] = np.nan
    np.testing.assert_allclose(autoregression([errors]), [1.0, -0.9], atol=0.03)
    assert len(autoregression([random.standard_normal((3000, 1))])) == 1


def test_the_offset_is_that_of_output_error() -> None:
    record = disturbed(300, 0.0 * GAIN)
    raised = [Record(record.u, record.y + 0.02)]
    found = Identification(raised).best(2, starts=1, random_starts=0)
    again = with_offset(found, raised)
    np.testing.assert_allclose(again.offset, found.offset, rtol=0.02)


def test_the_table_counts_what_stretches_tell() -> None:
    def row(error: float, gain: list[float]) -> dict:
        held_out = {name: [0.0] * 6 for name in METHODS}
        held_out["prediction error"] = [-each for each in gain]
        errors = dict.fromkeys(METHODS, 1.0) | {"prediction error": error}
        return {"kind": "arm", "number": 0, "errors": errors, "held_out": held_out}

    sure = row(0.8, [0.1, 0.2, 0.1, 0.2, 0.1, 0.2])
    unsure = row(1.25, [0.6, -0.6, 0.6, -0.6, 0.6, 0.0])
    assert where_clearly_better(sure, "prediction error") == 0.8
    assert where_clearly_better(unsure, "prediction error") == sure["errors"][SHIPPED]
    lines = {
        line.split("|")[1].strip(): line.split("|")[2:5]
        for line in page([sure, unsure]).splitlines()
    }
    always = [cell.strip() for cell in lines["prediction error, always"]]
    assert always == ["1.000", "1.25", "1 : 1"]
    chosen = [cell.strip() for cell in lines["prediction error, if clearly better"]]
    assert chosen == [f"{np.sqrt(0.8):.3f}", "1.00", "1 : 0"]
