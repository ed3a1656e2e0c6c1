"""More inducing points keep what a GP has learnt, and go where it knows least."""

import jax
import numpy as np

from prssm.foundation.precision import double_precision
from prssm.gp.kernels import SquaredExponential
from prssm.gp.more_points import least_known, longer_factor
from prssm.gp.sparse import SparseGP, WhitenedInducing

RNG = np.random.default_rng(0)
KNOWN = RNG.normal(size=(4, 2))
SCALES = np.array([0.7, 1.4])


def gram(a, b):
    return np.exp(-0.5 * np.sum(((a[:, None] - b) / SCALES) ** 2, axis=2))


def variance(points, at):
    """What observing a GP at `points` leaves of its variance at the places `at`."""
    cross = gram(points, at)
    return 1.0 - np.sum(cross * np.linalg.solve(gram(points, points), cross), axis=0)


def test_each_new_point_is_where_the_variance_is_largest():
    visited = RNG.normal(size=(60, 2))
    chosen = least_known(visited, KNOWN, SCALES, count=5)
    points = KNOWN
    for new in chosen:
        left = variance(points, visited)
        np.testing.assert_allclose(variance(points, new[None]), left.max(), atol=1e-4)
        points = np.concatenate([points, new[None]])


def test_new_points_leave_the_mean_function_as_it_was():
    kernel = SquaredExponential(np.log(0.6), np.log(SCALES))
    mean = RNG.normal(size=4)
    factor = np.tril(RNG.normal(size=(4, 4)))
    more = np.concatenate([KNOWN, least_known(RNG.normal(size=(30, 2)), KNOWN, SCALES, count=3)])
    grown = WhitenedInducing(np.append(mean, np.zeros(3)), longer_factor(factor, 3, std=0.2))
    at = RNG.normal(size=(2, 20))
    with double_precision():
        before, _ = SparseGP(kernel, KNOWN, WhitenedInducing(mean, factor)).condition()(at)
        posterior = SparseGP(kernel, more, grown).condition()
        after, _ = posterior(at)
    # The jitter of the larger covariance differs a little.
    np.testing.assert_allclose(after, before, atol=1e-5)
    np.testing.assert_allclose(np.diagonal(jax.device_get(posterior.spread))[4:], 0.2)
