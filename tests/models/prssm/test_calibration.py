"""Calibration of the band on held-out errors."""

import numpy as np
import pytest

from prssm import PRSSM
from prssm.models.prssm.band.calibration import Calibration
from prssm.models.simulated import Simulated
from prssm.prediction.widening import widening


def held_out_errors(factor, rows=20_000, seed=0):
    rng = np.random.default_rng(seed)
    std = np.exp(rng.normal(size=(rows, 1)))  # a band whose width varies
    return factor * std * rng.normal(size=(rows, 1)), std


@pytest.mark.parametrize("factor", [0.7, 1.0, 3.0])
def test_recovers_the_true_factor(factor):
    """The worse of the two quantiles has relative error sqrt(p(1-p)/n) / (density * quantile), 0.7
    % at 95 %, of 20,000 errors in two stretches.
    """
    errors, stds = held_out_errors(factor)
    found = Calibration.fit(np.split(errors, 2), np.split(stds, 2))
    assert found.factor[0] == pytest.approx(factor, rel=0.028)


def test_of_errors_that_are_not_normal_nine_in_ten_and_nineteen_in_twenty_count():
    """Evenly spread from 0 to 1: 0.9 and 0.95 of them must be 1.645 and 1.960 deviations."""
    found = Calibration.fit([np.linspace(0.0, 1.0, 1001)[:, None]], [np.ones((1001, 1))])
    assert found.factor[0] == pytest.approx(np.sqrt(0.9 / 1.644854 * 0.95 / 1.959964), rel=1e-5)


def test_calibrated_band_has_its_nominal_coverage():
    errors, stds = held_out_errors(1.8)
    fresh_errors, fresh_stds = held_out_errors(1.8, seed=1)
    band = 2.0 * Calibration.fit([errors], [stds]).factor * fresh_stds
    inside = np.mean(np.abs(fresh_errors) < band)
    assert abs(inside - 0.9545) < 4 * np.sqrt(2 * 0.9545 * 0.0455 / len(errors))
    assert np.mean(np.abs(fresh_errors) < 2.0 * fresh_stds) < 0.8  # and it had not before


def test_each_output_has_its_own_factor_and_missing_rows_do_not_count():
    one, std = held_out_errors(2.0)
    errors = np.concatenate([one, 3.0 * one], axis=1)
    stds = np.concatenate([std, std], axis=1)
    holes = errors.copy()
    holes[::7] = np.nan
    found = Calibration.fit([holes], [stds]).factor
    assert found[1] == pytest.approx(3.0 * found[0], rel=1e-12)
    alone = Calibration.fit(
        [np.delete(errors, np.s_[::7], axis=0)], [np.delete(stds, np.s_[::7], axis=0)]
    ).factor
    np.testing.assert_allclose(found, alone, rtol=1e-12)


def test_an_output_that_was_never_measured_keeps_its_band():
    for calibrated in (Calibration.fit, Calibration.of_white):
        found = calibrated([np.full((50, 1), np.nan)], [np.ones((50, 1))])
        np.testing.assert_array_equal(found.factor, 1.0)


def test_of_white_errors_the_mean_square_counts():
    """In deviations of the band: 3, 4 and 5 in two stretches, one value missing."""
    errors = [np.array([[3.0], [np.nan]]), np.array([[-8.0], [5.0]])]
    stds = [np.ones((2, 1)), np.array([[2.0], [1.0]])]
    found = Calibration.of_white(errors, stds)
    assert found.factor[0] == pytest.approx(1.08 * np.sqrt(50.0 / 3.0))
    exact = Calibration.of_white([np.zeros((9, 1))], [np.ones((9, 1))])
    assert exact.factor[0] == Calibration.fit([np.zeros((9, 1))], [np.ones((9, 1))]).factor[0]


def test_few_errors_of_an_output_make_its_band_wider():
    """By (30 / n)^2 with n of them in all stretches; fewer than 16 count as 16."""
    errors = [np.zeros((40, 5)), np.zeros((20, 5))]
    errors[0][:30, 1] = np.nan  # 30 are left
    for error in errors:
        error[:, 3] = np.nan  # never measured
    errors[0][:, 4] = np.nan
    errors[1][4:, 4] = np.nan
    found = Calibration(np.full(5, 2.0)).for_few(errors).factor
    np.testing.assert_allclose(found, [2.5, 4.0, 2.5, 2.0, 2.0 * (1.0 + (30.0 / 16.0) ** 2)])


def test_a_run_that_diverged_does_not_blow_up_the_band():
    errors, stds = held_out_errors(1.0, rows=100)
    errors[50:] = np.inf
    assert Calibration.fit([errors], [stds]).factor[0] == 20.0


def test_some_of_the_way_to_the_final_models_errors_and_a_little_wider():
    """In the logarithm: 2 and 0.5 give 2 to the 0.7 minus 0.3; new data cost 5 %."""
    held = Calibration(np.array([2.0, 1.0]))
    seen = Calibration(np.array([0.5, 1.0]))
    np.testing.assert_allclose(held.toward(seen, 0.3).factor, [1.05 * 2.0**0.4, 1.05], rtol=1e-12)


def test_all_stretches_count():
    """Half of the errors are twice as large: the same factor as from all of them together."""
    one, std = held_out_errors(1.5)
    other = 2.0 * one
    found = Calibration.fit([one, other], [std, std]).factor
    together = Calibration.fit([np.concatenate([one, other])], [np.concatenate([std, std])]).factor
    assert found == together
    assert 1.6 < found[0] < 3.0


def test_a_stretch_on_which_a_model_was_lost_asks_for_three_times_the_typical_factor():
    """Two outputs, three stretches; the second output was not measured in one of them.

    With a third of the errors lost, the quantiles are theirs: 1.96 deviations times the factor,
    of which 1.645 and 1.96 deviations are to hold 90 and 95 %.
    """
    one, std = held_out_errors(1.5)
    both = np.concatenate([one, one], axis=1)
    lost = np.full_like(both, np.inf)
    half = both.copy()
    half[:, 1] = np.nan
    stds = [np.concatenate([std, std], axis=1)] * 3
    found = Calibration.fit([both, lost, half], stds).factor
    alone = Calibration.fit([one], [std]).factor[0]
    expected = 3.0 * alone * np.sqrt(1.959964 / 1.644854)
    # of two stretches one alone is not typical: there is nothing to hold against the other
    np.testing.assert_allclose(found, [expected, 20.0], rtol=1e-6)


def test_a_band_is_wider_outside_and_for_a_while_after():
    distance = np.array([0.0, 0.0, 2.0, 0.0, 0.0, 100.0])
    expected = [1.0, 1.0, 2.0, 1.0 + 0.95, 1.0 + 0.95**2, 3.5]
    np.testing.assert_allclose(widening(distance), expected, rtol=1e-12)
    np.testing.assert_array_equal(widening(np.zeros(5)), 1.0)
    np.testing.assert_array_equal(distance[2], 2.0)  # what was handed in stays


def test_band_and_samples_of_a_run_are_widened_alike():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=(4, 1))
    samples = mean + rng.normal(size=(50, 4, 1))
    run = Simulated(mean, samples.std(axis=0), samples)
    wider = PRSSM()._widened(run, np.array([0.0, 1.5, 0.0, 0.0]))
    np.testing.assert_allclose(wider.std, wider.samples.std(axis=0), rtol=1e-12)
    ratio = (wider.std / run.std)[:, 0]
    np.testing.assert_allclose(ratio, [1.0, 1.75, 1.0 + 0.75 * 0.95, 1.0 + 0.75 * 0.95**2])
    np.testing.assert_array_equal(wider.mean, run.mean)
