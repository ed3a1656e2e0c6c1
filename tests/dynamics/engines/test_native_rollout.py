"""The native engine against the differentiated scan and against closed forms."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_cases import (
    STRUCTURES,
    VALUES,
    assert_equal_but_for_rounding,
    loss,
    make_inputs,
    make_transition,
    need_native_library,
    value_and_slopes,
)

import prssm
from prssm.dynamics.engines import choice
from prssm.dynamics.engines.choice import rollout
from prssm.dynamics.engines.native import library
from prssm.dynamics.engines.native.engine import native_rollout
from prssm.dynamics.transition import Dynamics, Transition, ZeroMean
from prssm.foundation.precision import double_precision
from prssm.gp.kernels import SquaredExponential
from prssm.gp.sparse import Posterior, SparseGP

SINGLE_EPS = float(np.finfo(np.float32).eps)
condition = jax.jit(Transition.condition)


@pytest.fixture(autouse=True, scope="module")
def _library():
    need_native_library()


@settings(max_examples=40, deadline=None)
@given(structure=st.sampled_from(STRUCTURES), **VALUES)
def test_value_and_gradient_equal_those_of_the_differentiated_scan(structure, **values):
    with double_precision():
        transition, inputs, draws = structure.case(**values)
        oracle, native = (
            value_and_slopes(transition, *inputs, name, draws) for name in ("scan", "native")
        )
        assert_equal_but_for_rounding(transition, structure.points, native, expected=oracle)


def test_shared_inducing_inputs_are_those_of_each_dimension_where_all_are_equal():
    """The value is the same; what is shared has the sum of the gradients of its copies, the rest
    its own.
    """
    with double_precision():
        shared = make_transition(3, 1, 5, covariance="full", shared=True)
        inputs = make_inputs(3, 1, 6, batch=10)
        gp = shared.gp
        kernel, zeta = jax.tree.map(lambda leaf: jnp.repeat(leaf, 3, axis=0), (gp.kernel, gp.zeta))
        copies = Transition(
            SparseGP(kernel, zeta, gp.inducing), shared.mean, shared.log_process_std
        )
        value, (got, *_) = value_and_slopes(shared, *inputs, "native")
        expected_value, (expected, *_) = value_and_slopes(copies, *inputs, "native")
    assert float(value) == pytest.approx(float(expected_value), rel=1e-12)
    got, expected = jax.tree.map(np.asarray, (got, expected))
    summed = jax.tree.map(
        lambda copies: copies.sum(axis=0, keepdims=True), (expected.gp.kernel, expected.gp.zeta)
    )
    pairs = [((got.gp.kernel, got.gp.zeta), summed), (got.gp.inducing, expected.gp.inducing)]
    for ours, theirs in pairs:
        jax.tree.map(
            lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9),
            ours,
            theirs,
        )


def contracting(points, steps, batch):
    """Dynamics that forget rounding errors, so that they do not grow along a trajectory."""
    transition = make_transition(3, 1, points, mean="zero", seed=5)
    return transition, make_inputs(3, 1, steps, batch=batch)


@pytest.mark.parametrize(("steps", "batch"), [(5, 7), (60, 33)])
def test_single_precision_is_as_good_as_its_rounding(steps, batch):
    """A step adds up P products of W (at most |W|) with numbers below one, so it is wrong by at
    most P |W| eps.
    """
    with double_precision():
        transition, inputs = contracting(12, steps, batch)
        step_error = 12 * float(jnp.abs(transition.condition().gp.white).max()) * SINGLE_EPS
        exact, single = (
            value_and_slopes(transition, *inputs, name) for name in ("native", "native-single")
        )
        assert float(exact[0]) != float(single[0])
        for expected, got in zip(*map(jax.tree.leaves, (exact, single)), strict=True):
            assert got.dtype == jnp.float64
            scale = float(np.abs(expected).max(initial=0))
            np.testing.assert_allclose(got, expected, rtol=0, atol=steps * step_error * (1 + scale))


@pytest.mark.parametrize(
    ("kind", "eps"), [(jnp.float32, SINGLE_EPS), (jnp.float64, float(np.finfo(float).eps))]
)
def test_the_exponential_is_correct_to_rounding(kind, eps):
    """With one inducing point at zero, W = m = s = 1 and no noise, the second state is exp(-x^2 /
    2).
    """
    with double_precision():
        kernel = SquaredExponential(jnp.zeros(1, kind), jnp.zeros((1, 1), kind))
        one = jnp.ones((1, 1, 1), kind)
        dynamics = Dynamics(
            Posterior(kernel, 0 * one, one, mean=one[0], spread=None),
            ZeroMean(),
            jnp.zeros(1, kind),
        )
        x = np.linspace(0, 12, 4001).astype(np.dtype(kind)).astype(float)
        nothing = jnp.zeros((2, 1, x.size), kind)
        states = rollout(
            dynamics, jnp.asarray(x[None], kind), nothing[:, :0], eps=nothing, engine="native"
        )
        # five roundings, half an eps each, make the exponent x^2 / 2 (scaling and its constant
        # count twice); four the rest
        error = np.abs(np.asarray(states[1, 0], float) / np.exp(-(x**2) / 2) - 1)
    assert (error <= (1.25 * x**2 + 2) * eps).all()
    assert states.dtype == kind


def test_far_from_all_data_the_kernel_vanishes():
    with double_precision():
        dynamics = condition(make_transition(2, 1, 5))
        (x1, u, eps) = make_inputs(2, 1, 4, batch=3)
        states = rollout(dynamics, x1 + 1e8, u, eps=0 * eps, engine="native")
    # all that is left is the prior mean, the identity
    np.testing.assert_array_equal(states[1], states[0])


@pytest.mark.parametrize("shared", [False, True])
def test_the_floor_of_the_variance_passes_no_gradient(shared):
    """With W too large, k_xx - |a|^2 is negative near the inducing inputs and positive far away:
    both happen here.
    """
    with double_precision():
        dynamics = condition(make_transition(2, 1, 6, covariance="full", shared=shared))
        dynamics = Dynamics(
            Posterior(
                dynamics.gp.kernel,
                dynamics.gp.zeta,
                1.3 * dynamics.gp.white,
                mean=dynamics.gp.mean,
                spread=dynamics.gp.spread,
            ),
            dynamics.mean,
            dynamics.process_var,
        )
        inputs = make_inputs(2, 1, 9, batch=21)

        @jax.jit
        def slopes(dynamics):
            return [
                jax.grad(lambda d, name=name: jnp.sum(jnp.sin(rollout(d, *inputs, name))))(dynamics)
                for name in ("scan", "native")
            ]

        for expected, got in zip(*map(jax.tree.leaves, slopes(dynamics)), strict=True):
            expected = (
                np.tril(expected)
                if expected.ndim == 3 and expected.shape[1] == expected.shape[2]
                else expected
            )
            np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-10)


def test_vmap_over_models_and_over_inputs_equals_one_after_the_other():
    with double_precision():
        transitions = [make_transition(2, 1, 5, seed=seed) for seed in (0, 1, 2)]
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *transitions)
        many = [make_inputs(2, 1, 6, batch=5, seed=seed) for seed in (3, 4)]
        both = jax.tree.map(lambda *leaves: jnp.stack(leaves), *many)
        gradient = jax.grad(loss)
        over_models = jax.vmap(gradient, (0, None, None, None, None))
        together = jax.jit(jax.vmap(lambda x1, u, eps: over_models(stacked, x1, u, eps, "native")))(
            *both
        )
        for j, inputs in enumerate(many):
            for i, transition in enumerate(transitions):
                alone = gradient(transition, *inputs, "native")
                for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(alone), strict=True):
                    np.testing.assert_allclose(a[j, i], b, rtol=1e-12, atol=1e-13)


def test_gradients_of_inputs_and_noise_are_computed_only_where_asked_for():
    """Where nobody asks, the library is given empty arrays for them."""
    with double_precision():
        transition = make_transition(2, 1, 5, mean="network")
        inputs = make_inputs(2, 1, 4, batch=3)
        traced = {
            argument: str(
                jax.make_jaxpr(jax.grad(loss, argument), static_argnums=4)(
                    transition, *inputs, "native"
                )
            )
            for argument in (0, 1, 2, 3)
        }
    assert ["f64[0]" in traced[argument] for argument in (0, 1, 2, 3)] == [True, True, False, False]


@pytest.mark.parametrize("name", ["native", "native-single"])
def test_the_number_of_threads_changes_no_bit(name, monkeypatch):
    with double_precision():
        transition = make_transition(3, 1, 12, covariance="full")
        inputs = make_inputs(3, 1, 60, batch=333)
        results = []
        for threads in ("1", "2", "5"):
            monkeypatch.setenv("PRSSM_THREADS", threads)
            results.append(jax.block_until_ready(value_and_slopes(transition, *inputs, name)))
    for one, two, five in zip(*map(jax.tree.leaves, results), strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, five)


def test_the_copies_for_other_processors_agree(monkeypatch):
    """The copy for any processor is used where no better one can run: here it is asked for."""
    with double_precision():
        transition = make_transition(3, 1, 9)
        inputs = make_inputs(3, 1, 10, batch=37)
        usual = library.description()
        best = jax.block_until_ready(value_and_slopes(transition, *inputs, "native"))
        monkeypatch.setenv("PRSSM_VARIANT", "baseline")
        assert "running as baseline" in library.description()
        plain = jax.block_until_ready(value_and_slopes(transition, *inputs, "native"))
    pairs = [
        tuple(map(np.asarray, pair))
        for pair in zip(*map(jax.tree.leaves, (best, plain)), strict=True)
    ]
    for a, b in pairs:
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-11)
    if "running as baseline" not in usual:
        assert any((a != b).any() for a, b in pairs), "the same copy ran twice"


def test_a_model_that_is_not_finite_spoils_only_itself():
    with double_precision():
        good = make_transition(2, 1, 5)
        inputs = make_inputs(2, 1, 8, batch=19)
        bad = jax.tree.map(lambda leaf: leaf * jnp.nan, good)
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), good, bad)
        value, slopes = jax.vmap(lambda t: jax.value_and_grad(loss)(t, *inputs, "native"))(stacked)
    assert np.isfinite(value[0])
    assert np.isnan(value[1])
    for leaf in jax.tree.leaves(slopes):
        assert np.isfinite(leaf[0]).all()
        assert np.isnan(leaf[1]).any()


@pytest.mark.parametrize("first", [np.nan, np.inf])
def test_a_state_that_is_not_finite_stays_in_its_trajectory(first):
    with double_precision():
        x1, u, eps = make_inputs(2, 1, 5, batch=19)
        states = rollout(
            condition(make_transition(2, 1, 5)), x1.at[:, 3].set(first), u, eps=eps, engine="native"
        )
    finite = np.isfinite(np.asarray(states)).all(axis=(0, 1))
    assert finite.sum() == 18
    assert not finite[3]


OPTIONS = {
    "latent_dim": 1,
    "inducing": 3,
    "samples": 2,
    "batch": 2,
    "horizon": 8,
    "recognition_window": 2,
    "recognition_hidden": 2,
    "iterations": 4,
    "restarts": 2,
}


def noise(seed):
    rng = np.random.default_rng(seed)
    return prssm.Record(rng.normal(size=60), rng.normal(size=60))


def fit(data, **options):
    """A fit whose rollouts JAX calls.

    The compiled trainer does not know the predictive likelihood.
    """
    config = OPTIONS | {"likelihood": "predictive", "engine": "native"} | options
    return prssm.PRSSM("paper", **config).fit(noise(data))


@pytest.fixture(scope="module")
def trained():
    """A model, and a list that grows whenever JAX traces a native rollout.

    Only then is it called from Python.
    """
    traces = []
    with pytest.MonkeyPatch.context() as patch:
        told = choice.COMPILED["native"]._replace(
            run=lambda *a, **k: traces.append(1) or native_rollout(*a, **k)
        )
        patch.setitem(choice.COMPILED, "native", told)
        yield fit(0), traces


def test_training_with_it_is_training_with_the_oracle(trained):
    """Some steps of Adam on a stochastic ELBO, two restarts at once: the parameters agree to many
    digits.
    """
    oracle = fit(0, engine="scan")
    (native, _) = trained
    for a, b in zip(
        *(jax.tree.leaves(model.mixture_.models) for model in (oracle, native)), strict=True
    ):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-8)


def test_a_fit_to_other_data_with_another_seed_and_schedule_compiles_nothing_anew(trained):
    _, traces = trained
    before = len(traces)
    other = {
        "iterations": 13,
        "learning_rate": 0.01,
        "final_learning_rate": 0.002,
        "kl_warmup": 0.2,
        "gradient_clip": 3.0,
        "z_std": 0.2,
        "seed": 5,
    }
    fit(1, **other)
    assert len(traces) == before > 0
