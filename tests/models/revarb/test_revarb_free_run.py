"""The free run of REVARB: one step against Monte Carlo, the mean against a plain loop, draws
against the run's moments.
"""

import jax
import jax.numpy as jnp
import numpy as np

from prssm.foundation.precision import double_precision
from prssm.gp.conditional import Conditional
from prssm.gp.kernels import SquaredExponential
from prssm.models.revarb.free_run import State, draw_outputs, free_run

LAGS = 2
HIDDEN = 2
INPUTS = 1
SIZE = HIDDEN * LAGS
NOISE_VAR = np.array([[0.02], [0.03], [0.05]])


def random_gps(seed=0):
    """Posteriors of two hidden layers and the output layer, one output each."""
    random = np.random.default_rng(seed)
    gps = []
    for width in (LAGS + LAGS * INPUTS, 2 * LAGS, LAGS):
        zeta = random.normal(size=(5, width))
        kernel = SquaredExponential(np.zeros(1), np.log(random.uniform(1.5, 3.0, (1, width))))
        precision = np.linalg.inv(gram(kernel, zeta, zeta) + 0.1 * np.eye(5))
        gps.append(
            Conditional(
                kernel,
                zeta[None],
                (precision @ random.normal(size=5))[None],
                quadratic=precision[None],
            )
        )
    return tuple(gps)


def gram(kernel, a, b):
    return np.exp(
        -0.5 * np.sum(((a[:, None] - b) / np.exp(kernel.log_lengthscale[0])) ** 2, axis=-1)
    )


def posterior(gp, x):
    k = gram(gp.kernel, x, gp.zeta[0])
    return k @ gp.weights[0], 1.0 - np.sum(k @ gp.quadratic[0] * k, axis=1)


def start():
    random = np.random.default_rng(1)
    half = 0.3 * random.normal(size=(SIZE, SIZE))
    return State(random.normal(size=SIZE), half @ half.T)


def run(u, propagation, begin):
    with double_precision():
        gps = jax.tree.map(jnp.asarray, random_gps())
        begin = jax.tree.map(jnp.asarray, begin)
        return jax.tree.map(
            np.asarray,
            free_run(gps, jnp.asarray(NOISE_VAR[:-1]), begin, jnp.asarray(u), LAGS, propagation),
        )


def test_first_step_agrees_with_monte_carlo():
    """The new row of the first layer, and its covariance with all rows of both layers, are
    exact.
    """
    begin = start()
    u = np.array([[0.3, -0.5]])
    count = 200_000
    new, following = run(u, "moment-matching", begin).hidden
    random = np.random.default_rng(2)
    state = random.multivariate_normal(begin.mean, begin.covariance, count)
    mean, variance = posterior(
        random_gps()[0], np.concatenate([state[:, :LAGS], np.repeat(u, count, axis=0)], axis=1)
    )
    drawn = mean + np.sqrt(variance) * random.standard_normal(count)
    off = drawn - new.mean[0, 0]
    assert abs(off.mean()) < 5.0 * drawn.std() / np.sqrt(count)
    assert abs((off**2).mean() - new.covariance[0, 0, 0]) < 5.0 * (off**2).std() / np.sqrt(count)
    products = off[:, None] * (state - begin.mean)
    assert (
        np.abs(products.mean(axis=0) - new.cross[0, :, 0])
        < 5.0 * products.std(axis=0) / np.sqrt(count)
    ).all()
    noisy = off + np.sqrt(NOISE_VAR[0, 0]) * random.standard_normal(count)
    # the oldest row of the first layer has left
    moved = np.column_stack([noisy, (state - begin.mean)[:, [0, 2, 3]]])
    products = moved[:, :, None] * moved[:, None, :]
    assert (
        np.abs(products.mean(axis=0) - following.before[0])
        < 5.0 * products.std(axis=0) / np.sqrt(count)
    ).all()


def test_the_output_of_the_start_agrees_with_monte_carlo():
    begin = start()
    count = 200_000
    found = run(np.zeros((1, 2)), "moment-matching", begin).start
    random = np.random.default_rng(3)
    state = random.multivariate_normal(begin.mean, begin.covariance, count)
    mean, variance = posterior(random_gps()[2], state[:, LAGS:])
    drawn = mean + np.sqrt(variance) * random.standard_normal(count)
    off = drawn - found.mean[0]
    assert abs(off.mean()) < 5.0 * drawn.std() / np.sqrt(count)
    assert abs((off**2).mean() - found.covariance[0, 0]) < 5.0 * (off**2).std() / np.sqrt(count)


def plain_mean_run(u, begin):
    gps = random_gps()
    # newest first
    first = list(begin.mean[:LAGS])
    second = list(begin.mean[LAGS:])
    outputs = []
    for u_t in u:
        new = posterior(gps[0], np.array([[*first, *u_t]]))[0][0]
        first = [new, *first[:-1]]
        second = [posterior(gps[1], np.array([[*second, *first]]))[0][0], *second[:-1]]
        outputs.append(posterior(gps[2], np.array([second]))[0][0])
    return np.array(outputs)


def test_mean_propagation_is_the_plain_recursion():
    u = np.random.default_rng(4).normal(size=(12, 2))
    expected = plain_mean_run(u, start())
    np.testing.assert_allclose(run(u, "mean", start()).output.mean[:, 0], expected, rtol=1e-10)


def test_moment_matching_of_a_certain_state_begins_like_the_mean():
    u = np.random.default_rng(5).normal(size=(1, 2))
    certain = State(start().mean, np.zeros((SIZE, SIZE)))
    matched = run(u, "moment-matching", certain)
    mean = run(u, "mean", certain)
    np.testing.assert_allclose(matched.hidden[0].mean, mean.hidden[0].mean, rtol=1e-10)
    np.testing.assert_allclose(matched.hidden[0].covariance, mean.hidden[0].covariance, rtol=1e-8)


def test_draws_have_the_moments_of_the_run():
    u = np.random.default_rng(6).normal(size=(6, 2))
    count = 20_000
    steps = run(u, "moment-matching", start())
    paths = draw_outputs(
        steps, NOISE_VAR, start(), lags=LAGS, count=count, random=np.random.default_rng(7)
    )[:, :, 0]
    mean = np.concatenate([steps.start.mean, steps.output.mean[:, 0]])
    variance = (
        np.concatenate([steps.start.covariance[0], steps.output.covariance[:, 0, 0]])
        + NOISE_VAR[-1]
    )
    off = paths - mean
    assert (np.abs(off.mean(axis=0)) < 5.0 * np.sqrt(variance / count)).all()
    assert (np.abs((off**2).mean(axis=0) / variance - 1.0) < 5.0 * np.sqrt(2.0 / count)).all()
