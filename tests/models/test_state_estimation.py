"""filter, smooth, predict and residuals of a fitted model, in the data's own units."""

import numpy as np
import pytest
from small_spaces import linear_space, simulated

import prssm
from prssm.foundation.errors import DataError, NotFittedError, OptionError, PrssmWarning
from prssm.inference.filtering import filter_rows
from prssm.inference.noise_search import NoiseFactors, log_likelihoods, most_likely
from prssm.inference.spaces.linear_space import Noises
from prssm.models.prssm.filtering.noises import trained_noises, untold_noises

PROCESS_STD = 0.3
OUTPUT_STD = 0.2


def disturbed(rows: int, seed: int = 0, stretch: int = 1) -> prssm.Record:
    """x' = 0.9 x + u + w, y = x + e; inputs change every `stretch` rows."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.standard_normal(-(-rows // stretch)), stretch)[:rows]
    x = 0.0
    y = np.empty(rows)
    for t in range(rows):
        y[t] = 5.0 + 2.0 * (x + OUTPUT_STD * rng.standard_normal())
        x = 0.9 * x + u[t] + PROCESS_STD * rng.standard_normal()
    return prssm.Record(u, y, 0.1)


@pytest.fixture(scope="module")
def model() -> prssm.LinearSSM:
    return prssm.LinearSSM(order=1, starts=1, random_starts=0).fit(disturbed(500))


def test_noises_by_likelihood_predict_as_well_as_the_true_ones(model):
    """The best one-step error of this system is that of the steady Kalman filter."""
    P = 0.3
    for _ in range(200):
        P = 0.81 * (P - P**2 / (P + OUTPUT_STD**2)) + PROCESS_STD**2
    best = 2.0 * np.sqrt(P + OUTPUT_STD**2)
    record = disturbed(2000, seed=1)
    run = model.predict(record, horizon=1)
    error = np.sqrt(np.mean((run.mean - run.measured)[20:] ** 2))
    assert error < 1.05 * best
    assert run.std[100:].mean() == pytest.approx(best, rel=0.1)
    free = model.simulate(record)
    assert error < 0.7 * np.sqrt(np.mean((free.mean - free.measured) ** 2))
    assert model.residuals(record).white


def test_predictions_far_ahead_become_the_free_run(model):
    record = disturbed(300, seed=2)
    far = model.predict(record, horizon=120)
    free = model.simulate(record)
    np.testing.assert_allclose(far.mean[150:], free.mean[150:], atol=0.02)
    assert (far.std[150:] > model.predict(record, horizon=1).std[150:]).all()
    assert far.label == "120 rows ahead"


def test_smoothing_errs_less_than_filtering_and_that_less_than_predicting(model):
    record = disturbed(400, seed=3)
    holes = np.array(record.y)
    holes[100:110] = np.nan
    gappy = prssm.Record(record.u, holes, 0.1)
    runs = [model.predict(gappy, horizon=1), model.filter(gappy), model.smooth(gappy)]
    errors = [np.abs(run.mean - record.y)[100:110].mean() for run in runs]
    assert errors[2] < errors[1]
    assert np.isnan(runs[1].innovation[100:110]).all()
    assert (runs[1].std[105] > runs[1].std[90]).all()
    assert (runs[2].std[105] < runs[1].std[105]).all()
    assert (runs[1].std <= runs[0].std).all()
    columns = runs[1].to_columns()
    assert {"y_innovation", "y_innovation_std", "state1_mean", "state1_std"} <= columns.keys()


def test_both_filters_serve_a_linear_model_alike(model):
    record = disturbed(60, seed=4)
    for call in ("filter", "smooth"):
        one, other = (
            getattr(model, call)(record, method=name) for name in ("extended", "unscented")
        )
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-8)
        np.testing.assert_allclose(one.std, other.std, rtol=1e-8)


def test_several_records_give_several_answers(model):
    records = [disturbed(40, seed=5), disturbed(50, seed=6)]
    assert [len(run) for run in model.filter(records)] == [40, 50]
    assert [len(run) for run in model.predict(records, horizon=3)] == [40, 50]
    assert [len(mean) for mean in model.predict(records)] == [40, 50]
    assert len(model.residuals(records, lags=5).errors) == 2


@pytest.mark.parametrize("horizon", [1, 2, 3, 7])
def test_a_slow_model_predicts_every_row_from_rows_at_least_so_far_back(horizon):
    record = disturbed(200, seed=7, stretch=8)
    slow = prssm.LinearSSM(order=1, starts=1, random_starts=0, stride=3).fit(record)
    run = slow.predict(record, horizon=horizon)
    assert np.isfinite(run.mean).all()
    changed = np.array(record.y)
    changed[99:] += 5.0
    other = slow.predict(prssm.Record(record.u, changed, 0.1), horizon=horizon)
    first = np.flatnonzero((run.mean != other.mean).any(axis=1))[0]
    assert first >= 99 + horizon
    assert first <= 99 + horizon + 3
    found = slow.filter(record)
    assert found.mean.shape == (200, 1)
    assert np.isnan(found.innovation[1::3]).all()
    assert np.isfinite(found.innovation[::3]).all()
    assert slow.smooth(record).std.shape == (200, 1)


def test_mistakes_are_said(model):
    record = disturbed(30)
    with pytest.raises(OptionError, match="horizon: expected a number of rows of at least 1"):
        model.predict(record, horizon=0)
    with pytest.raises(OptionError, match="horizon: expected a number of rows"):
        model.predict(record, horizon=1.5)
    with pytest.warns(PrssmWarning, match="no row is predicted from a measurement: horizon is 999"):
        model.predict(record, horizon=999)
    with pytest.raises(DataError, match="expected measured outputs, got none"):
        model.filter(prssm.Record(record.u, None))
    with pytest.raises(DataError, match="too few for 20 lags"):
        model.residuals(record)
    for call in (prssm.PRSSM().observer, lambda: prssm.PRSSM().filter(record)):
        with pytest.raises(NotFittedError):
            call()


def test_the_search_finds_what_is_at_least_as_likely_as_the_truth():
    scale = np.array([0.5, 0.4])

    def space(candidates):
        return linear_space(
            *(
                Noises(
                    one.process**2 * np.eye(2),
                    one.sensor * scale,
                    coloured_std=one.coloured * scale,
                    memory=np.full(2, one.memory),
                    second=np.full(2, one.second),
                )
                for one in candidates
            )
        )

    truth = space([NoiseFactors(process=0.1, sensor=0.5, coloured=1.3, memory=0.8, second=0.5)])
    rng = np.random.default_rng(0)
    u = rng.standard_normal((300, 2))
    _, y = simulated(truth, u, rng)

    def likelihood(candidates):
        found = space(candidates)
        return log_likelihoods(found, u, y, belief=found.first())

    best = most_likely(likelihood)
    height = likelihood([best])[0]
    assert height > log_likelihoods(truth, u, y, belief=truth.first())[0] - 3.0
    np.testing.assert_allclose(height, filter_rows(space([best]), u, y).evidence.sum())
    assert most_likely(lambda candidates: np.full(len(candidates), np.nan)) is None


def test_noises_are_kept_in_the_model_file_and_old_files_do_without(model, tmp_path):
    again = prssm.load(model.save(tmp_path / "m.prssm"))
    assert again.noises_ == model.noises_
    values, arrays = model._state()
    del values["noises"]
    again._restore(values, arrays)
    assert again.noises_ == NoiseFactors(sensor=0.0, coloured=1.0)
    assert np.isfinite(again.predict(disturbed(50), horizon=1).mean).all()


def test_trained_noises_are_coloured_where_training_found_a_memory():
    class White:
        def correlation_of(self, xp):
            return xp.zeros((2, 1))

    class Coloured:
        def correlation_of(self, xp):
            return xp.full((2, 1), 0.5)

    assert trained_noises(White()) == NoiseFactors()
    assert trained_noises(Coloured()) == NoiseFactors(sensor=0.0, coloured=1.0)
    assert untold_noises(White()) == NoiseFactors()
    unseen = untold_noises(Coloured())
    assert unseen.sensor > 0.1  # no sensor is perfect
    assert unseen.sensor**2 + unseen.coloured**2 == pytest.approx(1.0)
