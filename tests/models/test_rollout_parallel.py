"""The adjoint with all steps side by side, with plain and with fused recursions, against the differentiated scan."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_cases import MEANS, make_inputs, make_transition

from prssm.foundation.precision import double_precision
from prssm.gp.kernels import KERNELS
from prssm.models import rollout_fused
from prssm.models.rollout import rollout
from prssm.models.rollout_fused import Sizes, fused_rollout, why_not
from prssm.models.rollout_parallel import Recursions, cotangents, time_parallel
from prssm.models.transition import IdentityMean, Mean

SCAN = partial(rollout, engine="scan")
PARALLEL = partial(time_parallel, Recursions(SCAN))
FUSED = partial(fused_rollout, interpret=True)


@partial(jax.jit, static_argnums=0)
def value_and_slopes(engine, dynamics, x1, u, eps):
    def loss(*arguments):
        states = engine(*arguments)
        return jnp.sum(jnp.cos(jnp.arange(states.size)).reshape(states.shape) * states**2)

    return jax.value_and_grad(loss, argnums=(0, 1, 2, 3))(dynamics, x1, u, eps)


def make_dynamics(dx, du, points, kernel, mean, consistent, batch, seed):
    dynamics = make_transition(dx, du, points, kernel, mean, seed, covariance="full").condition()
    return dynamics.drawn(jax.random.normal(jax.random.key(seed), (dx, points, batch))) if consistent else dynamics


def assert_same(got, expected, precision=1e-9):
    for mine, oracle in zip(*map(jax.tree.leaves, (got, expected)), strict=True):
        np.testing.assert_allclose(mine, oracle, rtol=precision, atol=precision * (1 + float(np.abs(oracle).max(initial=0))))


SHAPES = {"du": st.integers(0, 2), "points": st.integers(1, 5), "steps": st.integers(1, 5), "batch": st.integers(1, 4),
          "mean": st.sampled_from(MEANS), "consistent": st.booleans(), "seed": st.integers(0, 1000)}


@settings(max_examples=2, deadline=None)
@given(dx=st.integers(1, 3), kernel=st.sampled_from(sorted(KERNELS)), **SHAPES)
def test_side_by_side_equals_the_differentiated_scan(dx, du, points, steps, batch, kernel, mean, consistent, seed):
    with double_precision():
        dynamics = make_dynamics(dx, du, points, kernel, mean, consistent, batch, seed)
        arguments = (dynamics, *make_inputs(dx, du, steps, batch, seed))
        assert_same(value_and_slopes(PARALLEL, *arguments), value_and_slopes(SCAN, *arguments))


@settings(max_examples=2, deadline=None)
@given(dx=st.integers(1, 6), **SHAPES)
def test_fused_recursions_equal_the_differentiated_scan(dx, du, points, steps, batch, mean, consistent, seed):
    """Up to four latent dimensions are one group, whose matrices are kept; more are several, read at every step."""
    with double_precision():
        dynamics = make_dynamics(dx, du, points, "squared-exponential", mean, consistent, batch, seed)
        arguments = (dynamics, *make_inputs(dx, du, steps, batch, seed))
        assert_same(value_and_slopes(FUSED, *arguments), value_and_slopes(SCAN, *arguments))


def test_fused_recursions_work_under_vmap_over_restarts_with_shared_noise():
    with double_precision():
        dynamics = [make_dynamics(2, 1, 3, "squared-exponential", "linear", False, 2, seed) for seed in (0, 1)]
        inputs = make_inputs(2, 1, 4, 2)
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *dynamics)
        together = jax.vmap(partial(value_and_slopes, FUSED), (0, None, None, None))(stacked, *inputs)
        for i, single in enumerate(dynamics):
            assert_same(jax.tree.map(lambda leaf: leaf[i], together), value_and_slopes(SCAN, single, *inputs))  # noqa: B023


def test_single_precision_is_as_good_as_its_rounding():
    """A step adds up P products of W (at most |W|) with numbers below one, so it is wrong by at most P |W| eps."""
    with double_precision():
        dynamics = make_dynamics(2, 1, 6, "squared-exponential", "zero", False, 3, 5)
        arguments = (dynamics, *make_inputs(2, 1, 8, 3))
        step_error = 6 * float(jnp.abs(dynamics.gp.white).max()) * float(jnp.finfo(jnp.float32).eps)
        single, exact = (value_and_slopes(engine, *arguments) for engine in (partial(FUSED, single=True), SCAN))
        assert float(single[0]) != float(exact[0])
        for got, expected in zip(*map(jax.tree.leaves, (single, exact)), strict=True):
            assert got.dtype == jnp.float64
            np.testing.assert_allclose(got, expected, rtol=0, atol=8 * step_error * (1 + float(np.abs(expected).max())))


@pytest.mark.parametrize("recursion", [cotangents, partial(rollout_fused._cotangents, interpret=True)])
def test_cotangents_are_sums_of_products_of_jacobians(recursion):
    """g_t = sum over s >= t of J_t' J_{t+1}' ... J_{s-1}' h_s."""
    rng = np.random.default_rng(0)
    jacobians, direct = 0.5 * rng.normal(size=(4, 3, 3, 2)), rng.normal(size=(5, 3, 2))
    expected = np.zeros_like(direct)
    for b in range(2):
        for t in range(5):
            product = np.eye(3)
            for s in range(t, 5):
                expected[t, :, b] += product @ direct[s, :, b]
                product = product @ jacobians[s, :, :, b].T if s < 4 else product
    with double_precision():
        np.testing.assert_allclose(recursion(jnp.asarray(jacobians), jnp.asarray(direct)), expected, rtol=1e-12)


class BentMean(Mean):
    """m(x, u) = sin x: not affine."""

    def __call__(self, x, u):
        return jnp.sin(x)


@pytest.mark.parametrize(("kernel", "mean", "points", "reason"), [
    ("matern32", IdentityMean(), 3, "squared-exponential kernel only, not Matern32"),
    ("squared-exponential", BentMean(), 3, "affine prior means only, not BentMean"),
    ("squared-exponential", IdentityMean(), 129, "at most 128 inducing points, not 129"),
    ("squared-exponential", IdentityMean(), 50, "double precision, 2 matrices of 50 x 50 do not fit"),
    ("squared-exponential", IdentityMean(), 3, "it runs on a GPU, JAX computes on the cpu")])
def test_the_fused_engine_says_why_it_cannot_run(kernel, mean, points, reason):
    with double_precision():
        transition = make_transition(2, 1, points, kernel)
        dynamics = jax.eval_shape(transition.condition)
        dynamics = type(dynamics)(dynamics.gp, mean, dynamics.process_var)
    assert reason in why_not(dynamics)


def test_a_mean_that_is_not_affine_is_differentiated_too():
    with double_precision():
        plain = make_dynamics(2, 1, 3, "squared-exponential", "zero", False, 2, 0)
        arguments = (type(plain)(plain.gp, BentMean(), plain.process_var), *make_inputs(2, 1, 3, 2))
        assert_same(value_and_slopes(PARALLEL, *arguments), value_and_slopes(SCAN, *arguments))


def test_sizes_are_powers_of_two_and_whole_groups():
    with double_precision():
        paper, arm = (Sizes.of(jax.eval_shape(make_transition(*sizes).condition)) for sizes in ((4, 1, 20), (14, 7, 50)))
    assert paper == (20, 32, 8, 4, 4)
    assert paper.kept
    assert arm == (50, 64, 32, 4, 16)
    assert not arm.kept
