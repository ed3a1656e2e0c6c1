"""A damped step with eliminated parameters, compiled and in NumPy, against one large system."""

import numpy as np
import pytest

from prssm.dynamics.engines.choice import trainer_why_not
from prssm.dynamics.networks.damped_step import damped_step, plain_damped_step


def equations(records, shared, own, seed=0):
    """J'J and J'e of random problems."""
    rng = np.random.default_rng(seed)
    jacobians = rng.normal(size=(records, 4 * (shared + own), shared + own))
    errors = rng.normal(size=jacobians.shape[:2])
    squares = np.einsum("rki,rkj->rij", jacobians, jacobians)
    return squares, np.einsum("rki,rk->ri", jacobians, errors)


def brute_force(squares, slopes, shared, damping):
    """All parameters in one matrix, solved as it stands."""
    records, size = slopes.shape
    own = size - shared
    whole = np.zeros((shared + records * own,) * 2)
    slope = np.zeros(len(whole))
    for number, (square, part) in enumerate(zip(squares, slopes, strict=True)):
        places = np.append(np.arange(shared), shared + number * own + np.arange(own))
        curvature = np.diag(square)
        brake = damping * np.maximum(curvature, 1e-9 * curvature.max())
        whole[np.ix_(places, places)] += square + np.diag(brake)
        slope[places] += part
    change = np.linalg.solve(whole, slope)
    return change[:shared], change[shared:].reshape(records, own)


def steps():
    """Both ways; one alone where there is no compiler."""
    return [plain] if trainer_why_not() else [plain, damped_step]


def plain(squares, slopes, shared, damping):
    return plain_damped_step(squares, slopes, shared, damping=damping)


@pytest.mark.parametrize(("records", "shared", "own"), [(1, 3, 1), (4, 21, 6), (2, 70, 9)])
@pytest.mark.parametrize("damping", [0.0, 1e-2, 10.0])
def test_a_step_is_that_of_one_large_system(records, shared, own, damping):
    squares, slopes = equations(records, shared, own)
    expected = brute_force(squares, slopes, shared, damping)
    for step in steps():
        for got, right in zip(step(squares, slopes, shared, damping), expected, strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-12)


def test_a_parameter_that_nothing_tells_is_damped_by_a_share_of_the_others():
    squares, slopes = equations(2, 5, 2)
    squares[:, 3, :] = 0.0
    squares[:, :, 3] = 0.0
    expected = brute_force(squares, slopes, 5, 1.0)
    for step in steps():
        for got, right in zip(step(squares, slopes, 5, 1.0), expected, strict=True):
            np.testing.assert_allclose(got, right, rtol=1e-9)


@pytest.mark.parametrize("place", [0, 2])
def test_a_matrix_that_rounding_spoilt_is_no_step(place):
    """Among the shared parameters and among the own ones."""
    square = np.eye(3)
    square[place, place] = -1.0
    for step in steps():
        assert step(square[None], np.ones((1, 3)), 2, 1e-3) is None
        assert step(np.eye(3)[None], np.ones((1, 3)), 2, 1e-3) is not None
