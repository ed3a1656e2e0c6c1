"""The yardsticks of prediction are right, and the observer's benchmark measures."""

import arx
import numpy as np
import observer as observer_benchmark
import prediction
import pytest

import prssm


def exact(rows: int) -> prssm.Record:
    """y_t = 1.2 y_{t-1} - 0.5 y_{t-2} + u_{t-1} + 0.3 u_{t-2} + 0.1, without noise."""
    u = np.random.default_rng(0).standard_normal(rows)
    y = np.zeros(rows)
    for t in range(2, rows):
        y[t] = 1.2 * y[t - 1] - 0.5 * y[t - 2] + u[t - 1] + 0.3 * u[t - 2] + 0.1
    return prssm.Record(u, y)


@pytest.mark.parametrize("horizon", [1, 10])
def test_arx_predicts_an_exact_system_exactly(horizon):
    model = arx.ARX(exact(200))
    record = exact(60)
    found = model.predict(record, horizon)
    first = model.lags + horizon - 1
    assert np.isnan(found[:first]).all()
    np.testing.assert_allclose(found[first:], record.y[first:], atol=1e-6)


def test_errors_skip_the_first_rows_and_what_was_not_measured():
    measured = np.zeros((40, 1))
    measured[:32] = 100.0
    measured[35] = np.nan
    run = prssm.Prediction(np.full((40, 1), 0.5), np.full((40, 1), 0.2), measured=measured)
    assert prediction.scores(run) == (0.5, 0.0)


def test_an_observer_of_the_default_size_is_timed():
    one = observer_benchmark.default_observer(members=2, inducing=3)
    assert 0.0 < observer_benchmark.median_microseconds(one, updates=5) < 1e5
    assert one.rows == 5
