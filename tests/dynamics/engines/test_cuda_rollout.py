"""The CUDA engine against the differentiated scan, its factorisation against LAPACK. The kernels
run here on the CPU, each GPU thread as a fiber.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rollout_cases import STRUCTURES, VALUES, make_inputs, make_transition

from prssm.dynamics.engines import choice
from prssm.dynamics.engines.choice import rollout
from prssm.dynamics.engines.cuda import build, engine, library
from prssm.dynamics.engines.cuda.engine import cuda_rollout
from prssm.dynamics.engines.cuda.layout import Shape
from prssm.dynamics.engines.cuda.recognition import cuda_recognition
from prssm.dynamics.engines.cuda.whitener import cuda_white
from prssm.dynamics.engines.native.build import compiler
from prssm.dynamics.transition import Dynamics
from prssm.foundation.precision import double_precision
from prssm.gp.kernels import Matern32, SquaredExponential
from prssm.gp.sparse import Posterior, white_of
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.emission import Selector
from prssm.models.prssm.recognition import Recognition

SCAN = partial(rollout, engine="scan")
SINGLE = partial(cuda_rollout, single=True)


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


@jax.jit
def condition(transition, stretch=1.0):
    """The dynamics with W `stretch` times as large: what the inducing points leave unsaid may then
    be negative.
    """
    dynamics = transition.condition()
    gp = dynamics.gp
    gp = Posterior(gp.kernel, gp.zeta, stretch * gp.white, mean=gp.mean, spread=gp.spread)
    return Dynamics(gp, dynamics.mean, dynamics.process_var)


def triangular(dynamics):
    """Of W and V only the lower triangles count: the oracle's gradient has others."""
    gp = dynamics.gp
    spread = None if gp.spread is None else jnp.tril(gp.spread)
    return Dynamics(
        Posterior(gp.kernel, gp.zeta, jnp.tril(gp.white), mean=gp.mean, spread=spread),
        dynamics.mean,
        dynamics.process_var,
    )


@partial(jax.jit, static_argnames=("run", "cut"))
def value_and_slopes(run, dynamics, inputs, cut=None):
    """Another `cut` of the work is compiled anew."""

    def loss(dynamics, x1, u, eps):
        states = run(triangular(dynamics), x1, u, eps)
        return jnp.sum(jnp.cos(jnp.arange(states.size)).reshape(states.shape) * states**2)

    return jax.value_and_grad(loss, argnums=(0, 1, 2, 3))(dynamics, *inputs)


def assert_same(got, expected, precision=1e-9):
    for mine, oracle in zip(*map(jax.tree.leaves, (got, expected)), strict=True):
        np.testing.assert_allclose(
            mine,
            oracle,
            rtol=precision,
            atol=precision * (1 + float(np.abs(oracle).max(initial=0))),
        )


# Each GPU thread is a fiber here, which takes time: small ones, none with shared points.
SMALL_STRUCTURES = tuple(
    structure._replace(points=min(structure.points, 9), steps=min(structure.steps, 4), shared=False)
    for structure in STRUCTURES[1:]
)


@settings(max_examples=20, deadline=None)
@given(structure=st.sampled_from(SMALL_STRUCTURES), **VALUES)
def test_value_and_gradient_equal_those_of_the_differentiated_scan(structure, **values):
    with double_precision():
        transition, inputs, draws = structure.case(**values)
        dynamics = condition(transition)
        if draws is not None:
            dynamics = dynamics.drawn(draws)
        got, expected = (value_and_slopes(run, dynamics, inputs) for run in (cuda_rollout, SCAN))
        assert_same(got, expected)


def medium_case(points=10):
    return condition(make_transition(3, 2, points, mean="linear", covariance="full")), make_inputs(
        3, 2, 4, batch=37
    )


@pytest.mark.parametrize(
    ("points", "processors", "memory", "together"),
    [
        (
            10,
            1,
            1_000_000,
            128,
        ),  # a thread takes two trajectories and keeps their vectors in registers
        (10, 400, 30_000, 32),  # several threads share a trajectory
        (
            21,
            1,
            1_000_000,
            128,
        ),  # a thread takes four trajectories, whose vectors are in shared memory
        (34, 400, 70_000, 32),  # a thread has two rows of a trajectory's matrices
    ],
)
def test_however_the_work_is_cut_the_result_is_the_same(
    points, processors, memory, together, monkeypatch
):
    """A small GPU gives a thread several trajectories, a large one a trajectory several threads;
    time in two stretches.
    """
    monkeypatch.setattr(engine, "STRETCHES", 2)
    monkeypatch.setenv("PRSSM_EMULATED_PROCESSORS", str(processors))
    monkeypatch.setenv("PRSSM_EMULATED_MEMORY", str(memory))
    with double_precision():
        assert (
            library.slice_trajectories(3, 2, points, spread=True, own_mean=False, number_size=8)
            == together
        )
        dynamics, inputs = medium_case(points)
        expected = value_and_slopes(SCAN, dynamics, inputs)
        assert_same(value_and_slopes(cuda_rollout, dynamics, inputs, cut=together), expected)


@jax.jit
def some_are_floored(dynamics, x1, u, eps):
    """Whether the floor of the variance is active at the first step of some trajectories, and not
    of all.
    """
    nothing_known = Posterior(
        dynamics.gp.kernel, dynamics.gp.zeta, dynamics.gp.white, mean=dynamics.gp.mean, spread=None
    )
    variance = Dynamics(nothing_known, dynamics.mean, jnp.zeros_like(dynamics.process_var))(
        x1, u[0]
    )[1]
    return (variance == 0.0).any() & (variance > 0.0).any()


def test_restarts_with_floored_variances_and_shared_noise_equal_the_scan_one_by_one():
    """Each trajectory has its own function."""
    with double_precision():
        draws = jnp.asarray(np.random.default_rng(0).normal(size=(2, 5, 9)))
        inputs = make_inputs(2, 1, 4, batch=9)
        models = [
            condition(make_transition(2, 1, 5, mean="linear", seed=seed), 1.5).drawn(draws)
            for seed in (0, 1)
        ]
        assert some_are_floored(models[0], *inputs)
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)
        together = jax.vmap(lambda dynamics: value_and_slopes(cuda_rollout, dynamics, inputs))(
            stacked
        )
        for i, alone in enumerate(models):
            expected = value_and_slopes(SCAN, alone, inputs)
            assert_same(jax.tree.map(lambda leaf: leaf[i], together), expected)  # noqa: B023


def own_functions():
    """Six states, two inputs, and a function of its own for each of five trajectories."""
    draws = jnp.asarray(np.random.default_rng(0).normal(size=(6, 9, 5)))
    dynamics = condition(make_transition(6, 2, 9, mean="linear", covariance="full"))
    return dynamics.drawn(draws), make_inputs(6, 2, 7, batch=5)


@pytest.mark.parametrize("case", [medium_case, own_functions])
def test_single_precision_is_as_good_as_its_rounding(case):
    """A step adds up P products of W (at most |W|) with numbers below one, so it is wrong by at
    most P |W| eps. A warp walks a trajectory, eight or four lanes for each dimension.
    """
    with double_precision():
        dynamics, inputs = case()
        step_error = (
            10 * float(jnp.abs(dynamics.gp.white).max()) * float(jnp.finfo(jnp.float32).eps)
        )
        single, exact = (value_and_slopes(run, dynamics, inputs) for run in (SINGLE, SCAN))
        assert float(single[0]) != float(exact[0])
        for got, expected in zip(*map(jax.tree.leaves, (single, exact)), strict=True):
            assert got.dtype == jnp.float64
            np.testing.assert_allclose(
                got, expected, rtol=0, atol=4 * step_error * (1 + float(np.abs(expected).max()))
            )


SMALL = Shape(2, 1, 3, steps=4, batch=3, spread=1, own_mean=0)


def forward_call(arrays):
    results = [jax.ShapeDtypeStruct(size, jnp.float64) for size in ((4, 2, 3), (2, SMALL.record))]
    call = jax.ffi.ffi_call(library.FORWARD, results)
    return jax.block_until_ready(call(*arrays, sizes=np.asarray(SMALL, np.int64)))[0]


def forward_arrays():
    """Of two latent dimensions, one input, three inducing points, four steps and three
    trajectories.
    """
    sizes = [
        (2, 3),
        (4, 1, 3),
        (4, 2, 3),
        (2, 3, 3),
        (2, 3),
        (2,),
        (2, 3, 3),
        (2, 3),
        (2, 3, 3),
        (2, 3),
        (2,),
        (2,),
    ]
    return [jnp.asarray(np.random.default_rng(0).uniform(size=size)) for size in sizes]


@pytest.mark.parametrize("memory", [1100, 1000, 900])
def test_parameters_that_do_not_fit_into_shared_memory_are_read_from_where_they_are(
    memory, monkeypatch
):
    """All of it needs 1216 bytes, without one dimension's inducing inputs 1088, without any 960,
    without matrices 192.
    """
    with double_precision():
        usual = forward_call(forward_arrays())
        monkeypatch.setenv("PRSSM_EMULATED_MEMORY", str(memory))
        np.testing.assert_array_equal(forward_call(forward_arrays()), usual)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: [*a[:1], a[1][:3], *a[2:]], "u: expected 12 numbers, got 9"),
        (lambda a: [*a[:6], a[6].astype(jnp.float32), *a[7:]], "white: its type differs"),
        (lambda a: a[:5], "wrong number of arrays or sizes"),
    ],
)
def test_the_library_itself_refuses_what_does_not_fit(change, message):
    """As a last line of defence, past the checks in Python, which all compiled engines share."""
    with double_precision():
        assert np.isfinite(forward_call(forward_arrays())).all()
        with pytest.raises(Exception, match=message) as caught:
            forward_call(change(forward_arrays()))
    assert "prssm CUDA rollout" in str(caught.value)


def inducing(points, din=2, count=3):
    """Kernels and inducing inputs of several Gaussian processes."""
    rng = np.random.default_rng(points)
    scales = (jnp.asarray(0.3 * rng.normal(size=size)) for size in ((count,), (count, din)))
    return SquaredExponential(*scales), jnp.asarray(rng.normal(size=(count, points, din)))


@partial(jax.jit, static_argnums=0)
def whitened_with_slopes(whiten, kernels, zeta):
    def loss(kernels, zeta):
        white = jax.vmap(whiten)(kernels, zeta)
        return jnp.sum(jnp.cos(jnp.arange(white.size)).reshape(white.shape) * white), white

    return jax.value_and_grad(loss, argnums=(0, 1), has_aux=True)(kernels, zeta)


@pytest.mark.parametrize("points", [1, 7, 18, 35])
def test_the_factorisation_and_its_slopes_have_the_general_one_as_their_oracle(points):
    """More rows than threads in each direction, or fewer."""
    with double_precision():
        got, expected = (
            whitened_with_slopes(way, *inducing(points)) for way in (cuda_white, white_of)
        )
        assert_same(got, expected, 1e-8)  # the condition is some 1e6


def test_a_matrix_that_is_not_positive_definite_gives_nan_and_spoils_no_other():
    with double_precision():
        kernels, zeta = inducing(5)
        good = jax.vmap(cuda_white)(kernels, zeta)
        broken = jax.vmap(cuda_white)(kernels, zeta.at[1, 3, 1].set(jnp.inf))
        assert jnp.isnan(broken[1]).all()
        np.testing.assert_array_equal(broken[jnp.array([0, 2])], good[jnp.array([0, 2])])


@pytest.mark.usefixtures("unchecked_shapes")
def test_what_does_not_fit_is_refused():
    with double_precision():
        kernel = SquaredExponential(jnp.zeros(()), jnp.zeros(4))
        with pytest.raises(Exception, match="log_lengthscale: its type or size"):
            jax.block_until_ready(cuda_white(kernel, jnp.ones((2, 3))))


def test_on_a_gpu_the_transition_is_conditioned_by_it(monkeypatch):
    """Value and gradient; larger matrices and other kernels are left to the general way."""
    monkeypatch.setattr(choice, "platform", lambda: "gpu")
    with double_precision():
        transition = make_transition(2, 1, 5)
        kernel = transition.gp.kernel
        assert choice.whiten_here(kernel, 20) is cuda_white
        assert choice.whiten_here(kernel, 129) is white_of
        assert choice.whiten_here(Matern32.create(3, 1.0, 1.0), 20) is white_of
        weights = jnp.cos(jnp.arange(50)).reshape(2, 5, 5)

        def slopes(transition):
            return jax.value_and_grad(
                lambda transition: jnp.sum(weights * choice.conditioned(transition).gp.white)
            )(transition)

        here = jax.jit(lambda transition: slopes(transition))(transition)
        monkeypatch.setattr(choice, "platform", lambda: "cpu")
        assert choice.whiten_here(kernel, 20) is white_of
        assert_same(here, jax.jit(slopes)(transition), 1e-8)


def recogniser(direct, shown):
    rng = np.random.default_rng(3)
    network = Recognition.create(9, 3, 35, start_std=0.5, shown=shown, rng=rng)
    if not direct:
        return network
    return Recognition.around(
        rng.normal(size=(3, 9)),
        rng.normal(size=3),
        rng.normal(size=3),
        hidden=35,
        part=0.5,
        rng=rng,
    )


@pytest.mark.parametrize(("direct", "shown"), [(False, 2), (True, 0)])
def test_the_recognition_network_and_its_slopes_equal_those_of_one_window_at_a_time(direct, shown):
    """With and without a linear path, for several models at once."""
    rng = np.random.default_rng(4)
    with double_precision():
        models = [jax.tree.map(jnp.asarray, recogniser(direct, shown)) for _ in range(2)]
        models[1] = jax.tree.map(lambda leaf: 1.1 * leaf + 0.1, models[1])
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *models)
        y, u = (jnp.asarray(rng.normal(size=(2, 5, 3, size))) for size in (2, 1))
        weights = jnp.asarray(rng.normal(size=(2, 5, 3)))

        def compiled(model, y, u):
            sample = jnp.concatenate([y.reshape(5, -1), u.reshape(5, -1)], axis=1)
            return cuda_recognition(model.network(sample.dtype), sample, model.shown)

        def plain(model, y, u):
            return jax.vmap(model)(y, u)

        def slopes(run):
            def loss(model, y, u):
                mean, log_std = run(model, y, u)
                return jnp.sum(weights[0] * mean) + jnp.sum(weights[1] * log_std**2)

            return jax.jit(jax.vmap(jax.value_and_grad(loss, argnums=(0, 1, 2))))(stacked, y, u)

        assert_same(slopes(compiled), slopes(plain), 1e-12)


def test_on_a_gpu_first_states_come_from_it(monkeypatch):
    """So many windows that matrix products are faster are left to the general way."""
    rng = np.random.default_rng(5)
    monkeypatch.setattr(choice, "platform", lambda: "gpu")
    assert choice.recognition_here(10) is cuda_recognition
    assert choice.recognition_here(choice.WINDOWS_AT_ONCE + 1) is None
    with double_precision():
        model = StateSpaceModel(
            make_transition(3, 1, 5), Selector(2), recogniser(False, 2), np.zeros(2), np.zeros(2)
        )
        y, u = (jnp.asarray(rng.normal(size=(4, 3, size))) for size in (2, 1))
        here = model.first_states(y, u)
        monkeypatch.setattr(choice, "platform", lambda: "cpu")
        assert choice.recognition_here(10) is None
        assert_same(here, model.first_states(y, u), 1e-12)
