"""The free run of the window: against the propagated mean, exact linear recursions, and
sampling.
"""

import jax
import jax.numpy as jnp
import numpy as np

from prssm.foundation.precision import double_precision
from prssm.gp.exact import condition
from prssm.gp.kernels import SquaredExponential
from prssm.models.narx.free_run import Window, draw_paths, free_run

NOISE_VAR = np.array([0.01])


def stacked(parts):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *parts)


def linear_posterior():
    """A GP that has learnt y = 0.5 y1 - 0.3 y2 + 0.2 u1 nearly exactly: very long length scales."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(30, 4))  # y lags 1, 2, then u lags 1, 2
    y = x @ [0.5, -0.3, 0.2, 0.0]
    kernel = SquaredExponential(jnp.log(jnp.asarray(30.0)), jnp.log(jnp.full(4, 300.0)))
    return stacked([condition(kernel, jnp.asarray(x), jnp.asarray(y), jnp.full(30, 1e-4))])


def bent_posterior():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(15, 4))
    kernel = SquaredExponential(jnp.log(jnp.asarray(1.0)), jnp.log(jnp.full(4, 1.5)))
    return stacked(
        [
            condition(
                kernel,
                jnp.asarray(x),
                jnp.asarray(np.sin(2 * x[:, 0]) + 0.5 * x[:, 2]),
                jnp.full(15, 0.02),
            )
        ]
    )


def run(gps, steps=6, propagation="moment-matching", start_var=0.0, seed=2):
    start = Window(jnp.asarray([0.3, -0.4]), start_var * jnp.eye(2))
    u = jnp.asarray(np.random.default_rng(seed).normal(size=(steps, 2)))
    return (
        jax.tree.map(np.asarray, free_run(gps, jnp.asarray(NOISE_VAR), start, u, propagation)),
        start,
        np.asarray(u),
    )


def test_a_linear_system_has_the_moments_of_its_lyapunov_recursion():
    """Mean A m + B u and covariance A S A' + noise of the window, the correlation with the lags
    included.
    """
    with double_precision():
        found, start, u = run(linear_posterior(), steps=8, start_var=0.2)
    step = np.array([[0.5, -0.3], [1.0, 0.0]])
    mean = np.asarray(start.mean)
    covariance = np.asarray(start.covariance)
    for t in range(8):
        expected = step[0] @ mean + 0.2 * u[t, 0]
        variance = step[0] @ covariance @ step[0]
        np.testing.assert_allclose(found.mean[t, 0], expected, atol=1e-3)
        np.testing.assert_allclose(found.covariance[t, 0, 0], variance, rtol=0.01, atol=1e-4)
        mean = np.array([expected, mean[0]])
        covariance = step @ covariance @ step.T + np.diag([NOISE_VAR[0], 0.0])


def test_the_first_two_steps_agree_with_sampling():
    """From a certain window the first step is Gaussian, so the second step's matched moments are
    exact.
    """
    count = 100_000
    with double_precision():
        gps = bent_posterior()
        found, start, u = run(gps, steps=2)
        rng = np.random.default_rng(3)
        gp = jax.tree.map(lambda leaf: leaf[0], gps)
        first_mean = found.mean[0, 0]
        first_var = found.covariance[0, 0, 0] + NOISE_VAR[0]
        y1 = first_mean + np.sqrt(first_var) * rng.normal(size=count)
        points = np.stack(
            [
                y1,
                np.full(count, float(start.mean[0])),
                np.full(count, u[1, 0]),
                np.full(count, u[1, 1]),
            ]
        )
        mean, variance = (np.asarray(part) for part in gp(jnp.asarray(points)))
    y2 = mean + np.sqrt(variance) * rng.normal(size=count)
    assert abs(y2.mean() - found.mean[1, 0]) < 4.5 * y2.std() / np.sqrt(count)
    squared = (y2 - found.mean[1, 0]) ** 2
    assert abs(squared.mean() - found.covariance[1, 0, 0]) < 4.5 * squared.std() / np.sqrt(count)
    product = (y1 - first_mean) * (y2 - found.mean[1, 0])
    assert abs(product.mean() - found.cross[1, 0, 0]) < 4.5 * product.std() / np.sqrt(count)


def test_mean_propagation_iterates_the_mean():
    with double_precision():
        gps = bent_posterior()
        found, start, u = run(gps, propagation="mean")
        gp = jax.tree.map(lambda leaf: leaf[0], gps)
        window = np.asarray(start.mean)
        for t in range(len(u)):
            mean, variance = gp(jnp.asarray(np.concatenate([window, u[t]]))[:, None])
            np.testing.assert_allclose(found.mean[t], mean, rtol=1e-9)
            np.testing.assert_allclose(found.covariance[t, 0], variance, rtol=1e-9)
            window = np.array([float(mean[0]), window[0]])


def test_drawn_paths_have_the_moments_of_the_run():
    count = 40_000
    with double_precision():
        found, start, _ = run(bent_posterior(), start_var=0.1)
    paths = draw_paths(
        found,
        NOISE_VAR,
        jax.tree.map(np.asarray, start),
        count=count,
        random=np.random.default_rng(0),
    )[:, :, 0]
    variance = found.covariance[:, 0, 0] + NOISE_VAR[0]
    assert (np.abs(paths.mean(axis=0) - found.mean[:, 0]) < 4.5 * np.sqrt(variance / count)).all()
    assert (np.abs(paths.var(axis=0) / variance - 1.0) < 4.5 * np.sqrt(2.0 / count)).all()
    products = (paths[:, 1:] - found.mean[1:, 0]) * (paths[:, :-1] - found.mean[:-1, 0])
    assert (
        np.abs(products.mean(axis=0) - found.cross[1:, 0, 0])
        < 4.5 * products.std(axis=0) / np.sqrt(count)
    ).all()
