"""The ELBO against systems whose likelihood is known exactly."""

from dataclasses import replace
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads
from scipy.stats import multivariate_normal, norm

from prssm.data import windows
from prssm.data.record import Record
from prssm.dynamics.transition import Mean, Transition
from prssm.foundation.precision import double_precision
from prssm.gp.kernels import SquaredExponential
from prssm.gp.sparse import DiagonalInducing, SparseGP
from prssm.inference.gaussian.remembering import log_density
from prssm.models.prssm.elbo import Objective, StateSpaceModel, TrainingData
from prssm.models.prssm.emission import Selector
from prssm.models.prssm.recognition import Recognition, kl_to_standard_normal

A = np.array([[0.8, 0.3], [-0.2, 0.7]])
B = np.array([[0.5], [0.1]])
PROCESS_STD = 0.3
OUTPUT_STD = 0.4


class LinearDynamics(Mean):
    """m(x, u) = A x + B u, known."""

    def __call__(self, x, u):
        return jnp.asarray(A) @ x + jnp.asarray(B) @ u


def linear_model(recognition=None):
    """A PR-SSM whose GP is switched off (signal 1e-6), so that it is exactly the linear-Gaussian
    system above.
    """
    kernel = jax.vmap(lambda _: SquaredExponential.create(3, 1e-6, 1.0))(jnp.arange(2))
    zeta = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3, 3)))
    gp = SparseGP(kernel, zeta, DiagonalInducing(jnp.zeros((2, 3)), jnp.full((2, 3), np.log(1e-6))))
    transition = Transition(gp, LinearDynamics(), jnp.full(2, np.log(PROCESS_STD)))
    return StateSpaceModel(
        transition,
        Selector(1),
        recognition,
        log_output_std=jnp.full(1, np.log(OUTPUT_STD)),
        noise_memory=jnp.zeros(1),
    )


def linear_record(length, seed=0):
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(length, 1))
    x = rng.normal(size=2)
    y = np.empty((length, 1))
    for t in range(length):
        y[t] = x[0] + OUTPUT_STD * rng.normal()
        x = A @ x + B @ u[t] + PROCESS_STD * rng.normal(size=2)
    return Record(u, y)


def prior_moments(u):
    """Mean and variance of the first state at each step, and the covariance of all outputs, without
    data.
    """
    steps = len(u)
    mean = np.zeros(2)
    covariance = np.eye(2)
    means = []
    blocks = np.zeros((steps, 2, steps, 2))
    for t in range(steps):
        means.append(mean)
        blocks[t, :, t, :] = covariance
        forward = covariance
        for later in range(t + 1, steps):
            forward = A @ forward
            blocks[later, :, t, :] = forward
            blocks[t, :, later, :] = forward.T
        mean = A @ mean + B @ u[t]
        covariance = A @ covariance @ A.T + PROCESS_STD**2 * np.eye(2)
    return np.array(means)[:, 0], blocks[:, 0, :, 0]


def exact_log_likelihood(record):
    mean, covariance = prior_moments(record.u)
    return multivariate_normal(mean, covariance + OUTPUT_STD**2 * np.eye(len(mean))).logpdf(
        record.y[:, 0]
    )


def estimates(objective, model, data, count=40, seed=0):
    run = jax.jit(jax.vmap(partial(objective, model, data)))
    return np.asarray(run(jax.random.split(jax.random.key(seed), count)))


def full_objective(length, samples=50):
    return Objective(length, None, samples, window=1)


def test_full_elbo_is_the_closed_form_and_stays_below_the_exact_log_likelihood():
    """E_q[log p(y | x)] has a closed form on a linear system, because q(x_t) is its prior
    marginal.
    """
    record = linear_record(12)
    with double_precision():
        model = linear_model()
        data = TrainingData.of(windows.whole([record]))
        drawn = estimates(full_objective(12), model, data)
        kl = float(model.transition.condition().kl())
    mean, covariance = prior_moments(record.u)
    expected = (
        np.sum(
            norm.logpdf(record.y[:, 0], mean, OUTPUT_STD)
            - np.diag(covariance) / (2 * OUTPUT_STD**2)
        )
        - kl
    )
    assert abs(drawn.mean() - expected) < 4 * drawn.std() / np.sqrt(len(drawn))
    assert expected < exact_log_likelihood(record)
    assert drawn.mean() < exact_log_likelihood(record)


def test_spread_of_the_estimate_falls_as_one_over_the_root_of_the_samples():
    with double_precision():
        model = linear_model()
        data = TrainingData.of(windows.whole([linear_record(12)]))
        few, many = (
            estimates(full_objective(12, n), model, data, count=400).std() for n in (4, 64)
        )
    # relative error of a spread: 1 / sqrt(2 n) each
    assert few / many == pytest.approx(4.0, rel=4 * np.sqrt(1 / 400))


def test_missing_outputs_drop_their_terms_and_leave_finite_gradients():
    record = linear_record(8)
    holes = np.array(record.y)
    holes[[2, 5]] = np.nan
    with double_precision():
        model = linear_model()
        whole, gappy = (
            TrainingData.of(windows.whole([Record(record.u, y)])) for y in (record.y, holes)
        )
        objective = full_objective(8, 2000)
        key = jax.random.key(1)
        value_and_slope = jax.jit(jax.value_and_grad(objective))
        (whole_value, _), (gappy_value, gradient) = (
            value_and_slope(model, data, key) for data in (whole, gappy)
        )
        difference = float(whole_value - gappy_value)
    mean, covariance = prior_moments(record.u)
    terms = norm.logpdf(record.y[:, 0], mean, OUTPUT_STD) - np.diag(covariance) / (
        2 * OUTPUT_STD**2
    )
    per_sample_spread = 3.0  # of the two terms together, an upper bound
    assert difference == pytest.approx(
        terms[[2, 5]].sum(), abs=4 * per_sample_spread / np.sqrt(2000) * 2
    )
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))


def test_records_of_different_length_add_up():
    first = linear_record(6, 1)
    second = linear_record(9, 2)
    with double_precision():
        model = linear_model()
        separate = sum(
            estimates(
                full_objective(len(r), 200), model, TrainingData.of(windows.whole([r]))
            ).mean()
            for r in (first, second)
        )
        both = estimates(
            full_objective(9, 200), model, TrainingData.of(windows.whole([first, second]))
        )
        kl = float(model.transition.condition().kl())
    assert both.mean() == pytest.approx(
        separate + kl, abs=5 * both.std() / np.sqrt(len(both)) * np.sqrt(3)
    )


def recognised(window=3):
    return linear_model(Recognition.create(2 * window, 2, 4, 0.5, 1, np.random.default_rng(3)))


def test_mini_batches_are_an_unbiased_estimate_of_all_windows_scaled_to_the_data_set():
    record = linear_record(10)
    horizon = 4
    with double_precision():
        model = recognised()
        data = TrainingData.of(windows.sliding([record], horizon))
        # all windows, unscaled
        every = estimates(Objective(horizon, None, 50, window=3), model, data, count=100)
        batches = estimates(Objective(horizon, 2, 50, window=3), model, data, count=3000)
        kl = float(model.transition.condition().kl())
    count = len(record) - horizon + 1
    expected = (every.mean() + kl) * len(record) / (count * horizon) - kl
    assert abs(batches.mean() - expected) < 4 * (
        batches.std() / np.sqrt(len(batches)) + every.std() / np.sqrt(len(every))
    )


def test_errors_of_correlated_noise_have_the_joint_density_of_their_stretches():
    """Noise with correlation r from step to step is N(0, s^2 R), R_ij = r^|i-j|; after a gap its
    memory begins anew.
    """
    rng = np.random.default_rng(1)
    gap = 3
    correlation = 0.8
    variance = 0.3
    error = rng.normal(size=(9, 1, 1, 1))
    measured = np.arange(9)[:, None, None, None] != gap
    with double_precision():
        density = log_density(
            *(
                jnp.asarray(a)
                for a in (
                    error,
                    np.full((1, 1, 1), variance),
                    measured,
                    np.full((1, 1, 1), correlation),
                )
            )
        )
    expected = 0.0
    for part in (error[:gap].ravel(), error[gap + 1 :].ravel()):
        lags = np.abs(np.subtract.outer(np.arange(len(part)), np.arange(len(part))))
        expected += multivariate_normal(cov=variance * correlation**lags).logpdf(part)
    assert float(density) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("varies", [False, True])
def test_the_slopes_of_the_density_are_its_finite_differences(varies):
    """Two outputs, gaps, and a variance that is one number an output or one for each sample."""
    rng = np.random.default_rng(2)
    measured = jnp.asarray(rng.uniform(size=(6, 2, 3, 1)) < 0.7)
    shapes = ((6, 2, 3, 4), (6, 2, 3, 1) if varies else (2, 1, 1))
    with double_precision():
        start = (
            jnp.asarray(rng.normal(size=shapes[0])),
            jnp.asarray(rng.uniform(0.5, 2.0, size=shapes[1])),
            jnp.asarray([[[0.6]], [[-0.4]]]),
        )

        def density(error, noise_var, correlation):
            return log_density(error, noise_var, measured, correlation)

        check_grads(jax.jit(density), start, order=1, modes=["rev"], atol=1e-6, rtol=1e-6)


def test_the_first_state_pays_its_kl():
    """Doubling the recognised spread changes the ELBO of a one-sample window by likelihood and KL,
    both closed forms.
    """
    record = Record([[0.0], [0.0]], [[0.7], [np.nan]])
    with double_precision():
        model = recognised(window=1)
        data = TrainingData.of(windows.whole([record]))
        drawn = estimates(Objective(2, None, 200, window=1), model, data, count=200)
        mean, log_std = (
            np.asarray(part) for part in model.first_state(data.y_filled[:1], data.u[:1])
        )
        kl_z = float(model.transition.condition().kl())
        kl_x = float(kl_to_standard_normal(mean, log_std))
    likelihood = norm.logpdf(0.7, mean[0], OUTPUT_STD) - np.exp(2 * log_std[0]) / (
        2 * OUTPUT_STD**2
    )
    assert abs(drawn.mean() - (likelihood - kl_x - kl_z)) < 4 * drawn.std() / np.sqrt(len(drawn))


def test_kl_to_the_standard_normal_agrees_with_monte_carlo():
    mean = np.array([0.5, -1.0])
    std = np.array([0.3, 1.7])
    draws = mean + std * np.random.default_rng(0).normal(size=(50_000, 2))
    ratios = norm.logpdf(draws, mean, std).sum(axis=1) - norm.logpdf(draws).sum(axis=1)
    with double_precision():
        kl = float(kl_to_standard_normal(jnp.asarray(mean), jnp.log(std)))
    assert abs(kl - ratios.mean()) < 4 * ratios.std() / np.sqrt(len(ratios))


def test_gradient_of_the_elbo_agrees_with_finite_differences():
    record = linear_record(6)
    with double_precision():
        model = recognised()
        data = TrainingData.of(windows.sliding([record], 4))
        model = eqx.tree_at(
            lambda m: m.transition.gp.kernel.log_std, model, jnp.full(2, np.log(0.5))
        )
        value = jax.jit(lambda m: Objective(4, 2, 5, window=3)(m, data, jax.random.key(0)))
        gradient = jax.jit(jax.grad(value))(model)
        rng = np.random.default_rng(0)
        step = 1e-6
        for leaf_of in (
            lambda m: m.transition.gp.zeta,
            lambda m: m.transition.gp.inducing.mean,
            lambda m: m.recognition.mean_weight,
            lambda m: m.log_output_std,
            lambda m: m.transition.gp.kernel.log_lengthscale,
        ):
            direction = jnp.asarray(rng.normal(size=leaf_of(model).shape))
            ahead, behind = (
                value(eqx.tree_at(leaf_of, model, leaf_of(model) + sign * step * direction))
                for sign in (1, -1)
            )
            numeric = float(ahead - behind) / (2 * step)
            assert float(jnp.sum(leaf_of(gradient) * direction)) == pytest.approx(
                numeric, rel=1e-4, abs=1e-6
            )


def test_engines_give_the_same_elbo():
    with double_precision():
        model = recognised()
        data = TrainingData.of(windows.sliding([linear_record(10)], 5))
        objective = Objective(5, 2, 4, window=3)
        fast, oracle = (
            float(jax.jit(replace(objective, engine=engine))(model, data, jax.random.key(0)))
            for engine in ("adjoint", "scan")
        )
    assert fast == pytest.approx(oracle, rel=1e-12)
