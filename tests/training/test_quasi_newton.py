"""The deterministic climb: known maxima, bounds, and places where the objective is not a number."""

import jax.numpy as jnp
import numpy as np

from prssm.foundation.precision import double_precision
from prssm.training.quasi_newton import maximise


def paraboloid(parameters, centre):
    return -jnp.sum((parameters["a"] - centre) ** 2) - 3.0 * (parameters["b"] - 1.0) ** 2


def log_shaped(parameters, peak):
    """Not a number left of zero; its maximum is at `peak`."""
    return peak * jnp.log(parameters["x"]) - parameters["x"]


def test_finds_the_maximum_of_a_tree_of_parameters():
    with double_precision():
        centre = jnp.asarray([[1.0, -2.0], [0.5, 4.0]])
        end = maximise(
            paraboloid, {"a": jnp.zeros((2, 2)), "b": jnp.asarray(0.0)}, (centre,), iterations=50
        )
    np.testing.assert_allclose(end.parameters["a"], centre, atol=1e-5)
    np.testing.assert_allclose(end.parameters["b"], 1.0, atol=1e-5)
    assert abs(end.value) < 1e-9
    assert (np.diff(end.curve) >= 0).all()


def test_stays_within_bounds():
    with double_precision():
        start = {"a": jnp.zeros(1), "b": jnp.asarray(0.0)}
        low = {"a": -jnp.ones(1), "b": jnp.asarray(-1.0)}
        high = {"a": jnp.ones(1), "b": jnp.asarray(0.25)}
        end = maximise(
            paraboloid, start, (jnp.asarray([9.0]),), iterations=50, lower=low, upper=high
        )
    assert np.asarray(end.parameters["a"]) == 1.0
    assert np.asarray(end.parameters["b"]) == 0.25


def test_turns_back_where_the_objective_is_not_a_number():
    with double_precision():
        end = maximise(log_shaped, {"x": jnp.asarray(1e-3)}, (jnp.asarray(2.0),), iterations=100)
        lost = maximise(log_shaped, {"x": jnp.asarray(-1.0)}, (jnp.asarray(2.0),), iterations=5)
    np.testing.assert_allclose(end.parameters["x"], 2.0, rtol=1e-4)
    assert np.isnan(lost.value)


def test_watch_sees_every_iteration():
    seen = []
    with double_precision():
        end = maximise(
            paraboloid,
            {"a": jnp.zeros(3), "b": jnp.asarray(0.0)},
            (jnp.arange(3.0),),
            iterations=50,
            watch=lambda *figures: seen.append(figures),
        )
    assert [iteration for iteration, _ in seen] == list(range(1, len(end.curve) + 1))
    assert seen[-1][1] == end.value
