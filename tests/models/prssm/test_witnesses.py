"""Bands are wider where models of the folds disagree: the jackknife, and what it does to runs."""

import numpy as np
import pytest

from prssm import PRSSM, Record, load
from prssm.models.prssm.band.witnesses import Witnesses, jackknife
from prssm.models.prssm.levels import Linear
from prssm.models.simulated import Simulated


def test_for_a_mean_it_is_the_standard_error():
    """Without one of six equal parts of the data; the parts' means are their own estimates."""
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(6, 2000))  # two thousand rows, each an estimate of its own
    without = (parts.sum(axis=0) - parts) / 5
    found = jackknife(without[:, :, None])[:, 0]
    expected = parts.std(axis=0, ddof=1) / np.sqrt(6)
    # around the median instead of the mean, and a far part is held back: a few per cent
    ratio = np.sqrt(np.mean(found**2) / np.mean(expected**2))
    assert ratio == pytest.approx(1.0, abs=0.1)


def test_models_that_agree_or_are_alone_say_nothing():
    run = np.random.default_rng(0).normal(size=(1, 40, 2))
    np.testing.assert_array_equal(jackknife(np.repeat(run, 5, axis=0)), 0.0)
    np.testing.assert_array_equal(jackknife(run), 0.0)


def test_one_model_that_runs_away_does_not_decide():
    """At most twice as far as the typical one, and a run that is lost counts for nothing."""
    rng = np.random.default_rng(1)
    runs = rng.normal(size=(5, 300, 1))
    away = np.concatenate([runs, 1e6 * np.ones((1, 300, 1))])
    lost = np.concatenate([runs, np.full((1, 300, 1), np.nan)])
    typical = jackknife(runs)
    np.testing.assert_allclose(jackknife(lost), typical)
    assert np.sqrt(np.mean(jackknife(away) ** 2)) < 2.5 * np.sqrt(np.mean(typical**2))


def test_the_band_of_a_beginning_does_not_depend_on_what_comes_after():
    runs = np.cumsum(np.random.default_rng(2).normal(size=(6, 100, 2)), axis=1)
    np.testing.assert_allclose(jackknife(runs)[:40], jackknife(runs[:, :40]))


def test_a_run_is_widened_to_the_wider_of_two_reasons():
    rng = np.random.default_rng(3)
    samples = rng.normal(size=(7, 4, 1))
    run = Simulated(samples.mean(axis=0), samples.std(axis=0), samples)
    twice = run.widened(np.full((4, 1), 2.0))
    np.testing.assert_allclose(twice.samples.std(axis=0), 2.0 * run.std)
    np.testing.assert_allclose(twice.samples.mean(axis=0), run.mean, atol=1e-12)
    already = Simulated(run.mean, run.std, wider=np.array([[1.0], [1.5], [3.0], [2.0]]))
    more = already.widened(np.full((4, 1), 2.0)).std / run.std
    np.testing.assert_allclose(more[:, 0], [2.0, 2.0 / 1.5, 1.0, 1.0])


@pytest.fixture(scope="module")
def model():
    """Of inputs near zero; the gain beyond is what the data do not say."""
    rng = np.random.default_rng(4)
    u = 0.3 * rng.normal(size=(240, 1))
    y = np.zeros((240, 1))
    for t in range(1, 240):
        y[t] = 0.8 * y[t - 1] + np.tanh(u[t - 1])
    record = Record(u, y + 0.02 * rng.normal(size=y.shape))
    return PRSSM(complexity="linear", latent_dim=1, folds=4).fit(record)


def test_a_band_grows_with_what_the_data_do_not_say(model):
    small = model.simulate(0.3 * np.ones((100, 1)))
    large = model.simulate(0.8 * np.ones((100, 1)))  # inside of what was seen
    assert large.std[-1, 0] > 1.2 * small.std[-1, 0]


def test_witnesses_that_run_away_say_no_more_than_that_nothing_is_known(model, monkeypatch):
    """However far they are apart: the calibrated band, and the training outputs' whole range."""
    u = 0.3 * np.ones((100, 1))
    monkeypatch.setattr(Witnesses, "disagreement", lambda *_, **__: np.full((100, 1), 1e9))
    run = model.simulate(u)
    scaled = (run.mean - model.scaler_.y_mean) / model.scaler_.y_std
    nothing = model.seen_.unknown_std(scaled) * model.scaler_.y_std
    monkeypatch.setattr(Witnesses, "disagreement", lambda *_, **__: np.zeros((100, 1)))
    calibrated = model.simulate(u).std
    np.testing.assert_allclose(run.std**2, calibrated**2 + nothing**2, rtol=1e-9)


def test_a_level_says_how_much_disagreement_counts(model, monkeypatch):
    """Beside the calibrated band, as variances add."""
    u = 0.3 * np.ones((100, 1))
    with_doubt = model.simulate(u).std ** 2
    monkeypatch.setattr(Linear, "doubt", 0.0)
    without = model.simulate(u).std ** 2
    monkeypatch.setattr(Linear, "doubt", 1.0)
    whole = model.simulate(u).std ** 2
    np.testing.assert_allclose(whole - without, 4.0 * (with_doubt - without), atol=1e-12)
    assert np.max(whole / without) > 1.02


def test_a_file_keeps_the_witnesses(model, tmp_path):
    model.save(tmp_path / "model.prssm")
    again = load(tmp_path / "model.prssm")
    u = np.linspace(-0.5, 0.5, 50)[:, None]
    np.testing.assert_array_equal(again.simulate(u).std, model.simulate(u).std)
    assert again.witnesses_.folds == 4
    short = Record(u, np.zeros_like(u))
    np.testing.assert_array_equal(
        again.free_runs(short, start=2)[0].std, model.free_runs(short, start=2)[0].std
    )


def test_a_file_with_a_level_that_is_none_is_refused(model):
    values, arrays = model._state()
    values["held_out"] = {"nobody": values["held_out"]["linear"]}
    with pytest.raises(KeyError, match="nobody"):
        clone(model)._restore(values | {"level": "nobody"}, arrays)


def clone(model):
    """Not fitted, but with the names of its columns."""
    other = PRSSM(**model.get_params())
    other.input_names_ = model.input_names_
    other.output_names_ = model.output_names_
    return other


def test_without_folds_there_are_none():
    u = np.random.default_rng(5).normal(size=(60, 1))
    record = Record(u, np.convolve(u[:, 0], 0.5 ** np.arange(20))[:60, None])
    model = PRSSM(complexity="linear", latent_dim=1, folds=0).fit(record)
    assert model.witnesses_ is None
    assert np.isfinite(model.simulate(u).std).all()
