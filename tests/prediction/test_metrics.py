"""Metrics against numbers worked out by hand."""

import numpy as np
import pytest
from scipy.stats import norm

from prssm.foundation.errors import DataError, OptionError
from prssm.prediction.metrics import evaluate, rmse_after
from prssm.prediction.prediction import Prediction


def run(measured, mean, std, warmup=0):
    shaped = [np.asarray(a, dtype=float).reshape(len(measured), -1) for a in (measured, mean, std)]
    return Prediction(mean=shaped[1], std=shaped[2], measured=shaped[0], warmup=warmup)


def test_errors_and_likelihood_of_two_steps():
    scores = evaluate([run([1.0, 4.0], [0.0, 2.0], [1.0, 2.0], warmup=1)], np.array([2.0]))
    assert scores["rmse"] == pytest.approx(np.sqrt((1 + 4) / 2))
    assert scores["rmse_after_warmup"] == pytest.approx(2.0)
    assert scores["nrmse"] == pytest.approx(np.sqrt((1 + 4) / 2) / 2)
    assert scores["fit_percent"] == pytest.approx(100 * (1 - np.sqrt(5) / np.sqrt(4.5)))
    by_hand = (norm.logpdf(1, 0, 1) + norm.logpdf(4, 2, 2)) / 2
    assert scores["log_likelihood"] == pytest.approx(by_hand)
    assert scores["log_likelihood_scaled"] == pytest.approx(
        (norm.logpdf(0.5, 0, 0.5) + norm.logpdf(2, 1, 1)) / 2
    )


def test_missing_measurements_do_not_count():
    with_gap = evaluate(
        [run([1.0, np.nan, 4.0], [0.0, 9.0, 2.0], [1.0, 1.0, 2.0])], np.array([1.0])
    )
    without = evaluate([run([1.0, 4.0], [0.0, 2.0], [1.0, 2.0])], np.array([1.0]))
    assert with_gap == pytest.approx(without)


def test_records_are_pooled_by_steps():
    scores = evaluate(
        [run([1.0], [0.0], [1.0]), run([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0])],
        np.array([1.0]),
    )
    assert scores["rmse"] == pytest.approx(0.5)


def test_coverage_of_a_true_gaussian_is_the_nominal_level():
    count = 20_000
    scores = evaluate(
        [run(np.random.default_rng(0).normal(size=count), np.zeros(count), np.ones(count))],
        np.array([1.0]),
    )
    for level in (0.50, 0.80, 0.95):
        assert abs(scores[f"coverage_{round(100 * level)}"] - level) < 4 * np.sqrt(
            level * (1 - level) / count
        )


def test_horizons_count_the_first_steps_of_each_record():
    scores = evaluate(
        [run(np.r_[np.ones(30), np.full(70, 5.0)], np.zeros(100), np.ones(100))], np.array([1.0])
    )
    assert scores["rmse_30"] == pytest.approx(1.0)
    assert scores["rmse_50"] == pytest.approx(np.sqrt((30 + 20 * 25) / 50))


def test_nothing_measured_is_an_error():
    with pytest.raises(DataError, match="nothing to score"):
        evaluate([Prediction(mean=np.zeros((3, 1)), std=np.ones((3, 1)))], np.ones(1))


def test_interval_has_the_level_it_says():
    prediction = Prediction(mean=np.zeros((2, 1)), std=np.full((2, 1), 2.0))
    lower, upper = prediction.interval(0.5)
    assert norm.cdf(upper[0, 0], 0, 2) - norm.cdf(lower[0, 0], 0, 2) == pytest.approx(0.5)
    with pytest.raises(OptionError, match="level"):
        prediction.interval(95)


def test_columns_carry_all_that_is_known():
    prediction = Prediction(
        mean=np.zeros((3, 2)),
        std=np.ones((3, 2)),
        inputs=np.ones((3, 1)),
        measured=np.zeros((3, 2)),
        dt=0.5,
        input_names=("valve",),
        output_names=("p", "q"),
    )
    columns = prediction.to_columns()
    assert list(columns) == [
        "time",
        "valve",
        "p",
        "p_mean",
        "p_std",
        "p_lower95",
        "p_upper95",
        "q",
        "q_mean",
        "q_std",
        "q_lower95",
        "q_upper95",
    ]
    np.testing.assert_allclose(columns["time"], [0.0, 0.5, 1.0])
    assert prediction.to_frame().shape == (3, 12)


def test_plot_shows_measured_predicted_and_band():
    axes = run(np.arange(5.0), np.arange(5.0), np.ones(5), warmup=2).plot()
    labels = axes.get_legend_handles_labels()[1]
    assert labels == ["measured", "free simulation", "± 2 std", "seen samples"]


def test_first_steps_of_each_run_can_be_left_out():
    runs = [
        run([9.0, 1.0, 2.0], [0.0, 0.0, 0.0], [1.0] * 3),
        run([9.0, 3.0], [0.0, 0.0], [1.0] * 2),
    ]
    assert rmse_after(runs, 1) == pytest.approx(np.sqrt((1 + 4 + 9) / 3))
    assert rmse_after(runs, 0) == pytest.approx(evaluate(runs, np.ones(1))["rmse"])
    assert np.isnan(rmse_after(runs, 3))
