"""Who is filtered with: an autoregression as a member, errors ahead, and the choice."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from fitted_models import random_prssm, record_for
from still_clock import Clock

import prssm
from prssm.data.lag_windows import regression
from prssm.data.record import Record
from prssm.inference.filtering import ahead, filter_rows, rows_from
from prssm.inference.noise_search import NoiseFactors, prediction_errors
from prssm.models.prssm.config import DEFAULT
from prssm.models.prssm.filtering import choice
from prssm.models.prssm.filtering.autoregressive import autoregressive_member
from prssm.models.prssm.filtering.choice import Speaker, _kept, filter_members, typical_error
from prssm.models.prssm.filtering.members import Beside, FilterMembers
from prssm.models.prssm.filtering.noises import (
    Heard,
    predicting_noises,
    quick_noises,
    untold_noises,
)
from prssm.models.prssm.filtering.space import space_of
from prssm.training.pace import Pace

WINDOW = 6
CONFIG = DEFAULT.replace(
    latent_dim=4, inducing=3, horizon=20, iterations=0, folds=0, recognition_window=WINDOW
)


def disturbed(rows: int, seed: int = 0) -> Record:
    """A resonance whose disturbance goes through it: y is no function of u alone."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal((rows, 1))
    y = np.zeros((rows, 1))
    for t in range(2, rows):
        y[t] = 1.6 * y[t - 1] - 0.8 * y[t - 2] + 0.3 * u[t - 1] + 0.2 * rng.standard_normal()
    return Record(u, y / y.std())


def test_an_autoregressive_member_foretells_what_least_squares_does():
    record = disturbed(300)
    models, shape = autoregressive_member(CONFIG, [record], WINDOW)
    exact = NoiseFactors(process=1.0, sensor=1e-4, memory=0.0)
    space = space_of(models, WINDOW, exact, shape)
    found = filter_rows(space, record.u, record.y)
    lags = 2
    data = regression([record], lags)
    normal = data.x.T @ data.x + 1e-8 * len(data.x) * np.eye(2 * lags)
    foretold = data.x @ np.linalg.solve(normal, data.x.T @ data.y)
    np.testing.assert_allclose(found.output[0, WINDOW:], foretold[WINDOW - lags :], atol=1e-4)
    residual = (data.y - foretold).std()
    np.testing.assert_allclose(found.seen.variance[0, WINDOW:, 0, 0], residual**2, rtol=0.05)


def test_an_autoregression_needs_room_and_rows():
    short = Record(np.zeros((4, 1)), np.full((4, 1), np.nan))
    assert autoregressive_member(CONFIG, [short], WINDOW) is None
    wide = Record(np.zeros((40, 1)), np.random.default_rng(0).normal(size=(40, 5)))
    assert autoregressive_member(CONFIG, [wide], WINDOW) is None


def test_prediction_errors_are_those_of_the_filter_and_of_predictions_ahead():
    model = random_prssm(states=3, outputs=2, members=2)
    u, y = record_for(model, rows=40)
    scaled = model.scaler_.scale(Record(u, y))
    y = scaled.y.copy()
    y[7, 0] = np.nan
    y[20] = np.nan
    space = space_of(model.mixture_.models, 3, NoiseFactors(process=0.1, coloured=0.4, memory=0.5))
    belief = space.recognised(scaled.u[:3], y[:3])[1]
    found = prediction_errors(space, scaled.u, y, belief=belief, skip=5, horizon=4)
    run = rows_from(space, scaled.u, y, belief=belief)
    for horizon, errors in ((1, found.near), (4, found.far)):
        expected = ahead(space, run, scaled.u, horizon)
        rows = slice(5 if horizon == 1 else 8, None)
        square = np.nanmean((y - expected.output)[:, rows] ** 2, axis=(1, 2))
        np.testing.assert_allclose(errors, square, rtol=1e-9)
    variance = np.diagonal(run.seen.variance, axis1=-2, axis2=-1)
    relative = np.nanmean((run.seen.innovation**2 / variance)[:, 5:], axis=(1, 2))
    np.testing.assert_allclose(found.relative, relative)


def speaker(name: str, records: list[Record], slow: float, own: tuple[int, ...]) -> Speaker:
    """An autoregression whose dynamics are wrong by a factor."""
    models, shape = autoregressive_member(CONFIG, records, WINDOW)
    weight = np.array(models.transition.mean.weight)
    weight[:, :2, :2] *= slow
    mean = replace(models.transition.mean, weight=weight)
    wrong = replace(models, transition=replace(models.transition, mean=mean))
    heard = Heard(wrong, [disturbed(80, seed=5)], shape)
    return Speaker(name, [heard], heard, NoiseFactors(process=1.0, memory=0.0), own)


def test_the_model_that_predicts_better_has_the_smaller_error_and_is_heard():
    good = speaker("good", [disturbed(300)], slow=1.0, own=())
    bad = speaker("bad", [disturbed(300)], slow=0.7, own=(0,))
    assert typical_error([good], WINDOW) < 0.8 * typical_error([bad], WINDOW)
    kept = _kept([good], [bad])
    assert kept.heard == (False,)
    space = kept.space(bad.final.models, WINDOW)
    np.testing.assert_array_equal(np.exp(space.first_log_weight), [0.0, 1.0])
    record = disturbed(60, seed=6)
    run = filter_rows(space, record.u, record.y)
    np.testing.assert_allclose(np.exp(run.log_weight[:, -1]), [0.0, 1.0])
    alone = filter_rows(_kept([bad], [bad]).space(bad.final.models, WINDOW), record.u, record.y)
    np.testing.assert_allclose(run.filtered.mean[:1], alone.filtered.mean)


def test_noises_that_predict_have_the_size_of_the_errors():
    record = disturbed(300)
    models, shape = autoregressive_member(CONFIG, [record], WINDOW)
    heard = Heard(models, [record], shape)
    noises = predicting_noises([heard], heard, WINDOW, rounds=0)
    space = space_of(models, WINDOW, noises, shape)
    run = filter_rows(space, record.u, record.y)
    relative = (run.seen.innovation**2 / run.seen.variance[..., 0])[0, WINDOW:150]
    assert np.mean(relative) == pytest.approx(1.0, rel=0.05)


def test_noises_found_at_once_correct_what_those_of_free_runs_do_not():
    """A free run's error is all noise of the sensors for a model that was trained on such runs."""
    record = disturbed(300)
    models, _ = autoregressive_member(CONFIG, [record], WINDOW)
    quiet = np.full_like(models.transition.log_process_std, np.log(1e-3))
    trained = replace(
        models,
        transition=replace(models.transition, log_process_std=quiet),
        log_output_std=np.full_like(models.log_output_std, np.log(0.9)),
    )
    final = Heard(trained, [record])
    found = quick_noises([], final, WINDOW)
    new = disturbed(300, seed=7)

    def error(noises: NoiseFactors) -> float:
        run = filter_rows(space_of(trained, WINDOW, noises), new.u, new.y)
        return float(np.sqrt(np.mean(run.seen.innovation[0, WINDOW:] ** 2)))

    free = error(NoiseFactors(sensor=1e6))  # measurements that say nothing
    assert error(untold_noises(trained)) > 0.95 * free
    assert error(found) < 0.6 * free


def test_noises_of_training_stay_where_no_usual_ones_predict_better():
    record = disturbed(300)
    models, shape = autoregressive_member(CONFIG, [record], WINDOW)
    heard = Heard(models, [record], shape)
    exact = NoiseFactors(process=1.0, sensor=1e-4, memory=0.0)
    assert predicting_noises([], heard, WINDOW, rounds=0, rival=exact) is exact
    wrong = NoiseFactors(sensor=1e3)
    assert predicting_noises([], heard, WINDOW, rounds=0, rival=wrong) is not wrong


def test_members_beside_are_kept_in_the_model_file_and_checked(tmp_path):
    model = random_prssm(states=3)
    others = random_prssm(states=3, members=1, seed=1).mixture_.models
    beside = Beside("other", others, (NoiseFactors(process=0.3),), np.eye(3)[None])
    before = model.simulate(record_for(model)[0], seed=3).mean
    model.filter_ = FilterMembers((NoiseFactors(),) * 2, (False, False), beside)
    again = prssm.load(model.save(tmp_path / "model.prssm"))
    u, y = record_for(model)
    record = Record(u, y, model.dt_)
    np.testing.assert_array_equal(
        again.predict(record, horizon=2).mean, model.predict(record, horizon=2).mean
    )
    np.testing.assert_array_equal(model.simulate(u, seed=3).mean, before)
    observer = again.observer()
    for row in range(len(u)):
        observer.update(u[row], y[row])
    np.testing.assert_allclose(observer.output.mean, again.filter(record).mean[-1])
    np.testing.assert_array_equal(observer.weights, [0.0, 0.0, 1.0])
    values, arrays = model._state()
    for broken in ({"noises": values["filter"]["noises"][:1]}, {"heard": [True]}):
        with pytest.raises(TypeError, match="filter"):
            model._restore(values | {"filter": values["filter"] | broken}, arrays)
    arrays["beside_shape"] = np.zeros((1, 2, 2))
    with pytest.raises(TypeError, match="beside_shape"):
        model._restore(values, arrays)


@pytest.fixture
def heard(monkeypatch):
    """A choice whose every judgement takes a second; gives the clock and who was heard."""
    clock = Clock()
    found = []

    def level(last, name, window):
        clock.now += 1.0
        found.append(name)
        own = {"a": (0,), "b": (1,)}.get(name, ())
        return [speaker(name, [disturbed(100)], slow=1.0, own=own)]

    def refined(one, window):
        clock.now += 3.0
        found.append(f"{one.name} refined")
        return one

    monkeypatch.setattr("prssm.training.pace.time", clock)
    monkeypatch.setattr(choice, "_entered", lambda last: ["a", "b", "c"])
    monkeypatch.setattr(choice, "_level", level)
    monkeypatch.setattr(
        choice, "_autoregression", lambda last, pace, window: level(last, "d", window)
    )
    monkeypatch.setattr(choice, "_refined", refined)
    monkeypatch.setattr(choice, "typical_error", lambda speakers, window: 1.0)
    monkeypatch.setattr(choice, "_likely_noises", lambda last, window: NoiseFactors(process=7.0))
    monkeypatch.setattr(choice, "_quick_noises", lambda last, window: NoiseFactors(process=5.0))
    return clock, found


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, "a b c d,a refined,b refined"),
        (100.0, "a b c d,a refined,b refined"),
        (8.0, "a b c d,a refined"),
        (6.0, "a b c d"),
        (2.5, "a b"),
        (1.5, "a"),
        (0.0, ""),
    ],
)
def test_members_of_free_runs_are_heard_first_where_time_is_short(heard, seconds, expected):
    clock, found = heard
    models = random_prssm(states=3, members=2).mixture_.models
    kept = SimpleNamespace(mixture=SimpleNamespace(models=models), candidates=["a", "b"])
    last = SimpleNamespace(folds=["one"], choice=kept)
    left = (lambda: None) if seconds is None else (lambda: max(0.0, seconds - clock.now))
    members = filter_members(last, WINDOW, Pace(left))
    assert found == [name for part in expected.split(",") for name in _names(part)]
    whole = {"a", "b"} <= set(found)
    noises = NoiseFactors(process=1.0, memory=0.0) if whole else NoiseFactors(process=5.0)
    assert members.noises == (noises,) * 2


def _names(part):
    return [part] if "refined" in part else part.split()


@pytest.mark.parametrize(("seconds", "fits"), [(None, 3), (3.5, 3), (2.5, 1)])
def test_an_autoregression_is_given_up_where_time_is_short(monkeypatch, seconds, fits):
    """That of two folds and of all data takes a second each."""
    clock = Clock()
    found = []

    def slow(config, records, window):
        clock.now += 1.0
        found.append(autoregressive_member(CONFIG, records, window))
        return found[-1]

    monkeypatch.setattr("prssm.training.pace.time", clock)
    monkeypatch.setattr(choice, "autoregressive_member", slow)
    records = [disturbed(100)]
    fold = SimpleNamespace(shown_records=records, held_out_records=records)
    last = SimpleNamespace(
        folds=[fold, fold], fitting=SimpleNamespace(config=CONFIG, records=records)
    )
    left = (lambda: None) if seconds is None else (lambda: max(0.0, seconds - clock.now))
    speakers = choice._autoregression(last, Pace(left), WINDOW)
    assert len(found) == fits
    assert len(speakers) == (fits == 3)
    if speakers:
        assert [one.models for one in speakers[0].folds] == [one.models for one in found[:2]]
        assert speakers[0].final.models is found[2].models


def test_mixtures_are_not_judged_once_the_time_is_over(heard, monkeypatch):
    """The members of free runs are kept: those of two levels had their say, and then together."""
    clock, _ = heard
    judged = []

    def error(speakers, window):
        judged.append(len(speakers))
        clock.now += len(speakers) - 1.0
        return 1.0

    monkeypatch.setattr(choice, "typical_error", error)
    models = random_prssm(states=3, members=2).mixture_.models
    kept = SimpleNamespace(mixture=SimpleNamespace(models=models), candidates=["a", "b"])
    last = SimpleNamespace(folds=["one"], choice=kept)
    members = filter_members(last, WINDOW, Pace(lambda: max(0.0, 2.5 - clock.now)))
    assert members.heard == (True, True)
    assert judged == [1, 1, 2]
