import numpy as np

from prssm.prediction.moments import Moments


def test_parts_give_the_moments_of_all() -> None:
    rng = np.random.default_rng(0)
    values = 1e3 + rng.normal(size=(7, 2, 11))
    seen = Moments(7, 2)
    for part in (slice(0, 4), slice(4, 5), slice(5, 11)):
        seen.add(0, values[:3, :, part])
        seen.add(3, values[3:, :, part])
    np.testing.assert_allclose(seen.mean, values.mean(axis=2), rtol=1e-14)
    np.testing.assert_allclose(seen.var(), values.var(axis=2, ddof=1), rtol=1e-9)
