"""The particle sampler on linear-Gaussian systems, where the posterior of all states is one
Gaussian.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from prssm.foundation.precision import double_precision
from prssm.inference.particles.gibbs import Noise, Update, choose, sample_path, trace_back

F = np.array([[0.9, 0.3], [-0.2, 0.7]])
Q = np.array([[0.3, 0.1], [0.1, 0.2]])
P1 = np.array([[1.0, 0.2], [0.2, 0.8]])
M1 = np.array([0.5, -0.3])
R_STD = np.array([0.4])
Y = np.array([0.3, 1.1, np.nan, -0.4, 0.2, 0.9, np.nan, 0.1])[:, None]
DRIVE = np.random.default_rng(1).normal(size=(len(Y), 2))


@pytest.fixture(autouse=True)
def _double():
    with double_precision():
        yield


def joint_prior():
    """Mean (T Dx) and covariance of the stacked states."""
    length = len(Y)
    mean = np.zeros((length, 2))
    cov = np.zeros((length, 2, length, 2))
    mean[0] = M1
    cov[0, :, 0, :] = P1
    for t in range(1, length):
        mean[t] = F @ mean[t - 1] + DRIVE[t - 1]
        for s in range(t):
            cov[t, :, s, :] = F @ cov[t - 1, :, s, :]
            cov[s, :, t, :] = cov[t, :, s, :].T
        cov[t, :, t, :] = F @ cov[t - 1, :, t - 1, :] @ F.T + Q
    return mean.ravel(), cov.reshape(2 * length, 2 * length)


def exact_posterior():
    """Smoothed mean and covariance, and log p(y), by brute force."""
    mean, cov = joint_prior()
    rows = 2 * np.flatnonzero(~np.isnan(Y[:, 0]))  # the first state of each time that was measured
    y = Y[~np.isnan(Y)]
    S = cov[np.ix_(rows, rows)] + R_STD**2 * np.eye(len(rows))
    gain = np.linalg.solve(S, cov[rows]).T
    log_likelihood = multivariate_normal(mean[rows], S).logpdf(y)
    return mean + gain @ (y - mean[rows]), cov - gain @ cov[rows], log_likelihood


def noise():
    return Noise(jnp.asarray(Q), jnp.asarray(M1), jnp.asarray(P1), output_std=jnp.asarray(R_STD))


def step(x, drift):
    return x @ jnp.asarray(F).T + drift


@partial(jax.jit, static_argnames=("chains", "sweeps", "particles"))
def run_chains(key, chains, sweeps, particles):
    """Independent chains from a poor start; their paths after each sweep (sweeps, chains, T,
    Dx).
    """

    def sweep(paths, one):
        keys = jax.random.split(one, chains)

        def draw(k, path):
            return sample_path(
                step,
                jnp.asarray(DRIVE),
                jnp.asarray(Y),
                noise=noise(),
                particles=particles,
                key=k,
                reference=path,
            )[0]

        paths = jax.vmap(draw)(keys, paths)
        return paths, paths

    start = jnp.full((chains, len(Y), 2), 3.0)
    return jax.lax.scan(sweep, start, jax.random.split(key, sweeps))[1]


def test_sweeps_sample_the_smoothing_distribution():
    """Mean and all covariances of independent chains' last paths, within the standard error; five
    particles are enough.
    """
    chains = 3000
    paths = np.asarray(run_chains(jax.random.key(0), chains, 30, particles=5))[-1].reshape(
        chains, -1
    )
    mean, cov, _ = exact_posterior()
    deviation = np.sqrt(np.diag(cov))
    assert np.abs((paths.mean(axis=0) - mean) / deviation).max() < 4.5 / np.sqrt(chains)
    centred = (paths - mean) / deviation
    correlation = cov / np.outer(deviation, deviation)
    error = np.sqrt((1 + correlation**2) / chains)  # standard error of a product of normals
    assert (np.abs(centred.T @ centred / chains - correlation) / error).max() < 5.0


def test_the_filter_estimates_the_likelihood_without_bias():
    count = 4000

    def filter_(k):
        return sample_path(
            step, jnp.asarray(DRIVE), jnp.asarray(Y), noise=noise(), particles=10, key=k
        )[1]

    estimates = np.asarray(jax.jit(jax.vmap(filter_))(jax.random.split(jax.random.key(3), count)))
    ratio = np.exp(estimates - exact_posterior()[2])
    assert abs(ratio.mean() - 1.0) < 4.5 * ratio.std() / np.sqrt(count)
    assert ratio.std() < 2.0  # so that the line above says something


def test_without_outputs_paths_are_draws_from_the_prior():
    count = 4000
    nothing = jnp.full(Y.shape, jnp.nan)

    def draw(k):
        return sample_path(step, jnp.asarray(DRIVE), nothing, noise=noise(), particles=3, key=k)

    paths, log_likelihood = jax.jit(jax.vmap(draw))(jax.random.split(jax.random.key(4), count))
    mean, cov = joint_prior()
    error = np.sqrt(np.diag(cov) / count)
    assert (np.abs(np.asarray(paths).reshape(count, -1).mean(axis=0) - mean) / error).max() < 4.5
    np.testing.assert_allclose(log_likelihood, 0.0, atol=1e-12)


@pytest.mark.parametrize("seen", [(True, True), (True, False), (False, False)])
def test_update_is_bayes_rule(seen):
    """Against the information form, with one, two or no outputs of a three-dimensional state."""
    rng = np.random.default_rng(5)
    root = rng.normal(size=(3, 3))
    P = root @ root.T
    std = np.array([0.5, 0.8])
    y = rng.normal(size=2)
    mean = rng.normal(size=3)
    C = np.eye(2, 3)[list(seen)]
    noise_var = std[list(seen)] ** 2
    update = Update.create(jnp.asarray(P), jnp.asarray(std), jnp.asarray(seen))
    innovation = update.innovation(jnp.asarray(mean)[None], jnp.asarray(y))
    posterior = np.linalg.inv(np.linalg.inv(P) + C.T @ (C / noise_var[:, None]))
    expected = posterior @ (np.linalg.solve(P, mean) + C.T @ (y[list(seen)] / noise_var))
    np.testing.assert_allclose(
        update.draw(jnp.asarray(mean)[None], innovation, jnp.zeros((1, 3)))[0], expected, rtol=1e-9
    )
    np.testing.assert_allclose(update.spread @ update.spread.T, posterior, rtol=1e-9, atol=1e-12)
    density = (
        multivariate_normal(C @ mean, C @ P @ C.T + np.diag(noise_var)).logpdf(y[list(seen)])
        if any(seen)
        else 0.0
    )
    np.testing.assert_allclose(update.log_predictive(innovation)[0], density, atol=1e-12)


def test_choice_follows_the_weights():
    weights = np.array([0.1, 0.0, 0.6, 0.3])
    uniform = (np.arange(1000) + 0.5) / 1000
    index = np.asarray(choose(jnp.log(weights) + 7.0, jnp.asarray(uniform)))
    np.testing.assert_array_equal(np.bincount(index, minlength=4), [100, 0, 600, 300])


def test_trace_back_follows_ancestors():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(6, 4, 2))
    ancestors = rng.integers(0, 4, size=(5, 4))
    index = 2
    expected = [x[5, 2]]
    for t in range(4, -1, -1):
        index = ancestors[t, index]
        expected.insert(0, x[t, index])
    np.testing.assert_array_equal(
        trace_back(jnp.asarray(x), jnp.asarray(ancestors), jnp.asarray(2)), expected
    )
