"""The bell against SciPy's."""

import numpy as np
import pytest
from scipy.stats import norm, t

from prssm.prediction.gaussian import half_width, log_density, student_factor


@pytest.mark.parametrize("level", [0.01, 0.5, 0.8, 0.95, 0.9999])
def test_the_central_interval_holds_its_share(level: float) -> None:
    assert norm.cdf(half_width(level)) - norm.cdf(-half_width(level)) == pytest.approx(level)


def test_the_density_is_scipys() -> None:
    z = np.linspace(-6.0, 6.0, 25)
    np.testing.assert_allclose(log_density(z), norm.logpdf(z), rtol=1e-14)


def test_a_band_from_few_values_is_as_wide_as_students():
    values = np.array([0.1, 2.0, 5.0, 1e9])
    expected = [t.ppf(0.975, 2.0), t.ppf(0.975, 2.0), t.ppf(0.975, 5.0), norm.ppf(0.975)]
    np.testing.assert_allclose(
        student_factor(values), np.array(expected) / norm.ppf(0.975), rtol=1e-6
    )
