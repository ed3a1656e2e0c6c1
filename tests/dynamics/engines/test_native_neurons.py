"""The neurons of the prior mean in compiled code, against NumPy and against JAX."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rollout_cases import (
    Structure,
    assert_equal_but_for_rounding,
    make_transition,
    need_native_library,
    value_and_slopes,
)

from prssm.data.record import Record
from prssm.dynamics.engines.cuda import engine as cuda
from prssm.dynamics.engines.native import engine as native
from prssm.dynamics.transition import NetworkMean, Transition
from prssm.foundation.precision import double_precision
from prssm.models.prssm.config import DEFAULT
from prssm.models.prssm.free_run import FreeRuns
from prssm.models.prssm.levels import LEVELS
from prssm.models.prssm.starts.start import Starts

SMALL = {"inducing": 5, "horizon": 12, "batch": 3, "samples": 2, "recognition_window": 4}
SMALL |= {"recognition_hidden": 6, "folds": 0, "complexity": "free", "iterations": 10, "stride": 1}
ULP = {np.float64: 2.0**-52, np.float32: 2.0**-23}


@pytest.fixture(autouse=True, scope="module")
def _library():
    need_native_library()


def with_neurons(latent_dim=3, neurons=5, inputs=1):
    """Two models that free runs do not leave: a contraction, and neurons that matter."""
    random = np.random.default_rng(5)
    record = Record(random.normal(size=(60, inputs)), random.normal(size=(60, 2)))
    config = DEFAULT.replace(**SMALL, latent_dim=latent_dim, neurons=neurons)
    models = Starts(config, [record]).create(LEVELS["free"], 2)
    models = jax.tree.map(lambda leaf: leaf + 0.1 * random.normal(size=leaf.shape), models)
    shapes = jax.tree.map(np.shape, models.transition.mean)
    draw = {name: random.normal(size=shape) for name, shape in vars(shapes).items()}
    draw["weight"] *= 0.1
    draw["neuron_out"] *= 0.3
    return eqx.tree_at(lambda m: m.transition.mean, models, NetworkMean(**draw))


def run(models, draws, engine, kind, steps=30, trajectories=19):
    """States of the second model; a count of trajectories that no register divides."""
    random = np.random.default_rng(1)
    runs = FreeRuns(models, draws, engine)
    _, dx, _, din = models.transition.gp.zeta.shape
    u = random.normal(size=(steps, din - dx))
    x1 = random.normal(size=(dx, trajectories)).astype(kind)
    blocks = runs.member(1, u, x1, rng=np.random.default_rng(2), kind=kind)
    (block,) = list(blocks)
    return runs.compiled, block


@pytest.mark.parametrize("draws", ["step", "trajectory"])
@pytest.mark.parametrize(
    ("kind", "near"), [(np.float64, 1e-12), (np.float32, 64 * ULP[np.float32])]
)
def test_a_free_run_with_neurons_is_that_of_jax(draws, kind, near):
    with double_precision():
        models = with_neurons()
        compiled, got = run(models, draws, "auto", kind)
        in_jax, expected = run(models, draws, "scan", kind)
    assert compiled
    assert not in_jax
    assert got.states.dtype == kind
    for ours, theirs in ((got.states, expected.states), (got.outputs, expected.outputs)):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=near * np.abs(theirs).max())


@pytest.mark.parametrize(("latent_dim", "neurons", "inputs"), [(1, 1, 0), (4, 4, 2), (5, 9, 1)])
def test_any_number_of_neurons_is_the_formula(latent_dim, neurons, inputs):
    """One step in NumPy: what neurons add is what their output's weight takes away again."""
    models = with_neurons(latent_dim, neurons, inputs)
    without = eqx.tree_at(
        lambda m: m.transition.mean.neuron_out,
        models,
        np.zeros_like(models.transition.mean.neuron_out),
    )
    (_, got), (_, rest) = (
        run(each, "step", "auto", np.float64, steps=2) for each in (models, without)
    )
    random = np.random.default_rng(1)
    u = random.normal(size=(2, inputs))
    x1 = random.normal(size=(latent_dim, 19))
    xu = np.concatenate([x1, np.tile(u[:1].T, 19)])
    mean = jax.tree.map(lambda leaf: leaf[1], models.transition.mean)
    hidden = np.tanh(mean.neuron_weight @ xu + mean.neuron_bias[:, None])
    np.testing.assert_allclose(
        got.states[1] - rest.states[1], mean.neuron_out @ hidden, rtol=0, atol=1e-14
    )


def tanh(x, kind):
    """The library's, out of one step of a model that is nothing else."""
    models = jax.tree.map(np.zeros_like, with_neurons(latent_dim=1, neurons=1, inputs=0))
    # A covariance of zeta that can be factored, and no noise.
    apart = np.arange(models.transition.gp.zeta.size, dtype=float)
    models = eqx.tree_at(
        lambda m: (
            m.transition.gp.zeta,
            m.transition.mean.neuron_out,
            m.transition.mean.neuron_weight,
        ),
        models,
        (
            apart.reshape(models.transition.gp.zeta.shape),
            np.ones((2, 1, 1)),
            np.ones((2, 1, 1)),
        ),
    )
    runs = FreeRuns(models, "step", "native")
    step = runs._compiled_step(0, None)
    states, _ = step(np.zeros((2, 0)), x[None].astype(kind), np.zeros((2, 1, len(x)), kind))
    return states[1, 0]


@pytest.mark.parametrize("variant", ["", "baseline"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_hyperbolic_tangent_is_that_of_numpy_to_a_few_units_in_the_last_place(
    kind, variant, monkeypatch
):
    monkeypatch.setenv("PRSSM_VARIANT", variant)
    tiny = float(np.finfo(kind).tiny)
    size = np.concatenate([np.geomspace(tiny, 1e3, 4000), np.linspace(0.0, 3.0, 3001)])
    x = np.concatenate([size, -size, [1e15, -1e15]]).astype(kind)
    expected = np.tanh(x.astype(np.float64))
    got = tanh(x, kind)
    assert (np.abs(got - expected) <= 4 * ULP[kind] * np.abs(expected)).all()
    assert (np.abs(got) <= 1).all()
    assert np.isnan(tanh(np.array([np.nan, 1.0]), kind)[0])


KINDS = {"mean": "network", "kernel": "squared-exponential"}
STRUCTURES = (
    Structure(3, 1, 6, 9, 40, covariance="full", consistent=True, shared=True, **KINDS),
    Structure(4, 0, 5, 6, 37, covariance="diagonal", consistent=False, shared=False, **KINDS),
)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_a_rollout_from_jax_and_its_gradient_are_those_of_the_scan(structure):
    with double_precision():
        transition, inputs, draws = structure.case(seed=2)
        expected, got, single = (
            value_and_slopes(transition, *inputs, name, draws)
            for name in ("scan", "native", "native-single")
        )
        assert_equal_but_for_rounding(transition, structure.points, got, expected=expected)
    neurons = [jax.tree.leaves((slopes[0].mean, slopes[1])) for _, slopes in (single, expected)]
    for ours, theirs in zip(*neurons, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-4 * float(np.abs(theirs).max()))


def test_models_together_are_each_alone():
    with double_precision():
        cases = [STRUCTURES[1].case(seed=seed) for seed in (0, 1)]
        inputs = cases[0][1]
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(case[0] for case in cases))
        alone = [value_and_slopes(case[0], *inputs, "native") for case in cases]
        slopes = jax.vmap(lambda one: value_and_slopes(one, *inputs, "native"))(stacked)
    expected = jax.tree.map(lambda *leaves: np.stack(leaves), *alone)
    for ours, theirs in zip(*map(jax.tree.leaves, (slopes, expected)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


def test_the_gpu_declines_neurons_and_the_processor_takes_them(monkeypatch):
    with double_precision():
        dynamics = jax.jit(Transition.condition)(make_transition(4, 0, 5, mean="network"))
    assert native.why_not(dynamics) is None
    monkeypatch.setattr(cuda, "_platform", lambda: "gpu")
    assert cuda.why_not(dynamics) == "it knows affine prior means only, not NetworkMean"
