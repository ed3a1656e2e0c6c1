"""One contract, every method: what a user may rely on, whatever the mathematics inside."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import prssm
from prssm.foundation.errors import DataError, NotFittedError, OptionError
from prssm.models.registry import METHODS, method

# Small settings, so that each method fits in a moment; a method that is not named runs with its
# defaults.
FAST = {
    "prssm": {
        "latent_dim": 2,
        "inducing": 4,
        "samples": 3,
        "batch": 2,
        "horizon": 20,
        "recognition_window": 8,
        "recognition_hidden": 4,
        "iterations": 3,
        "restarts": 2,
        "simulation_samples": 8,
        "complexity": "free",
        "folds": 0,
    },
    "linear": {"order": 2},
    "revarb1": {"lags": 2, "inducing": 6, "fixed_iterations": 2, "iterations": 3},
    "revarb2": {"lags": 2, "inducing": 6, "fixed_iterations": 2, "iterations": 3},
    "gp-narx": {"lags": 2, "inducing": 8, "iterations": 5, "restarts": 1},
    "ss-gp-ssm": {
        "iterations": 6,
        "particles": 5,
        "n_basis_x": 3,
        "n_basis_u": 2,
        "posterior_samples": 3,
        "simulation_samples": 8,
    },
    "nigp": {"lags": 2, "iterations": 5, "rounds": 2},
    "msgp": {
        "lags": 2,
        "inducing": 6,
        "horizon": 10,
        "batch": 2,
        "iterations": 3,
        "start_iterations": 5,
    },
}


def build(name, **options):
    return method(name)(**(FAST.get(name, {}) | options))


def system(length, inputs=1, outputs=1, seed=0):
    """A stable second-order system, noisily measured."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(length, inputs))
    x = np.zeros(2)
    y = np.empty((length, outputs))
    for t in range(length):
        y[t] = x.sum() * np.arange(1, outputs + 1) + 0.05 * rng.normal(size=outputs)
        drive = u[t].sum() if inputs else rng.normal()
        x = np.array([0.8 * x[0] + 0.2 * x[1] + drive, -0.3 * x[0] + 0.7 * x[1]])
    return prssm.Record(u if inputs else None, y, 0.1)


# Of one length, wherever the length does not matter: each other one is compiled anew.
ROWS = 60
SHORT = 50


def record_of(length, seed):
    """A record for the model of the fixture `fitted`."""
    return system(length, inputs=2, outputs=2, seed=seed)


def training_data():
    """All that a method must cope with: experiments of different length, missing outputs."""
    whole = record_of(40, seed=0)
    record = record_of(ROWS, seed=3)
    holes = np.array(record.y)
    holes[10:14] = np.nan
    holes[20:22, 1] = np.nan
    return [whole, prssm.Record(record.u, holes, 0.1)]


@pytest.fixture(scope="module", params=sorted(METHODS))
def fitted(request):
    return build(request.param).fit(training_data())


def test_fit_returns_the_estimator_and_results_end_in_underscore(fitted):
    assert fitted.scaler_ is not None
    assert fitted.input_names_ == ("u1", "u2")
    assert fitted.output_names_ == ("y1", "y2")


def test_simulation_has_shape_and_positive_spread(fitted):
    run = fitted.simulate(record_of(ROWS, seed=1))
    assert run.mean.shape == run.std.shape == (ROWS, 2)
    assert np.isfinite(run.mean).all()
    assert (run.std > 0).all()
    lower, upper = run.interval(0.9)
    assert (lower < upper).all()


def test_outputs_after_the_warm_up_are_never_read(fitted):
    record = record_of(ROWS, seed=1)
    other = np.array(record.y)
    other[fitted.warmup :] += 100.0
    seen = fitted.simulate(record)
    changed = fitted.simulate(prssm.Record(record.u, other, 0.1))
    np.testing.assert_array_equal(seen.mean, changed.mean)
    np.testing.assert_array_equal(seen.std, changed.std)


def test_a_saved_model_simulates_the_same(fitted, tmp_path):
    record = record_of(ROWS, seed=1)
    again = prssm.load(fitted.save(tmp_path / "model.prssm"))
    assert type(again) is type(fitted)
    assert again.get_params() == fitted.get_params()
    np.testing.assert_array_equal(again.simulate(record).mean, fitted.simulate(record).mean)
    np.testing.assert_array_equal(again.simulate(record).std, fitted.simulate(record).std)


def test_a_run_says_how_far_it_is_from_what_was_seen(fitted, tmp_path):
    record = record_of(ROWS, seed=1)
    far = prssm.Record(8.0 * record.u, record.y, 0.1)
    run = fitted.free_runs([far])[0]
    assert run.distance.shape == (ROWS,)
    assert np.isfinite(run.distance).all()
    seen = np.concatenate([one.u for one in training_data()])
    beyond = (far.u > seen.max(axis=0)) | (far.u < seen.min(axis=0))
    assert run.outside[beyond.any(axis=1)].all()
    near = fitted.free_runs([training_data()[0]])[0]
    assert np.median(near.distance) < np.median(run.distance)
    again = prssm.load(fitted.save(tmp_path / "model.prssm")).free_runs([far])[0]
    np.testing.assert_array_equal(again.distance, run.distance)


def test_score_pools_records_and_simulate_takes_lists(fitted):
    records = [record_of(ROWS, seed=1), record_of(SHORT, seed=2)]
    assert [len(run) for run in fitted.simulate(records)] == [ROWS, SHORT]
    scores = fitted.evaluate(records)
    assert {"rmse", "fit_percent", "log_likelihood", "coverage_95"} <= scores.keys()
    assert all(np.isfinite(value) for value in scores.values())


def test_no_experiment_is_lost_in_any_form(fitted):
    first = record_of(ROWS, seed=1)
    second = record_of(SHORT, seed=2)
    whole = fitted.simulate([first, second])
    forms = {
        "tuple of records": ((first, second),),
        "list of pairs": ([(first.u, first.y), (second.u, second.y)],),
        "list of inputs and list of outputs": ([first.u, second.u], [first.y, second.y]),
        "pair of lists": (([first.u, second.u], [first.y, second.y]),),
    }
    for form, data in forms.items():
        runs = fitted.simulate(*data)
        assert isinstance(runs, list), form
        for run, expected in zip(runs, whole, strict=True):
            np.testing.assert_array_equal(run.mean, expected.mean, err_msg=form)
    assert [len(run) for run in fitted.simulate([first.u, second.u])] == [ROWS, SHORT]
    assert len(fitted.simulate((first,))) == 1
    for data in ((first,), (first.u, first.y), ((first.u, first.y),)):
        np.testing.assert_array_equal(fitted.simulate(*data).mean, whole[0].mean)


def test_inputs_alone_and_missing_outputs_can_be_simulated(fitted):
    record = record_of(ROWS, seed=1)
    holes = np.array(record.y)
    holes[3] = np.nan
    for data in (record.u, prssm.Record(record.u, None), prssm.Record(record.u, holes)):
        assert np.isfinite(fitted.simulate(data).mean).all()


def test_predictions_ahead_take_measurements_in(fitted):
    record = record_of(ROWS, seed=1)
    near = fitted.predict(record, horizon=1)
    far = fitted.predict(record, horizon=5)
    assert near.mean.shape == near.std.shape == (ROWS, 2)
    assert (near.std > 0).all()
    assert (far.std > 0).all()
    later = np.array(record.y)
    later[40:] += 1.0
    told = prssm.Record(record.u, later, 0.1)
    for horizon, run in ((1, near), (5, far)):
        again = fitted.predict(told, horizon=horizon)
        np.testing.assert_array_equal(again.mean[: 40 + horizon], run.mean[: 40 + horizon])
        if fitted.name != "constant":
            assert (again.mean[40 + horizon] != run.mean[40 + horizon]).all()
    np.testing.assert_array_equal(fitted.predict(record), fitted.simulate(record).mean)


def test_an_observer_knows_what_the_filter_knows(fitted):
    record = record_of(ROWS, seed=1)
    holes = np.array(record.y)
    holes[[0, 20, 21]] = np.nan
    holes[30, 0] = np.nan
    found = fitted.filter(prssm.Record(record.u, holes, 0.1))
    observer = fitted.observer()
    for row in range(ROWS):
        observer.update(record.u[row], None if row == 20 else holes[row])
    np.testing.assert_allclose(observer.output.mean, found.mean[-1], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(observer.output.std, found.std[-1], rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(observer.innovation.value, found.innovation[-1], rtol=1e-6)
    np.testing.assert_allclose(observer.log_likelihood, found.log_likelihood, rtol=1e-6)
    ahead = observer.forecast(np.zeros((3, 2)))
    assert ahead.mean.shape == (3, 2)
    assert np.isfinite(ahead.std).all()
    assert np.isfinite(fitted.smooth(record).std).all()
    assert fitted.residuals(record, lags=5).autocorrelation.shape == (5, 2)


def test_wrong_columns_are_refused(fitted):
    with pytest.raises(DataError, match="1 inputs, but the model was trained with 2"):
        fitted.simulate(system(ROWS, inputs=1, outputs=2))
    with pytest.raises(DataError, match="3 outputs, but the model was trained with 2"):
        fitted.evaluate(system(ROWS, inputs=2, outputs=3))


@pytest.mark.parametrize("name", METHODS)
def test_clone_manners(name):
    """What scikit-learn's clone does: rebuild from get_params and expect the very same objects."""
    model = build(name, seed=10**6 + 1)  # an object of its own, unlike small numbers
    given = model.get_params(deep=False)
    assert given["seed"] == 10**6 + 1
    kept = type(model)(**given).get_params(deep=False)
    assert kept.keys() == given.keys()
    assert [key for key in given if kept[key] is not given[key]] == []
    assert model.set_params(seed=3).get_params()["seed"] == 3
    with pytest.raises(OptionError, match="Did you mean 'seed'"):
        model.set_params(sede=3)
    with pytest.raises(OptionError, match="unknown preset 'papre'"):
        type(model)("papre")
    assert type(model).__name__ in repr(model)


@pytest.mark.parametrize("name", METHODS)
def test_before_fit_there_is_a_clear_error(name):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        build(name).simulate(system(30))


def test_equal_seeds_give_equal_models(fitted):
    record = record_of(ROWS, seed=1)
    first = fitted.simulate(record)
    second = build(fitted.name).fit(training_data()).simulate(record)
    np.testing.assert_array_equal(first.mean, second.mean)
    np.testing.assert_array_equal(first.std, second.std)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("inputs", [0, 1])  # two are those of `fitted`
def test_any_number_of_inputs(name, inputs):
    model = build(name).fit(system(ROWS, inputs))
    run = model.simulate(system(ROWS, inputs, seed=2))
    assert run.mean.shape == (ROWS, 1)
    assert np.isfinite(run.mean).all()
    ahead = model.predict(system(ROWS, inputs, seed=2), horizon=2)
    assert np.isfinite(ahead.mean).all()
    assert (ahead.std > 0).all()
    assert np.isfinite(run.std).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_with_named_columns(frame):
    record = system(60)
    data = frame({"valve": record.u[:, 0], "flow": record.y[:, 0], "t": 0.1 * np.arange(60)})
    model = prssm.Constant().fit(data, inputs=["valve"], outputs=["flow"], time="t")
    assert (model.input_names_, model.output_names_) == (("valve",), ("flow",))
    assert model.dt_ == pytest.approx(0.1)
    np.testing.assert_allclose(model.simulate(data).measured, record.y)
    assert (
        model.simulate(data[["valve"]] if frame is pd.DataFrame else data.select("valve")).measured
        is None
    )


def test_a_model_beats_nothing_with_the_wrong_data():
    record = system(60)
    with pytest.raises(DataError, match="input column 'u' is constant"):
        prssm.Constant().fit(np.ones(60), record.y)
    with pytest.raises(DataError, match="no outputs"):
        prssm.Constant().fit(prssm.Record(record.u, None))
    with pytest.raises(DataError, match="u has 60 rows, y has 59"):
        prssm.Constant().fit(record.u, record.y[:-1])
