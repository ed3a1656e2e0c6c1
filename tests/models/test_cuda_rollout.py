"""The CUDA engine against the differentiated scan. Its kernels run here on the CPU, each GPU thread as a fiber."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_cases import MEANS, make_inputs, make_transition

from prssm.foundation.precision import double_precision
from prssm.gp.sparse import Posterior
from prssm.models.cuda import build, engine, library
from prssm.models.cuda.engine import cuda_rollout, why_not
from prssm.models.native.build import compiler
from prssm.models.rollout import rollout
from prssm.models.transition import Dynamics

SCAN = partial(rollout, engine="scan")


def stretched(dynamics, factor):
    """With W that many times as large: what the inducing points leave unsaid may then be negative."""
    gp = dynamics.gp
    gp = Posterior(gp.kernel, gp.zeta, factor * gp.white, gp.mean, gp.spread)
    return Dynamics(gp, dynamics.mean, dynamics.process_var)


def some_are_floored(dynamics, x1, u, eps):
    """Whether the floor of the variance is active at some points of the trajectories, and not at all."""
    nothing_known = Posterior(dynamics.gp.kernel, dynamics.gp.zeta, dynamics.gp.white, dynamics.gp.mean, None)
    unsaid = Dynamics(nothing_known, dynamics.mean, jnp.zeros_like(dynamics.process_var))
    states = SCAN(dynamics, x1, u, eps)
    variances = np.stack([unsaid(x, u_t)[1] for x, u_t in zip(states[:-1], u[:-1], strict=True)])
    return (variances == 0.0).any() and (variances > 0.0).any()


@pytest.fixture(autouse=True, scope="module")
def _emulated(tmp_path_factory):
    """The library compiled for the CPU takes the place of the one for the GPU."""
    if compiler() is None:
        pytest.skip("needs a C++ compiler")
    path = build.build_emulated(tmp_path_factory.mktemp("emulated") / "rollout.so")
    assert not isinstance(library.load(path, "cpu"), str)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "library_path", lambda: path)
        yield


def value_and_slopes(run, transition, inputs, draws=None, stretch=1.0, **options):
    """At the transition: of W and V only the lower triangles count. `stretch` multiplies W."""
    def loss(transition, x1, u, eps):
        dynamics = stretched(transition.condition(), stretch)
        states = run(dynamics if draws is None else dynamics.drawn(draws), x1, u, eps, **options)
        return jnp.sum(jnp.cos(jnp.arange(states.size)).reshape(states.shape) * states**2)

    return jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2, 3)))(transition, *inputs)


def assert_same(got, expected, precision=1e-9):
    for mine, oracle in zip(*map(jax.tree.leaves, (got, expected)), strict=True):
        np.testing.assert_allclose(mine, oracle, rtol=precision, atol=precision * (1 + float(np.abs(oracle).max(initial=0))))


@settings(max_examples=2, deadline=None)
@given(dx=st.integers(1, 5), du=st.integers(0, 3), points=st.integers(1, 9), steps=st.integers(1, 5),
       batch=st.integers(1, 40), mean=st.sampled_from(MEANS), covariance=st.sampled_from(["diagonal", "full"]),
       consistent=st.booleans(), seed=st.integers(0, 1000))
def test_value_and_gradient_equal_those_of_the_differentiated_scan(dx, du, points, steps, batch, mean, covariance,
                                                                    consistent, seed):
    with double_precision():
        transition = make_transition(dx, du, points, "squared-exponential", mean, seed, covariance=covariance)
        inputs = make_inputs(dx, du, steps, batch, seed)
        draws = jax.random.normal(jax.random.key(seed), (dx, points, batch)) if consistent else None
        got, expected = (value_and_slopes(run, transition, inputs, draws) for run in (cuda_rollout, SCAN))
        assert_same(got, expected)


def test_however_the_work_is_cut_the_result_is_the_same(monkeypatch):
    """A small GPU gives a thread several trajectories, a large one a trajectory several threads."""
    with double_precision():
        transition, inputs = make_transition(3, 2, 10, mean="linear", covariance="full"), make_inputs(3, 2, 4, 37)
        expected = value_and_slopes(SCAN, transition, inputs)
        for processors, memory, points in ((1, 232448, 4), (400, 70000, 2), (400, 24000, 1)):
            monkeypatch.setenv("PRSSM_EMULATED_PROCESSORS", str(processors))
            monkeypatch.setenv("PRSSM_EMULATED_MEMORY", str(memory))
            assert library.gradient_points(3, 2, 10, True, False, 8) == points
            assert_same(value_and_slopes(cuda_rollout, transition, inputs), expected)


def test_sums_over_several_steps_and_floored_variances(monkeypatch):
    """Two stretches of three steps each; W so large that some variances are at their floor."""
    monkeypatch.setattr(engine, "STRETCHES", 2)
    with double_precision():
        transition, inputs = make_transition(2, 1, 5, mean="linear"), make_inputs(2, 1, 7, 3)
        draws = jax.random.normal(jax.random.key(0), (2, 5, 3))
        assert some_are_floored(stretched(transition.condition(), 1.5), *inputs)
        got, expected = (value_and_slopes(run, transition, inputs, draws, 1.5) for run in (cuda_rollout, SCAN))
        assert_same(got, expected)


def test_it_works_under_vmap_over_restarts_with_shared_noise():
    with double_precision():
        transitions = [make_transition(2, 1, 3, seed=seed) for seed in (0, 1)]
        inputs = make_inputs(2, 1, 4, 3)
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *transitions)
        together = jax.vmap(lambda transition: value_and_slopes(cuda_rollout, transition, inputs))(stacked)
        for i, single in enumerate(transitions):
            assert_same(jax.tree.map(lambda leaf: leaf[i], together), value_and_slopes(SCAN, single, inputs))  # noqa: B023


def test_single_precision_is_as_good_as_its_rounding():
    """A step adds up P products of W (at most |W|) with numbers below one, so it is wrong by at most P |W| eps."""
    with double_precision():
        transition, inputs = make_transition(2, 1, 6, mean="zero", seed=5), make_inputs(2, 1, 8, 3)
        white = jax.jit(lambda transition: transition.condition().gp.white)(transition)
        step_error = 6 * float(jnp.abs(white).max()) * float(jnp.finfo(jnp.float32).eps)
        single = value_and_slopes(cuda_rollout, transition, inputs, single=True)
        exact = value_and_slopes(SCAN, transition, inputs)
        assert float(single[0]) != float(exact[0])
        for got, expected in zip(*map(jax.tree.leaves, (single, exact)), strict=True):
            assert got.dtype == jnp.float64
            np.testing.assert_allclose(got, expected, rtol=0, atol=8 * step_error * (1 + float(np.abs(expected).max())))


def test_arrays_of_wrong_size_are_refused():
    with double_precision():
        dynamics = make_transition(2, 1, 3).condition()
        x1, u, eps = make_inputs(2, 1, 4, 3)
        with pytest.raises(jax.errors.JaxRuntimeError, match="u: expected 12 numbers, got 15"):
            jax.block_until_ready(cuda_rollout(dynamics, x1, jnp.concatenate([u, u[:1]]), eps))


def test_too_little_shared_memory_is_said(monkeypatch):
    monkeypatch.setenv("PRSSM_EMULATED_MEMORY", "2000")
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    with double_precision():
        dynamics = jax.eval_shape(make_transition(2, 1, 30).condition)
    assert why_not(dynamics) == "30 inducing points need more shared memory than this GPU has"


def test_it_says_why_it_cannot_run_here():
    with double_precision():
        dynamics = jax.eval_shape(make_transition(2, 1, 3).condition)
        other = jax.eval_shape(make_transition(2, 1, 3, "matern52").condition)
    assert why_not(dynamics) == "it runs on a GPU, JAX computes on the cpu"
    assert why_not(other) == "it knows the squared-exponential kernel only, not Matern52"


def test_a_library_that_is_not_built_is_told_apart_from_a_missing_compiler(tmp_path, monkeypatch):
    assert library.load(tmp_path / "a.so").startswith("not built")
    monkeypatch.setattr(build, "cuda_compiler", lambda: None)
    assert "no CUDA compiler found" in library.load(tmp_path / "b.so")
