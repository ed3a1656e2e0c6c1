"""The bound of REVARB: windows by hand, the evidence by quadrature, the sparse GP, finite
differences.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from prssm.data.lag_windows import regression
from prssm.data.record import Record
from prssm.foundation.errors import DataError
from prssm.foundation.precision import double_precision
from prssm.gp.collapsed import CollapsedGP, Pairs
from prssm.gp.kernels import SquaredExponential
from prssm.models.revarb.bound import Revarb, RevarbData, objective
from prssm.training.quasi_newton import maximise


def random_layer(random, width, outputs, signal, inducing=3):
    log_std = np.asarray(np.log(signal * random.uniform(0.8, 1.5)))
    kernel = SquaredExponential(log_std, np.log(random.uniform(0.8, 2.0, width)))
    return CollapsedGP(
        kernel, random.normal(size=(inducing, width)), np.log(random.uniform(0.3, 0.6, outputs))
    )


def random_model(seed, hidden, rows, lags, inputs, outputs=1, signal=1.0):
    random = np.random.default_rng(seed)
    widths = [lags * (outputs + inputs), *[2 * lags * outputs] * (hidden - 1), lags * outputs]
    layers = tuple(random_layer(random, width, outputs, signal=signal) for width in widths)
    shape = (hidden, rows, outputs)
    return Revarb(layers, random.normal(size=shape), np.log(random.uniform(0.2, 0.6, shape)))


value = jax.jit(objective)
pairs_of = jax.jit(lambda model, data: model.pairs(data))


def test_windows_of_two_records_by_hand():
    u = np.arange(9.0)
    records = [Record(u[:5], 10 + u[:5]), Record(u[5:], 10 + u[5:])]
    data = RevarbData.of(records, lags=2)
    model = Revarb((), np.stack([100 + u[:, None], 200 + u[:, None]]), np.zeros((2, 9, 1)))
    with double_precision():
        first, second, output = jax.tree.map(np.asarray, pairs_of(model, data))
    np.testing.assert_array_equal(
        first.mean,
        [[101, 100, 1, 0], [102, 101, 2, 1], [103, 102, 3, 2], [106, 105, 6, 5], [107, 106, 7, 6]],
    )
    np.testing.assert_array_equal(first.target[:, 0], [102, 103, 104, 107, 108])
    np.testing.assert_array_equal(first.var, [[1, 1, 0, 0]] * 5)  # inputs are known
    # own past, then the layer below up to now
    np.testing.assert_array_equal(second.mean[0], [201, 200, 102, 101])
    np.testing.assert_array_equal(second.target[:, 0], [202, 203, 204, 207, 208])
    np.testing.assert_array_equal(output.mean[[0, 4]], [[201, 200], [206, 205]])
    np.testing.assert_array_equal(output.target[:, 0], [11, 12, 13, 14, 16, 17, 18])


def log_evidence(model, data, y):
    """log p(y_0, y_1, y_2) with one lag and no inputs, by integrating over x_0, x_1, x_2 on a
    grid.
    """
    grid = np.linspace(-6.0, 6.0, 61)
    x = np.stack([part.ravel() for part in np.meshgrid(grid, grid, grid, indexing="ij")], axis=1)
    transition, output = model.layers

    def covariance(layer, at):
        away = (at[:, :, None] - at[:, None, :]) / np.exp(layer.kernel.log_lengthscale[0])
        return np.exp(2.0 * layer.kernel.log_std - 0.5 * away**2) + np.exp(
            2.0 * layer.log_noise_std[0]
        ) * np.eye(at.shape[1])

    def log_normal(values, covariances):
        solved = np.linalg.solve(covariances, values[..., None])[..., 0]
        size = values.shape[-1]
        return -0.5 * (
            np.sum(values * solved, axis=-1)
            + np.linalg.slogdet(covariances)[1]
            + size * np.log(2.0 * np.pi)
        )

    first = log_normal(
        (x[:, :1] - data.first_mean), np.full((len(x), 1, 1), data.first_std[0] ** 2)
    )
    joint = first + log_normal(x[:, 1:], covariance(transition, x[:, :2]))
    joint += log_normal(np.broadcast_to(y, x.shape), covariance(output, x))
    peak = joint.max()
    return peak + np.log(np.sum(np.exp(joint - peak))) + 3.0 * np.log(grid[1] - grid[0])


@pytest.mark.parametrize(("signal", "largest_gap"), [(1.0, 4.0), (0.05, 0.1)])
def test_the_bound_stays_below_the_evidence(signal, largest_gap):
    """And comes near it where the signal is small against the noise: then the rows are nearly
    independent, as in q.
    """
    y = np.array([0.6, -0.2, 0.9])
    data = RevarbData.of([Record(None, y)], lags=1)
    for seed in range(2):
        model = random_model(seed, 1, 3, lags=1, inputs=0, signal=signal)
        exact = log_evidence(model, data, y)
        with double_precision():
            model = jax.tree.map(jnp.asarray, model)
            assert float(value(model, data)) < exact
            best = maximise(
                _over_q,
                (model.q_mean, model.q_log_std, [layer.zeta for layer in model.layers]),
                (model, data),
                iterations=200,
            )
        assert exact - largest_gap < best.value < exact


def _over_q(free, model, data):
    q_mean, q_log_std, zetas = free
    layers = tuple(
        CollapsedGP(layer.kernel, zeta, layer.log_noise_std)
        for layer, zeta in zip(model.layers, zetas, strict=True)
    )
    return Revarb(layers, q_mean, q_log_std).bound(data)


def test_observed_states_give_the_sparse_gp_bound_of_a_narx_model():
    """q(x_t) a point at y_t: the hidden layer is regression of y_t on its own window."""
    random = np.random.default_rng(4)
    record = Record(random.normal(size=12), random.normal(size=12))
    data = RevarbData.of([record], lags=2)
    narx = regression([record], 2)
    model = random_model(5, 1, 12, lags=2, inputs=1)
    model = Revarb(model.layers, record.y[None], np.full((1, 12, 1), np.log(1e-9)))
    layer = model.layers[0]
    kernel = layer.kernel

    def gram(a, b):
        return np.exp(
            2 * kernel.log_std
            - 0.5 * np.sum(((a[:, None] - b) / np.exp(kernel.log_lengthscale)) ** 2, axis=-1)
        )

    noise_var = np.exp(2 * layer.log_noise_std[0])
    cross = gram(narx.x, layer.zeta)
    prior = gram(layer.zeta, layer.zeta) + 1e-6 * np.exp(2 * kernel.log_std) * np.eye(3)
    q = cross @ np.linalg.solve(prior, cross.T)
    covariance = q + noise_var * np.eye(len(q))
    titsias = -0.5 * (
        narx.y[:, 0] @ np.linalg.solve(covariance, narx.y[:, 0])
        + np.linalg.slogdet(covariance)[1]
        + len(q) * np.log(2 * np.pi)
        + (len(q) * np.exp(2 * kernel.log_std) - np.trace(q)) / noise_var
    )
    with double_precision():
        hidden, _ = pairs_of(model, data)
        found = float(jax.jit(lambda gp, pairs: gp.bound(pairs))(layer, hidden))
    np.testing.assert_allclose(found, titsias, rtol=1e-9)


def test_gradient_agrees_with_finite_differences():
    random = np.random.default_rng(6)
    y = random.normal(size=(8, 2))
    y[3, 0] = np.nan
    data = RevarbData.of([Record(random.normal(size=8), y)], lags=2)
    with double_precision():
        model = jax.tree.map(jnp.asarray, random_model(7, 2, 8, lags=2, inputs=1, outputs=2))
        both = jax.jit(jax.value_and_grad(objective))
        gradient = both(model, data)[1]
        for seed in range(3):
            random = np.random.default_rng(seed)
            way = jax.tree.map(
                lambda leaf, random=random: jnp.asarray(random.normal(size=leaf.shape)), model
            )
            slope = sum(
                float(jnp.sum(g * w))
                for g, w in zip(jax.tree.leaves(gradient), jax.tree.leaves(way), strict=True)
            )
            ahead, behind = (
                float(both(jax.tree.map(lambda a, b, step=step: a + step * b, model, way), data)[0])
                for step in (1e-5, -1e-5)
            )
            np.testing.assert_allclose((ahead - behind) / 2e-5, slope, rtol=1e-5)


def test_a_missing_output_leaves_only_its_own_term_out():
    random = np.random.default_rng(8)
    y = random.normal(size=6)
    gap = np.where(np.arange(6) == 4, np.nan, y)
    model = random_model(9, 1, 6, lags=1, inputs=0)
    data = RevarbData.of([Record(None, gap)], lags=1)
    full = RevarbData.of([Record(None, y)], lags=1)._replace(
        first_mean=data.first_mean, first_std=data.first_std
    )
    rows = np.delete(np.arange(6), 4)
    with double_precision():
        output = pairs_of(model, full)[-1]
        bound = jax.jit(lambda gp, pairs: gp.bound(pairs))
        change = float(
            bound(model.layers[-1], output)
            - bound(model.layers[-1], Pairs(*(part[rows] for part in output)))
        )
        np.testing.assert_allclose(
            float(value(model, full) - value(model, data)), change, rtol=1e-9
        )


def test_records_shorter_than_the_window_are_left_out_or_refused():
    short = Record(None, np.arange(3.0))
    long = Record(None, np.arange(5.0))
    assert len(RevarbData.of([short, long], lags=3).y) == 5
    with pytest.raises(DataError, match="3 rows; lags=3 needs at least 4"):
        RevarbData.of([short], lags=3)
