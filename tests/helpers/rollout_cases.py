"""Transitions, inputs and a loss for the tests of all engines."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import strategies as st

from prssm.dynamics.engines.choice import rollout
from prssm.dynamics.engines.native import build, library
from prssm.dynamics.transition import IdentityMean, LinearMean, NetworkMean, Transition, ZeroMean
from prssm.gp.kernels import KERNELS
from prssm.gp.sparse import DiagonalInducing, SparseGP, WhitenedInducing

MEANS = ("identity", "zero", "linear")
NEURONS = 5


class Structure(NamedTuple):
    """What an engine is compiled for."""

    dx: int
    du: int
    points: int
    steps: int
    batch: int
    mean: str
    covariance: str
    consistent: bool  # one function drawn for each trajectory
    shared: bool
    kernel: str = "squared-exponential"

    def case(self, seed, z_std=0.1, process_std=0.05):
        """A transition, inputs and draws of this structure."""
        transition = make_transition(
            self.dx,
            self.du,
            self.points,
            kernel=self.kernel,
            mean=self.mean,
            seed=seed,
            z_std=z_std,
            process_std=process_std,
            covariance=self.covariance,
            shared=self.shared,
        )
        inputs = make_inputs(self.dx, self.du, self.steps, batch=self.batch, seed=seed)
        if not self.consistent:
            return transition, inputs, None
        noise = np.random.default_rng(seed).normal(size=(self.dx, self.points, self.batch))
        return transition, inputs, jnp.asarray(noise)


# Few, because each is compiled, and chosen for their corners: one of everything, no input, batches
# that fill a vector register and leave some over, more points than one block.
STRUCTURES = (
    Structure(
        3, 1, 6, steps=9, batch=11, mean="linear", covariance="full", consistent=True, shared=True
    ),
    Structure(
        3, 1, 6, steps=9, batch=11, mean="linear", covariance="full", consistent=False, shared=True
    ),
    Structure(
        1,
        0,
        1,
        steps=1,
        batch=1,
        mean="zero",
        covariance="diagonal",
        consistent=False,
        shared=False,
    ),
    Structure(
        2,
        2,
        5,
        steps=6,
        batch=16,
        mean="identity",
        covariance="diagonal",
        consistent=True,
        shared=False,
    ),
    Structure(
        5,
        3,
        25,
        steps=4,
        batch=37,
        mean="identity",
        covariance="full",
        consistent=False,
        shared=False,
    ),
)
# Many, because they cost little once their structure is compiled.
VALUES = {
    "seed": st.integers(0, 100_000),
    "z_std": st.floats(0.01, 1.0),
    "process_std": st.floats(0.001, 0.5),
}


def make_mean(name, dx, du, rng):
    if name == "linear":
        return LinearMean(
            jnp.asarray(0.4 * rng.normal(size=(dx, dx + du))),
            jnp.asarray(0.1 * rng.normal(size=dx)),
        )
    if name == "network":
        return NetworkMean(
            jnp.asarray(0.4 * rng.normal(size=(dx, dx + du))),
            jnp.asarray(0.1 * rng.normal(size=dx)),
            neuron_out=jnp.asarray(0.3 * rng.normal(size=(dx, NEURONS))),
            neuron_weight=jnp.asarray(rng.normal(size=(NEURONS, dx + du))),
            neuron_bias=jnp.asarray(rng.normal(size=NEURONS)),
        )
    return {"identity": IdentityMean, "zero": ZeroMean}[name]()


def make_transition(
    dx,
    du,
    points,
    kernel="squared-exponential",
    mean="identity",
    seed=0,
    z_std=0.1,
    process_std=0.05,
    covariance="diagonal",
    shared=False,
):
    rng = np.random.default_rng(seed)
    sets = 1 if shared else dx
    kernels = jax.vmap(lambda _: KERNELS[kernel](dx + du, 0.6, 1.2))(jnp.arange(sets))
    zeta = jnp.asarray(rng.uniform(-2, 2, (sets, points, dx + du)))
    if covariance == "diagonal":
        inducing = DiagonalInducing(
            jnp.asarray(0.3 * rng.normal(size=(dx, points))), jnp.full((dx, points), np.log(z_std))
        )
    else:
        factor = 0.1 * rng.normal(size=(dx, points, points)) + np.log(z_std) * np.eye(points)
        inducing = WhitenedInducing(
            jnp.asarray(0.3 * rng.normal(size=(dx, points))), jnp.asarray(factor)
        )
    return Transition(
        SparseGP(kernels, zeta, inducing),
        make_mean(mean, dx, du, rng=rng),
        jnp.full(dx, np.log(process_std)),
    )


def make_inputs(dx, du, steps, batch, seed=1):
    rng = np.random.default_rng(seed)
    return (
        jnp.asarray(rng.normal(size=(dx, batch))),
        jnp.asarray(rng.normal(size=(steps, du, batch))),
        jnp.asarray(rng.normal(size=(steps, dx, batch))),
    )


@partial(jax.jit, static_argnames="engine")
def loss(transition, x1, u, eps, engine, draws=None):
    dynamics = transition.condition()
    states = rollout(
        dynamics if draws is None else dynamics.drawn(draws), x1, u, eps=eps, engine=engine
    )
    # every state matters, each differently
    weights = jnp.cos(jnp.arange(states.size)).reshape(states.shape)
    return jnp.sum(weights * states**2)


value_and_slopes = jax.jit(jax.value_and_grad(loss, argnums=(0, 1, 2, 3)), static_argnames="engine")


def assert_equal_but_for_rounding(transition, points, got, expected):
    """Sums over all points of products with K^-1 = W' W, whose entries are large where points of
    few dimensions crowd.
    """
    white = float(jnp.abs(transition.condition().gp.white).max())
    tolerance = 1e-9 + 100 * points * white**2 * np.finfo(float).eps
    for one, other in zip(*map(jax.tree.leaves, (got, expected)), strict=True):
        np.testing.assert_allclose(
            one, other, rtol=tolerance, atol=tolerance * (1 + float(np.abs(other).max(initial=0)))
        )


def need_native_library():
    """Where there is a compiler these tests run, or fail; they are skipped only where there is
    none.
    """
    if build.compiler() is None:
        pytest.skip("needs a C++ compiler")
    assert library.why_not() is None, library.why_not()
