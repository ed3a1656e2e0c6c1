"""Calibration of the band on held-out errors."""

import numpy as np
import pytest

from prssm.models.calibration import Calibration


def held_out_errors(scale, extra, rows=20_000, seed=0):
    rng = np.random.default_rng(seed)
    std = np.exp(rng.normal(size=(rows, 1)))  # a band whose width varies, so that scale and extra can be told apart
    return np.sqrt(scale * std**2 + extra) * rng.normal(size=(rows, 1)), std


@pytest.mark.parametrize(("scale", "extra"), [(2.0, 0.3), (0.5, 0.05), (1.0, 2.0)])
def test_recovers_the_true_variance(scale, extra):
    """Relative standard error of a variance is sqrt(2 / n); two parameters share the information, hence the factor."""
    errors, stds = held_out_errors(scale, extra)
    found = Calibration.fit([errors], [stds])
    assert found.scale[0] == pytest.approx(scale, rel=20 * np.sqrt(2 / len(errors)))
    assert found.extra[0] == pytest.approx(extra, rel=40 * np.sqrt(2 / len(errors)))


def test_calibrated_band_has_its_nominal_coverage():
    errors, stds = held_out_errors(3.0, 0.5)
    fresh_errors, fresh_stds = held_out_errors(3.0, 0.5, seed=1)
    band = 2.0 * Calibration.fit([errors], [stds]).std(fresh_stds)
    inside = np.mean(np.abs(fresh_errors) < band)
    assert abs(inside - 0.9545) < 4 * np.sqrt(0.9545 * 0.0455 / len(errors)) + 0.003
    assert np.mean(np.abs(fresh_errors) < 2.0 * fresh_stds) < 0.85  # and it had not before


def test_each_output_has_its_own_numbers_and_missing_rows_do_not_count():
    one, one_std = held_out_errors(2.0, 0.3)
    errors, stds = np.concatenate([one, 3.0 * one], axis=1), np.concatenate([one_std, 3.0 * one_std], axis=1)
    holes = errors.copy()
    holes[::7] = np.nan
    found = Calibration.fit([holes[:100], holes[100:]], [stds[:100], stds[100:]])
    assert found.scale[1] == pytest.approx(found.scale[0], rel=1e-2)
    assert found.extra[1] == pytest.approx(9.0 * found.extra[0], rel=1e-2)
    alone = Calibration.fit([np.delete(errors, np.s_[::7], axis=0)], [np.delete(stds, np.s_[::7], axis=0)])
    np.testing.assert_allclose(found.scale, alone.scale, rtol=1e-6)


def test_an_output_that_was_never_measured_keeps_its_band():
    found = Calibration.fit([np.full((50, 1), np.nan)], [np.ones((50, 1))])
    np.testing.assert_array_equal(found.std(np.full((3, 1), 0.7)), 0.7)


def test_drawn_trajectories_have_the_calibrated_spread_and_correlation():
    calibration = Calibration(np.array([4.0]), np.array([9.0]), np.array([0.8]))
    rng, mean = np.random.default_rng(0), np.array([[1.0], [2.0], [3.0]])
    count = 40_000
    samples = mean + 0.5 * rng.normal(size=(count, 3, 1))
    drawn = calibration.samples(samples, mean, seed=0)[:, :, 0]
    expected = 4.0 * 0.25 + 9.0
    assert (np.abs(drawn.var(axis=0) - expected) < 4 * expected * np.sqrt(2 / count)).all()
    assert (np.abs(drawn.mean(axis=0) - mean[:, 0]) < 4 * np.sqrt(expected / count)).all()
    correlation = np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]
    assert correlation == pytest.approx(0.8 * 9.0 / expected, abs=4 / np.sqrt(count))


def test_no_calibration_changes_nothing():
    none = Calibration.none(1)
    samples = np.random.default_rng(0).normal(size=(5, 4, 1))
    np.testing.assert_allclose(none.samples(samples, samples.mean(axis=0), 0), samples, atol=1e-15)
    np.testing.assert_array_equal(none.std(np.array([[0.3]])), [[0.3]])
