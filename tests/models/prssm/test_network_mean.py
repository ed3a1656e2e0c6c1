"""A prior mean with neurons, in NumPy: against JAX, differences, and neurons that are linear."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rollout_cases import make_transition
from small_models import small_prssm, small_record

from prssm.data.scaling import Scaler
from prssm.dynamics.transition import (
    IdentityMean,
    LinearMean,
    Mean,
    NetworkMean,
    Transition,
    ZeroMean,
)
from prssm.foundation.precision import double_precision
from prssm.inference.noise_search import NoiseFactors
from prssm.models.prssm.config import DEFAULT
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.emission import Selector
from prssm.models.prssm.filtering.space import JaxSpace, PlainSpace, space_of
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.starts.start import blank_model, stacked
from prssm.models.prssm.stepping.plain_step import PlainStep
from prssm.models.prssm.stepping.stepper import Stepper

NOISES = NoiseFactors(process=0.1, sensor=0.5, coloured=0.7, memory=0.6, second=0.3)
MEMBERS = 3
_SMALL = 1e-6  # a neuron that sees so little is linear, up to its square


def network(latent=2, inputs=1, neurons=4, *, seed=0):
    rng = np.random.default_rng(seed)
    seen = latent + inputs
    return NetworkMean(
        0.4 * rng.standard_normal((latent, seen)),
        0.1 * rng.standard_normal(latent),
        neuron_out=0.8 * rng.standard_normal((latent, neurons)),
        neuron_weight=rng.standard_normal((neurons, seen)),
        neuron_bias=rng.standard_normal(neurons),
    )


def spaces(neurons):
    """Plain and general ones of the same members, with all their parameters at random."""
    config = DEFAULT.replace(
        latent_dim=2, inducing=3, horizon=20, iterations=0, folds=0, neurons=neurons
    )
    rng = np.random.default_rng(1)
    like = blank_model(config, 1, 1)
    models = jax.tree.map(lambda leaf: 0.4 * rng.standard_normal((MEMBERS, *np.shape(leaf))), like)
    return PlainSpace(models, 0, NOISES), JaxSpace(models, 0, NOISES)


def points(space, batch):
    rng = np.random.default_rng(2)
    x = 0.7 * rng.standard_normal((MEMBERS, batch, space.state_dim))
    return x, 0.7 * rng.standard_normal((batch, 1))


@pytest.mark.parametrize("mean", [IdentityMean(), ZeroMean(), LinearMean, network()])
def test_the_arrays_of_a_network_are_the_mean(mean):
    if mean is LinearMean:
        mean = LinearMean(network().weight, network().bias)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 5))
    u = rng.standard_normal((1, 5))
    xu = np.concatenate([x, u])
    A, b, O, W, c = mean.network(2, 1)
    with double_precision():
        expected = mean(jnp.asarray(x), jnp.asarray(u))
    found = A @ xu + b[:, None] + O @ np.tanh(W @ xu + c[:, None])
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("batch", [1, 4])
def test_value_slope_and_variance_are_those_of_jax(batch):
    plain, general = spaces(neurons=4)
    x, u = points(plain, batch)
    assert type(space_of(plain.models, 0, NOISES)) is PlainSpace
    for mine, theirs in zip(plain.step(x, u), general.step(x, u), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-10)


def test_the_slope_is_that_of_finite_differences():
    plain, _ = spaces(neurons=4)
    x, u = points(plain, 4)
    slope = plain.step(x, u).jacobian
    for at in range(plain.state_dim):
        h = np.zeros(plain.state_dim)
        h[at] = 1e-6
        numeric = (plain.step(x + h, u).value - plain.step(x - h, u).value) / 2e-6
        np.testing.assert_allclose(slope[..., at], numeric, atol=1e-8)


def test_a_mean_of_another_form_is_left_to_jax():
    class Bent(Mean):
        def __call__(self, x, u):
            return jnp.sin(x)

    with double_precision():
        transition = make_transition(2, 1, 4)
        other = Transition(transition.gp, Bent(), transition.log_process_std)
        dynamics = jax.jit(Transition.condition)(other)
    assert PlainStep.where_possible(dynamics, Selector(1), 1) is None


def test_a_step_of_the_stepper_is_that_of_jax():
    with double_precision():
        plain = make_transition(2, 1, 4, covariance="full")
        mean = jax.tree.map(jnp.asarray, network())
        transition = Transition(plain.gp, mean, plain.log_process_std)
        dynamics = jax.jit(Transition.condition)(transition)
    model = StateSpaceModel(
        jax.tree.map(np.asarray, transition),
        Selector(1),
        None,
        log_output_std=np.log([0.1]),
        noise_memory=np.zeros(1),
    )
    one = np.ones(1)
    scaler = Scaler(0.0 * one, one, 0.0 * one, y_std=one)
    stepper = Stepper(Mixture(stacked([model]), 0, "trajectory"), scaler)
    assert type(stepper._step) is PlainStep
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 3))
    u = rng.standard_normal((1, 3))
    with double_precision():
        expected, variance = dynamics(jnp.asarray(x), jnp.asarray(u))
    step = stepper(x, u)
    np.testing.assert_allclose(step.state, expected, rtol=1e-10)
    np.testing.assert_allclose(step.state_std, np.sqrt(variance), rtol=1e-10)
    np.testing.assert_array_equal(step.output, x[:1])


@pytest.fixture(scope="module")
def models():
    """One with neurons that see so little that they are linear; the other is linear itself."""
    other = small_prssm()
    mean = other.mixture_.models.transition.mean
    members, latent, seen = mean.weight.shape
    rng = np.random.default_rng(0)
    out = 0.1 * rng.standard_normal((members, latent, 5))
    weight = rng.standard_normal((members, 5, seen))
    one = small_prssm()
    neurons = NetworkMean(
        mean.weight,
        mean.bias,
        neuron_out=out / _SMALL,
        neuron_weight=_SMALL * weight,
        neuron_bias=np.zeros((members, 5)),
    )
    _put(one, neurons)
    _put(other, LinearMean(mean.weight + out @ weight, mean.bias))
    return one, other


def _put(model, mean):
    """Another prior mean in a fitted model."""
    before = model.mixture_.models
    transition = Transition(before.transition.gp, mean, before.transition.log_process_std)
    changed = StateSpaceModel(
        transition,
        before.emission,
        before.recognition,
        log_output_std=before.log_output_std,
        noise_memory=before.noise_memory,
    )
    model.mixture_ = Mixture(changed, model.mixture_.window, model.mixture_.draws)


def test_neurons_that_are_linear_run_as_a_linear_mean_does(models):
    record = small_record(models[0])
    for task in (
        lambda model: model.simulate(record, samples=10),
        lambda model: model.simulate(record, start=2, samples=10),
        lambda model: model.filter(record),
        lambda model: model.smooth(record),
        lambda model: model.predict(record, horizon=3),
    ):
        one, other = map(task, models)
        np.testing.assert_allclose(one.mean, other.mean, rtol=1e-7, atol=1e-7)
        np.testing.assert_allclose(one.std, other.std, rtol=1e-7)


def test_neurons_that_are_linear_are_linearised_as_a_linear_mean_is(models):
    one, other = (model.linearise(samples=4) for model in models)
    for name in ("A", "B", "C", "D", "A_std"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-7)


def test_an_observer_of_neurons_that_are_linear_is_that_of_a_linear_mean(models):
    record = small_record(models[0])
    one, other = (model.observer() for model in models)
    for u, y in zip(record.u, record.y, strict=True):
        one.update(u, y)
        other.update(u, y)
        np.testing.assert_allclose(one.state, other.state, rtol=1e-7, atol=1e-7)
