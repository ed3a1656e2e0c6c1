"""The compiled step of a controller."""

import jax
import numpy as np
import pytest
from rollout_cases import make_transition

from prssm.foundation.errors import DataError
from prssm.foundation.precision import double_precision
from prssm.models.elbo import StateSpaceModel
from prssm.models.emission import Selector
from prssm.models.stepper import Stepper


@pytest.fixture(scope="module")
def model():
    with double_precision():
        return StateSpaceModel(make_transition(2, 1, 4), Selector(1), None, np.zeros(1), np.zeros(1))


def test_it_is_the_transition(model):
    rng = np.random.default_rng(0)
    x, u = rng.normal(size=(2, 3)), rng.normal(size=(1, 3))
    mean, std, output = Stepper(model)(x, u)
    with double_precision():
        expected, variance = jax.jit(lambda: model.transition.condition()(x, u))()
    np.testing.assert_allclose(mean, expected, rtol=1e-12)
    np.testing.assert_allclose(std, np.sqrt(variance), rtol=1e-12)
    np.testing.assert_array_equal(output, x[:1])
    assert mean.dtype == np.float64


@pytest.mark.parametrize(("x", "u", "message"), [
    (np.zeros((3, 1)), np.zeros((1, 1)), r"x: expected shape \(2, 1\), got \(3, 1\)"),
    (np.zeros((2, 4)), np.zeros((1, 1)), r"u: expected shape \(1, 4\), got \(1, 1\)"),
    (np.zeros(2), np.zeros(1), r"x: expected shape \(2, 2\), got \(2,\)"),
])
def test_arrays_that_do_not_fit_are_named(model, x, u, message):
    with pytest.raises(DataError, match=message):
        Stepper(model)(x, u)
