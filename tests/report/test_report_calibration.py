"""The calibration curve against the definition and against a case with a known answer."""

import numpy as np
from scipy.stats import norm

from prssm.prediction.prediction import Prediction
from prssm.report.fit.calibration import LEVELS, coverage_curve


def test_curve_is_the_share_inside_each_interval() -> None:
    noise = np.random.default_rng(0)
    runs = [
        Prediction(
            noise.normal(size=(40, 2)),
            noise.uniform(0.5, 2, size=(40, 2)),
            measured=noise.normal(size=(40, 2)),
        )
        for _ in range(2)
    ]
    runs[0].measured[:7, 1] = np.nan  # not measured: does not count
    inside = np.zeros(len(LEVELS))
    known = 0
    for run in runs:
        known += np.isfinite(run.measured).sum()
        for k, level in enumerate(LEVELS):
            low, high = run.interval(level)
            inside[k] += ((run.measured >= low) & (run.measured <= high)).sum()
    np.testing.assert_allclose(coverage_curve(runs), inside / known, atol=1e-12)


def test_honest_and_dishonest_bands() -> None:
    count = 4000
    measured = np.random.default_rng(1).normal(size=(count, 1))
    honest, narrow = (
        coverage_curve(
            [Prediction(np.zeros((count, 1)), np.full((count, 1), s), measured=measured)]
        )
        for s in (1.0, 0.5)
    )
    error = 4 * np.sqrt(LEVELS * (1 - LEVELS) / count)
    assert (np.abs(honest - LEVELS) < error).all()
    expected = 2 * norm.cdf(0.5 * norm.ppf(0.5 + LEVELS / 2)) - 1
    assert (np.abs(narrow - expected) < 4 * np.sqrt(expected * (1 - expected) / count)).all()
