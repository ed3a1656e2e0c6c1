"""The recursion through time: engines against each other, against finite differences, and against
known moments.
"""

from itertools import cycle

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree
from rollout_cases import (
    STRUCTURES,
    VALUES,
    assert_equal_but_for_rounding,
    loss,
    make_inputs,
    make_transition,
    value_and_slopes,
)

from prssm.dynamics.engines.choice import rollout
from prssm.foundation.precision import double_precision
from prssm.gp.kernels import KERNELS

WITH_KERNELS = tuple(
    structure._replace(kernel=kernel)
    for structure, kernel in zip(STRUCTURES, cycle(sorted(KERNELS)), strict=False)
)


@settings(max_examples=40, deadline=None)
@given(structure=st.sampled_from(WITH_KERNELS), **VALUES)
def test_the_adjoint_equals_the_differentiated_scan(structure, **values):
    with double_precision():
        transition, inputs, draws = structure.case(**values)
        oracle, fast = (
            value_and_slopes(transition, *inputs, engine, draws) for engine in ("scan", "adjoint")
        )
        assert_equal_but_for_rounding(transition, structure.points, fast, expected=oracle)


def test_the_adjoint_agrees_with_finite_differences():
    with double_precision():
        transition = make_transition(2, 1, 4)
        inputs = make_inputs(2, 1, 5, batch=3)
        gradient = jax.grad(loss)(transition, *inputs, "adjoint")
        flat, rebuild = ravel_pytree(transition)
        slope, _ = ravel_pytree(gradient)
        rng = np.random.default_rng(0)
        step = 1e-6
        for _ in range(5):
            direction = jnp.asarray(rng.normal(size=flat.shape))
            ahead, behind = (
                loss(rebuild(flat + sign * step * direction), *inputs, "scan") for sign in (1, -1)
            )
            assert float(slope @ direction) == pytest.approx(
                float(ahead - behind) / (2 * step), rel=2e-6
            )


def test_without_noise_the_rollout_iterates_the_mean():
    with double_precision():
        transition = make_transition(2, 1, 4)
        x1, u, eps = make_inputs(2, 1, 4, batch=3)
        states = rollout(transition.condition(), x1, u, eps=0.0 * eps)
        x = x1
        for t in range(4):
            np.testing.assert_allclose(states[t], x, rtol=1e-12)
            x, _ = transition.condition()(x, u[t])


def test_sampled_moments_agree_with_the_transition_within_the_standard_error():
    with double_precision():
        transition = make_transition(2, 1, 4, z_std=0.3)
        count = 20_000
        x = jnp.asarray([0.3, -0.5])
        u = jnp.asarray([0.8])
        mean, variance = (
            np.asarray(part)[:, 0] for part in transition.condition()(x[:, None], u[:, None])
        )
        eps = jax.random.normal(jax.random.key(0), (2, 2, count))
        drawn = rollout(
            transition.condition(),
            jnp.repeat(x[:, None], count, 1),
            jnp.full((2, 1, count), 0.8),
            eps=eps,
        )[1]
    drawn = np.asarray(drawn)
    assert (np.abs(drawn.mean(axis=1) - mean) < 4 * np.sqrt(variance / count)).all()
    assert (np.abs(drawn.var(axis=1) - variance) < 4 * variance * np.sqrt(2 / count)).all()


def test_variance_never_falls_below_the_process_noise():
    """At an inducing input known exactly, all that is left is process noise (and the jitter's
    trace).
    """
    with double_precision():
        transition = make_transition(1, 0, 3, z_std=1e-9, process_std=0.01)
        at_inducing = transition.gp.zeta[0].T
        _, variance = transition.condition()(at_inducing, jnp.zeros((0, 3)))
    assert (np.asarray(variance) >= 0.01**2).all()
    np.testing.assert_allclose(variance, 0.01**2, rtol=0.05)


def test_the_engine_works_under_vmap_over_restarts():
    with double_precision():
        transitions = [make_transition(2, 1, 3, seed=seed) for seed in (0, 1)]
        inputs = make_inputs(2, 1, 4, batch=3)
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *transitions)
        together = jax.vmap(lambda t: jax.grad(loss)(t, *inputs, "adjoint"))(stacked)
        for i, single in enumerate(transitions):
            alone = jax.grad(loss)(single, *inputs, "adjoint")
            for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(alone), strict=True):
                np.testing.assert_allclose(a[i], b, rtol=1e-10, atol=1e-12)


def test_transition_is_a_tree_of_arrays_only():
    """Anything else would break vmap, checkpoints and the custom gradient."""
    with double_precision():
        assert all(eqx.is_array(leaf) for leaf in jax.tree.leaves(make_transition(2, 1, 3)))
