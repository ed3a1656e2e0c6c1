"""Every method's state space: Jacobians by finite differences, values by the method's own step."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from prssm.dynamics.transition import MEANS
from prssm.foundation.precision import double_precision
from prssm.gp.conditional import Conditional
from prssm.gp.kernels import KERNELS, SquaredExponential
from prssm.gp.spectral import BoxBasis
from prssm.inference.noise_search import NoiseFactors
from prssm.inference.spaces.coloured import Coloured
from prssm.inference.state_space import windows
from prssm.models.narx.free_run import Window, step_mean
from prssm.models.narx.space import NarxSpace
from prssm.models.prssm.config import DEFAULT
from prssm.models.prssm.filtering.space import JaxSpace, PlainSpace, space_of
from prssm.models.prssm.starts.start import blank_model
from prssm.models.revarb.first_state import FirstState
from prssm.models.revarb.space import RevarbSpace
from prssm.models.ssgpssm.chain import Draws
from prssm.models.ssgpssm.space import BasisSpace
from prssm.models.ssgpssm.sweep import Structure

RNG = np.random.default_rng(0)
NOISES = NoiseFactors(process=0.1, sensor=0.5, coloured=0.7, memory=0.6, second=0.3)
MEMBERS = 3


def prssm_models(**options):
    config = DEFAULT.replace(latent_dim=2, inducing=3, horizon=20, iterations=0, folds=0, **options)
    like = blank_model(config, 1, 1)
    rng = np.random.default_rng(1)
    return jax.tree.map(lambda leaf: 0.4 * rng.standard_normal((MEMBERS, *np.shape(leaf))), like)


def conditional(outputs: int, inputs: int, points: int = 4) -> Conditional:
    factor = 0.3 * RNG.standard_normal((outputs, points, points))
    kernel = SquaredExponential(
        0.1 * RNG.standard_normal(outputs), 0.2 * RNG.standard_normal((outputs, inputs))
    )
    return Conditional(
        kernel,
        RNG.standard_normal((outputs, points, inputs)),
        RNG.standard_normal((outputs, points)),
        quadratic=factor @ np.swapaxes(factor, 1, 2),
    )


def narx():
    return NarxSpace(
        conditional(2, 6),
        2,
        process_var=np.array([0.1, 0.2]),
        output_var=np.array([0.3, 0.1]),
        usual_mean=np.zeros(2),
        usual_std=np.ones(2),
    )


def revarb():
    gps = (conditional(1, 4), conditional(1, 4), conditional(1, 2))
    first = FirstState(
        np.zeros(3), np.zeros((3, 4)), np.eye(4), usual_mean=np.zeros(4), usual_covariance=np.eye(4)
    )
    return RevarbSpace(gps, np.array([[0.1], [0.2], [0.3]]), first, lags=2, window=0)


def basis():
    structure = Structure(
        BoxBasis(np.array([2.0, 3.0]), 3),
        BoxBasis(np.array([1.5]), 2),
        0.5 * RNG.standard_normal((2, 2)),
        G=RNG.standard_normal((2, 1)),
    )
    draws = Draws(
        RNG.standard_normal((MEMBERS, 2, 18)),
        np.tile(0.1 * np.eye(2), (MEMBERS, 1, 1)),
        np.full((MEMBERS, 1), 0.2),
        RNG.standard_normal((MEMBERS, 4)),
    )
    return BasisSpace(structure, draws), structure, draws


SPACES = {
    "prssm": lambda: space_of(prssm_models(), 0, NOISES),
    "narx": narx,
    "revarb": revarb,
    "ss-gp-ssm": lambda: basis()[0],
}


def points(space, batch: int = 4):
    rng = np.random.default_rng(2)
    width = 2 if space.lags == 2 else 1
    x = 0.7 * rng.standard_normal((space.members, batch, space.state_dim))
    return x, 0.7 * rng.standard_normal((batch, width))


@pytest.mark.parametrize("function", ["step", "output"])
@pytest.mark.parametrize("name", SPACES)
def test_jacobians_are_those_of_finite_differences(name, function):
    space = SPACES[name]()
    x, u = points(space)
    call = getattr(space, function)
    slope = np.broadcast_to(call(x, u).jacobian, (*call(x, u).value.shape, space.state_dim))
    for at in range(space.state_dim):
        h = np.zeros(space.state_dim)
        h[at] = 1e-6
        numeric = (call(x + h, u).value - call(x - h, u).value) / 2e-6
        np.testing.assert_allclose(slope[..., at], numeric, atol=1e-7)


@pytest.mark.parametrize(("covariance", "shared"), [("diagonal", True), ("full", False)])
def test_plain_and_general_steps_of_prssm_agree(covariance, shared):
    models = prssm_models(inducing_covariance=covariance, shared_inducing=shared)
    plain = PlainSpace(models, 0, NOISES)
    general = JaxSpace(models, 0, NOISES)
    x, u = points(plain)
    for function in ("step", "output"):
        one = getattr(plain, function)(x, u)
        other = getattr(general, function)(x, u)
        for mine, theirs in zip(one, other, strict=True):
            both = np.broadcast_arrays(mine, theirs)
            np.testing.assert_allclose(*both, rtol=1e-8, atol=1e-10)
    with double_precision():
        variance = np.asarray(general._step(general._dynamics, jnp.asarray(x[..., :2]), u)[2])
    noise = np.diagonal(plain.step(x, u).noise, axis1=-2, axis2=-1)[..., :2]
    np.testing.assert_allclose(noise, variance + NOISES.process**2, rtol=1e-8)


def test_process_noise_is_the_gps_doubt_the_trained_one_and_what_was_found():
    models = prssm_models()
    silent = replace(NOISES, process=0.0)
    x, u = points(space_of(models, 0, NOISES), 1)
    least, noise = (
        np.diagonal(space_of(models, 0, one).step(x, u).noise, axis1=-2, axis2=-1)[:, 0]
        for one in (silent, NOISES)
    )
    trained = np.exp(2 * models.transition.log_process_std)
    assert (least[:, :2] > trained).all()  # the exact value: the test above
    np.testing.assert_allclose(noise[:, :2], least[:, :2] + 0.1**2)


@pytest.mark.parametrize("second", [0.0, 0.7])
def test_coloured_noise_is_stationary_and_has_its_poles(second):
    one = np.ones((1, 2))
    std = np.array([[0.5, 2.0]])
    colour = Coloured(std, 0.9 * one, second * one)
    later = colour.A @ colour.first @ np.swapaxes(colour.A, 1, 2) + colour.Q
    np.testing.assert_allclose(later, colour.first, atol=1e-12)
    seen = colour.C @ colour.first[0] @ colour.C.T
    np.testing.assert_allclose(seen, np.diag(std[0] ** 2))
    poles = np.sort(np.linalg.eigvals(colour.A[0]).real)
    np.testing.assert_allclose(poles, [0.7, 0.7, 0.9, 0.9] if second else [0.9, 0.9])
    assert Coloured(0 * std, 0.9 * one, second * one).size == 0


def test_other_kernels_are_filtered_too():
    models = prssm_models(kernel="matern52")
    assert isinstance(space_of(models, 0, NoiseFactors()), JaxSpace)
    assert isinstance(space_of(prssm_models(), 0, NoiseFactors()), PlainSpace)
    assert set(KERNELS) >= {"matern52"}
    assert set(MEANS) >= {"linear"}


def test_narx_steps_as_its_free_run_does():
    space = narx()
    x, u = points(space, 1)
    window = Window(jnp.asarray(x[0, 0]), jnp.zeros((4, 4)))
    gps = jax.tree.map(jnp.asarray, space_gps := conditional(2, 6))
    same = NarxSpace(
        space_gps,
        2,
        process_var=np.zeros(2),
        output_var=np.zeros(2),
        usual_mean=np.zeros(2),
        usual_std=np.ones(2),
    )
    with double_precision():
        gps = jax.tree.map(jnp.asarray, space_gps)
        moved, run = step_mean(gps, window, jnp.asarray(u[0]))
    found = same.step(x, u)
    np.testing.assert_allclose(found.value[0, 0], moved.mean, rtol=1e-5)
    variance = np.diagonal(found.noise[0, 0])[:2]
    np.testing.assert_allclose(variance, np.diagonal(run.covariance), rtol=1e-4, atol=1e-6)


def test_basis_functions_are_those_of_the_sampler():
    space, structure, draws = basis()
    x, u = points(space)
    with double_precision():
        features = np.asarray(structure.features(jnp.asarray(x), jnp.asarray(u)))
        linear = np.asarray(structure.linear(jnp.asarray(x), jnp.asarray(u)))
    expected = linear + np.einsum("mdk,mbk->mbd", np.asarray(draws.weights), features)
    np.testing.assert_allclose(space.step(x, u).value, expected, rtol=1e-6)


def test_windows_hold_the_last_inputs_newest_first():
    u = np.arange(6.0).reshape(3, 2)
    assert windows(u, 2).tolist() == [[0, 1, 0, 1], [2, 3, 0, 1], [4, 5, 2, 3]]
    assert windows(u, 1) is u
