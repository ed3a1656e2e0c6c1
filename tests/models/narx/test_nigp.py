"""NIGP: the exact GP where there is no input noise, the right noise where there is some, slopes as
promised.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

import prssm
from prssm.data.lag_windows import regression
from prssm.foundation.precision import double_precision
from prssm.gp import exact
from prssm.models.narx.nigp import (
    WINDOW_NOISES,
    evidence,
    first_problem,
    point_noise,
    start_parameters,
)


def curve(length, input_noise, seed=0):
    """y+ = sin(2 u) of the true input; the recorded input has noise."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(-2, 2, length)
    y = np.concatenate([[0.0], np.sin(2 * u[:-1])]) + 0.02 * rng.normal(size=length)
    return prssm.Record(u + input_noise * rng.normal(size=length), y)


def two_outputs(length=40, seed=0):
    rng = np.random.default_rng(seed)
    return prssm.Record(rng.normal(size=length), rng.normal(size=(length, 2)))


@pytest.fixture(scope="module")
def noisy():
    return prssm.NIGP(lags=1).fit(curve(300, 0.1))


def test_recovers_a_known_input_noise(noisy):
    """300 points: the relative standard error of a noise deviation is at least 1 / sqrt(600) =
    4 %.
    """
    past_output, recorded_input = noisy.window_std_ * [
        noisy.scaler_.y_std[0],
        noisy.scaler_.u_std[0],
    ]
    assert recorded_input == pytest.approx(0.1, rel=0.2)
    # it has no effect on the next output, so that its noise is not determined
    assert past_output < 0.3


def test_knows_where_noise_matters(noisy):
    """The noise of each point is sigma_y^2 + (2 cos(2 u))^2 0.1^2: larger on slopes, smaller on
    crests.
    """
    exact_gp = prssm.NIGP(lags=1, window_noise="none").fit(curve(300, 0.1))
    assert noisy.training_.final[0] > exact_gp.training_.final[0] + 10
    assert noisy.training_.outcomes == ("finished",)


def test_without_input_noise_it_is_the_exact_gp():
    record = curve(60, 0.0)
    model = prssm.NIGP(lags=1, window_noise="none", normalise=False).fit(record)
    with double_precision():
        data = regression([record], 1)
        gp = jax.tree.map(lambda leaf: leaf[0], model.model_.gps)
        noise_var = jnp.full(len(data.x), model.model_.output_std[0] ** 2)
        oracle = exact.condition(
            gp.kernel, jnp.asarray(data.x), jnp.asarray(data.y[:, 0]), noise_var
        )
        points = jnp.asarray(np.random.default_rng(0).normal(size=(2, 20)))
        found = gp(points)
        expected = oracle(points)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-8)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-8)
    assert model.model_.process_std == [0.0]
    np.testing.assert_array_equal(model.window_std_, 0.0)


@pytest.mark.parametrize("noise", WINDOW_NOISES)
def test_point_noise_equals_an_explicit_loop(noise):
    with double_precision():
        data = regression([two_outputs()], 2)
        parameters = start_parameters(data, 1.0, 0.1)
        problem = first_problem(data, 2, noise)
        parameters = parameters._replace(log_output_std=jnp.asarray([-1.0, -2.0]))
        slopes = np.random.default_rng(1).normal(size=(2, *data.x.shape))
        found = np.asarray(point_noise(parameters, problem._replace(slopes=jnp.asarray(slopes))))
        window = np.exp(2 * np.asarray(parameters.log_window_std))
    np.testing.assert_allclose(window, (0.1 * data.x.std(axis=0)) ** 2)
    if noise in ("tied", "outputs"):
        window[:4] = np.exp([-2.0, -4.0, -2.0, -4.0])  # y1, y2 at the first lag, then at the second
    if noise in ("outputs", "none"):
        window[4:] = 0.0
    if noise == "none":
        window[:4] = 0.0
    for d in range(2):
        for n in range(5):
            assert found[d, n] == pytest.approx(
                np.exp(-2.0 * (d + 1)) + slopes[d, n] @ np.diag(window) @ slopes[d, n]
            )


def test_evidence_gradient_agrees_with_finite_differences():
    with double_precision():
        data = regression([two_outputs(25)], 1)
        slopes = jnp.asarray(np.random.default_rng(1).normal(size=(2, *data.x.shape)))
        problem = first_problem(data, 1, "tied")._replace(slopes=slopes)
        flat, rebuild = ravel_pytree(start_parameters(data, 1.0, 0.03))
        value = jax.jit(lambda point: evidence(rebuild(point), problem))
        slope = jax.jit(jax.grad(value))(flat)
        for seed in range(3):
            direction = jnp.asarray(np.random.default_rng(seed).normal(size=flat.shape))
            numeric = float(value(flat + 1e-6 * direction) - value(flat - 1e-6 * direction)) / 2e-6
            assert float(slope @ direction) == pytest.approx(numeric, rel=1e-5)


def test_a_saved_model_keeps_the_noise_of_its_window(noisy, tmp_path):
    again = prssm.load(noisy.save(tmp_path / "nigp.prssm"))
    np.testing.assert_array_equal(again.window_std_, noisy.window_std_)
