"""Residual analysis: right rates of false alarms on perfect residuals, alarms on broken ones."""

import numpy as np
import pytest

from prssm.foundation.errors import DataError, OptionError
from prssm.prediction.residuals import Residuals

TRIALS = 300
ROWS = 300


def coloured(rng: np.random.Generator, rows: int, memory: float) -> np.ndarray:
    values = rng.standard_normal(rows)
    for t in range(1, rows):
        values[t] = memory * values[t - 1] + np.sqrt(1 - memory**2) * values[t]
    return values[:, None]


@pytest.fixture(scope="module")
def perfect() -> list[Residuals]:
    """White residuals beside inputs with a strong memory, in two experiments with gaps."""
    found = []
    for seed in range(TRIALS):
        rng = np.random.default_rng(seed)
        error = rng.standard_normal((ROWS, 1))
        error[40:50] = np.nan
        u = coloured(rng, ROWS, 0.95)
        found.append(Residuals.of([error[:200], error[200:]], [u[:200], u[200:]], lags=10))
    return found


@pytest.mark.parametrize("test", ["whiteness", "independence"])
def test_p_values_of_perfect_residuals_are_uniform(perfect, test):
    p = np.array([getattr(one, test).ravel()[0] for one in perfect])
    for level in (0.05, 0.2, 0.5):
        limit = 3.5 * np.sqrt(level * (1 - level) / TRIALS)
        assert abs((p < level).mean() - level) < limit + 0.01


def test_bands_hold_99_of_100_correlations(perfect):
    own = np.mean([one.outside()[0] for one in perfect])
    cross = np.mean([one.outside()[1] for one in perfect])
    assert own == pytest.approx(0.01, abs=3.5 * np.sqrt(0.01 / (10 * TRIALS)))
    # Neighbouring lags go together, so they are fewer independent looks.
    assert cross == pytest.approx(0.01, abs=3.5 * np.sqrt(0.01 / TRIALS))


def test_bands_know_the_sample_size():
    rng = np.random.default_rng(0)
    few, many = (
        Residuals.of([rng.standard_normal((rows, 1))], [rng.standard_normal((rows, 1))], lags=5)
        for rows in (100, 10_000)
    )
    np.testing.assert_allclose(
        few.autocorrelation_band[0] / many.autocorrelation_band[0],
        np.sqrt((10_000 - 1) / (100 - 1)),
    )


def test_correlations_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    error = rng.standard_normal((50, 2))
    u = rng.standard_normal((50, 3))
    found = Residuals.of([error], [u], lags=4)
    e = (error - error.mean(axis=0)) / error.std(axis=0)
    v = (u - u.mean(axis=0)) / u.std(axis=0)
    now, then = e[3:, 1], e[:-3, 1]
    assert found.autocorrelation[2, 1] == pytest.approx(
        np.sum(now * then) / np.sqrt(np.sum(now**2) * np.sum(then**2))
    )
    now, then = e[2:, 0], v[:-2, 1]
    assert found.cross_correlation[2, 0, 1] == pytest.approx(
        np.sum(now * then) / np.sqrt(np.sum(now**2) * np.sum(then**2))
    )


def test_a_memory_and_a_forgotten_input_are_found():
    rng = np.random.default_rng(2)
    u = rng.standard_normal((ROWS, 1))
    white = rng.standard_normal((ROWS, 1))
    forgotten = white + 0.4 * np.roll(u, 3, axis=0)
    assert not Residuals.of([coloured(rng, ROWS, 0.4)], [u], lags=10).white
    found = Residuals.of([forgotten], [u], lags=10, output_names=("level",))
    assert not found.independent
    assert repr(found) == (
        f"Residuals(300 rows, 10 lags, outputs: level; white, p = {found.whiteness[0]:.3f}; "
        "dependent on the inputs, p < 0.001)"
    )
    assert np.abs(found.cross_correlation[:, 0, 0]).argmax() == 3
    assert set(found.to_dict()) >= {"residual_whiteness_p", "residual_independence_p"}


def test_a_system_without_inputs_is_only_asked_for_whiteness():
    rng = np.random.default_rng(3)
    found = Residuals.of([rng.standard_normal((ROWS, 1))], [np.zeros((ROWS, 0))], lags=10)
    assert found.white
    assert found.independent
    assert "residual_independence_p" not in found.to_dict()
    assert "inputs" not in repr(found)


def test_too_few_rows_and_odd_lags_are_refused():
    rng = np.random.default_rng(4)
    short = rng.standard_normal((30, 1))
    with pytest.raises(DataError, match="30 measured rows are too few for 10 lags"):
        Residuals.of([short], [short], lags=10)
    with pytest.raises(OptionError, match="lags: expected a whole number"):
        Residuals.of([short], [short], lags=0)


def test_no_correlation_is_beyond_one_whatever_is_missing():
    rng = np.random.default_rng(5)
    error = 0.1 * rng.standard_normal((300, 1))
    error[:200:2] = np.nan  # neighbours are known only where errors are large
    error[200:250] = 5.0
    error[250:] = -5.0
    found = Residuals.of([error], [np.nan_to_num(error)])
    assert np.abs(found.autocorrelation).max() <= 1.0
    assert np.abs(found.cross_correlation).max() <= 1.0 + 1e-12
