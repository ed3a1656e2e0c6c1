"""The GP-NARX estimator: it learns, it says how sure it is, and its free run starts as it
promises.
"""

import numpy as np
import pytest

import prssm
from prssm.evaluation.benchmark.plan import Experiment, variant_of
from prssm.foundation.errors import OptionError

FAST = {"lags": 2, "inducing": 15, "iterations": 60, "restarts": 2}


def bent_system(length, seed=0, noise=0.03):
    """y+ = 0.7 y - 0.2 y_ + tanh(2 u) + noise that stays in the system: a NARX system."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.uniform(-1, 1, length // 4 + 1), 4)[:length]
    y = np.zeros(length)
    for t in range(2, length):
        y[t] = 0.7 * y[t - 1] - 0.2 * y[t - 2] + np.tanh(2 * u[t - 1]) + noise * rng.normal()
    return prssm.Record(u, y)


@pytest.fixture(scope="module")
def learnt():
    return prssm.GPNARX(**FAST).fit(bent_system(200))


def test_learns_a_narx_system_and_its_noise(learnt):
    scores = learnt.evaluate(bent_system(300, seed=1))
    stationary = 0.03 * 1.4  # deviation of the noise's response: the best that a free run can do
    assert scores["rmse"] < 1.6 * stationary
    one_step = [
        learnt.simulate(bent_system(300, seed=1)[t : t + 10]).std[2, 0] for t in range(0, 200, 20)
    ]
    # FITC may split it into noise and its own approximation
    assert np.median(one_step) == pytest.approx(0.03, rel=0.35)
    assert 0.85 < scores["coverage_95"] <= 1.0


def test_given_rows_are_reproduced_and_later_rows_predicted(learnt):
    record = bent_system(60, seed=2)
    run = learnt.simulate(record)
    np.testing.assert_allclose(run.mean[:2], record.y[:2], rtol=1e-9, atol=1e-12)
    assert learnt.lags_ == 2
    assert learnt.warmup == 16
    assert np.abs(run.mean[2:16] - record.y[2:16]).min() > 1e-9


def test_rows_after_the_lags_do_not_matter_when_nothing_is_missing(learnt):
    record = bent_system(60, seed=2)
    changed = np.array(record.y)
    changed[2:] += 5.0
    moved = learnt.simulate(prssm.Record(record.u, changed))
    np.testing.assert_array_equal(learnt.simulate(record).mean[2:], moved.mean[2:])


def test_without_outputs_the_start_is_as_uncertain_as_the_training_data(learnt):
    record = bent_system(60, seed=2)
    run = learnt.simulate(record.u)
    spread = np.hypot(1.0, learnt.model_.process_std[0]) * learnt.scaler_.y_std[0]
    np.testing.assert_allclose(run.std[:2, 0], spread, rtol=1e-9)
    assert run.std[3, 0] > 2 * run.std[-1, 0]  # the start is forgotten


def test_samples_have_the_moments_that_are_reported(learnt):
    run = learnt.simulate(bent_system(40, seed=2), samples=4000)
    assert run.samples.shape == (4000, 40, 1)
    assert (np.abs(run.samples.mean(axis=0) - run.mean) < 5 * run.std / np.sqrt(4000)).all()
    assert np.allclose(run.samples.std(axis=0), run.std, rtol=5 / np.sqrt(2 * 4000))


def test_uncertainty_grows_through_the_window_only_with_moment_matching(learnt):
    record = bent_system(60, seed=2)
    matched = learnt.simulate(record).std[2:]
    mean_only = prssm.GPNARX(**FAST, propagation="mean")
    mean_only.model_ = learnt.model_
    mean_only.scaler_ = learnt.scaler_
    mean_only.dt_ = None
    mean_only.input_names_ = learnt.input_names_
    mean_only.output_names_ = learnt.output_names_
    assert mean_only.simulate(record).std[2:].mean() < 0.9 * matched.mean()
    assert matched[0] == pytest.approx(mean_only.simulate(record).std[2], rel=1e-6)


def test_unnormalised_data_of_any_scale():
    record = bent_system(150)
    test = bent_system(150, seed=1)
    scaled = [prssm.Record(50 * r.u, 20 * r.y + 100) for r in (record, test)]
    raw = prssm.GPNARX(**FAST, normalise=False).fit(scaled[0])
    assert raw.evaluate(scaled[1])["rmse"] < 20 * 0.08


def test_the_kept_restart_has_the_best_evidence(learnt):
    log = learnt.training_
    assert log.objective_name == "log marginal likelihood"
    assert log.final.shape == (2,)
    assert log.kept == np.argmax(log.final)
    assert (np.diff(log.objective, axis=1) >= 0).all()


def test_the_benchmark_takes_the_papers_lags_unless_told():
    assert Experiment("dryer", variant_of("gp-narx"), 0).variant.configuration()["lags"] == 2
    assert Experiment("actuator", variant_of("gp-narx"), 0).variant.configuration()["lags"] == 10
    assert Experiment("dryer", variant_of("gp-narx:lags=4"), 0).variant.configuration()["lags"] == 4
    assert Experiment("dryer", variant_of("gp-narx"), 0).variant.label == "gp-narx"
    assert Experiment("dryer", variant_of("constant"), 0).variant == variant_of("constant")


def test_wrong_options_are_named():
    with pytest.raises(
        OptionError, match="propagation: 'moments' is not one of moment-matching, mean"
    ):
        prssm.GPNARX(propagation="moments")
