"""A model that takes one step over many rows: the same as one of thinned data, at every row."""

import numpy as np
import pytest

import prssm
from prssm.data.resample import thinned
from prssm.models.linear_ssm import LinearSSM
from prssm.models.prssm.stepping.stepper import Stepper


def slow_lag(rows=2500, seed=0, noise=0.0):
    """y' = (u - y) / 300 rows, exactly, with inputs that change every 40 rows."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.normal(size=rows // 20), 40)[:rows]
    y = np.zeros(rows)
    decay = np.exp(-1 / 300)
    for t in range(1, rows):
        y[t] = decay * y[t - 1] + (1.0 - decay) * u[t - 1]
    return prssm.Record(u, y + noise * rng.normal(size=rows), dt=0.01)


@pytest.fixture(scope="module")
def fitted():
    return LinearSSM(stride=5, order=1).fit(slow_lag())


def test_it_is_the_model_of_thinned_data(fitted):
    record = slow_lag()
    slow = LinearSSM(order=1, stride=1).fit(thinned(record, 5))
    assert fitted.A_[0, 0] == pytest.approx(slow.A_[0, 0], abs=1e-4)  # other scales of the inputs
    assert fitted.A_[0, 0] == pytest.approx(np.exp(-5 / 300), abs=2e-4)


def test_predictions_are_at_every_row_and_right(fitted):
    fresh = slow_lag(rows=503, seed=1)
    run = fitted.simulate(fresh, samples=50)
    assert run.mean.shape == run.std.shape == (503, 1)
    assert run.warmup == fitted.warmup == 5 * 16
    assert run.samples.shape == (50, 503, 1)
    np.testing.assert_allclose(run.samples.std(axis=0), run.std, rtol=1e-6)
    assert np.sqrt(np.mean((run.mean - fresh.y) ** 2)) < 0.01 * fresh.y.std()


def test_it_sees_no_more_than_the_warm_up(fitted):
    fresh = slow_lag(rows=503, seed=1)
    y = np.array(fresh.y)
    y[fitted.warmup :] = 1e6
    np.testing.assert_array_equal(
        fitted.simulate(fresh.u, y).mean, fitted.simulate(fresh.u, fresh.y).mean
    )


def test_files_keep_it_and_reports_tell_it(fitted, tmp_path):
    back = prssm.load(fitted.save(tmp_path / "model.prssm"))
    assert back.stride_ == 5
    np.testing.assert_array_equal(back.simulate(slow_lag()).mean, fitted.simulate(slow_lag()).mean)
    assert "5 rows" in dict(fitted.findings())["Rate"]


def test_prssm_chooses_it_from_the_data_and_steps_over_as_many_rows():
    record = slow_lag(noise=1e-3)
    model = prssm.PRSSM(
        complexity="linear",
        folds=0,
        restarts=1,
        members=1,
        iterations=0,
        linear_order=1,
        latent_dim=1,
        inducing=2,
        batch=2,
        horizon=20,
        recognition_hidden=2,
    ).fit(record)
    assert model.stride_ == 2  # as 2500 rows allow
    assert model.warmup == 2 * 16
    stepper = model.stepper()
    x = stepper.start(record.u[:32], record.y[:32])
    outputs = []
    slow = thinned(record[:32], 2)
    np.testing.assert_allclose(x, Stepper(model.mixture_, model.scaler_).start(slow.u, slow.y))
    for t in range(0, 1000, 2):
        step = stepper(x, record.u[t : t + 2].mean(axis=0))
        x = step.state
        outputs.append(step.output)
    run = model.simulate(record[:1000], samples=400)
    # Samples without process noise differ by their first states; their mean is the run from the
    # mean of those.
    np.testing.assert_allclose(np.array(outputs)[50:], run.mean[100::2], atol=0.02 * record.y.std())
    with pytest.warns(prssm.PrssmWarning, match="30 rows, but the state .* found from 32"):
        model.simulate(record[:30])


def test_the_papers_preset_takes_every_row():
    assert prssm.PRSSM("paper").config.stride == 1
    assert prssm.PRSSM().config.stride is None
