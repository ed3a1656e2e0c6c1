"""The step of a controller: the transition and emission in physical units, of the best member."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rollout_cases import make_transition

from prssm.data.scaling import Scaler
from prssm.dynamics.transition import Dynamics, Transition
from prssm.foundation.errors import DataError
from prssm.foundation.precision import double_precision
from prssm.gp.sparse import Posterior
from prssm.models.prssm.elbo import StateSpaceModel
from prssm.models.prssm.emission import LinearEmission, Selector, build_emission
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.stepping.mixture_stepper import MixtureStepper
from prssm.models.prssm.stepping.plain_step import PlainStep
from prssm.models.prssm.stepping.stepper import Stepper

SCALER = Scaler(np.array([3.0]), np.array([2.0]), np.array([-1.0]), y_std=np.array([5.0]))
EMISSIONS = {
    "selector": Selector(1),
    "linear": LinearEmission(np.array([[0.5, -1.0]]), np.array([[0.3]]), np.array([0.2])),
    "own": build_emission(lambda x: jnp.tanh(x[:1]), 2, 1, input_dim=1),
}


def make_mixture(kernel="squared-exponential", mean="linear", emission="selector", shared=False):
    """Two members, of which the first is the best."""
    with double_precision():
        transitions = [
            make_transition(
                2, 1, 4, kernel=kernel, mean=mean, seed=seed, covariance="full", shared=shared
            )
            for seed in (0, 1)
        ]
        members = [
            StateSpaceModel(
                transition,
                EMISSIONS[emission],
                None,
                log_output_std=np.log([0.1]),
                noise_memory=np.zeros(1),
            )
            for transition in transitions
        ]
        return Mixture(
            jax.tree.map(lambda *leaves: jnp.stack(leaves), *members), 0, "trajectory"
        ), transitions[0]


@pytest.mark.parametrize(
    ("kernel", "mean", "emission", "shared"),
    [
        ("squared-exponential", "linear", "linear", False),
        ("squared-exponential", "identity", "selector", True),
        ("matern32", "zero", "linear", False),
        ("squared-exponential", "zero", "own", False),
    ],
)
def test_it_is_the_transition_and_the_emission_in_physical_units(kernel, mean, emission, shared):
    mixture, best = make_mixture(kernel, mean, emission, shared=shared)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 3))
    u = rng.normal(size=(1, 3))
    step = Stepper(mixture, SCALER)(x, 3.0 + 2.0 * u)
    with double_precision():
        expected, variance = jax.jit(lambda: best.condition()(x, u))()
        seen = EMISSIONS[emission](x[None], u[None])[0]
    np.testing.assert_allclose(step.state, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(step.state_std, np.sqrt(variance), rtol=1e-9)
    np.testing.assert_allclose(step.output, -1.0 + 5.0 * np.asarray(seen), rtol=1e-12)
    np.testing.assert_allclose(step.output_std, np.full((1, 3), 0.5), rtol=1e-12)
    assert step.state.dtype == np.float64


@pytest.mark.parametrize("kernel", ["squared-exponential", "matern32"])
def test_one_state_is_a_column(kernel):
    stepper = Stepper(make_mixture(kernel)[0], SCALER)
    x = np.array([[0.3], [-0.2]])
    u = np.array([[4.0]])
    one = stepper(x[:, 0], u[:, 0])
    column = stepper(x, u)
    for a, b in zip(one, column, strict=True):
        assert a.shape == b.shape[:1]
        np.testing.assert_array_equal(a, b[:, 0])


def test_the_variance_has_the_floor_of_the_transition():
    """With W too large, k_xx - |a|^2 is negative at the inducing inputs."""
    with double_precision():
        exact = jax.jit(Transition.condition)(make_transition(2, 1, 4))
        gp = Posterior(
            exact.gp.kernel,
            exact.gp.zeta,
            1.3 * exact.gp.white,
            mean=exact.gp.mean,
            spread=exact.gp.spread,
        )
        dynamics = Dynamics(gp, exact.mean, exact.process_var)
        at = np.asarray(exact.gp.zeta[0].T)
        _, variance = dynamics(at[:2], at[2:])
        _, std, _ = PlainStep.where_possible(dynamics, Selector(1), 1)(at[:2], at[2:])
    np.testing.assert_allclose(std, np.sqrt(variance), rtol=1e-9)


def test_without_a_recognition_model_it_starts_from_the_prior(stepper):
    start = stepper.start(np.ones((3, 1)), np.ones((3, 1)))
    np.testing.assert_array_equal(start, np.zeros(2))


@pytest.fixture(scope="module")
def stepper():
    return Stepper(make_mixture()[0], SCALER)


@pytest.mark.parametrize(
    ("x", "u"),
    [
        ((3,), (1,)),
        ((2, 4), (1, 1)),
        ((2,), (1, 1)),
        ((2,), ()),
        ((), (1,)),
        ((2, 1, 1), (1, 1, 1)),
    ],
)
def test_arrays_that_do_not_fit_are_named(stepper, x, u):
    with pytest.raises(
        DataError,
        match=r"step: expected a state \(2,\) and an input \(1,\), or \(2, B\) and \(1, B\), got",
    ):
        stepper(np.zeros(x), np.zeros(u))
    with pytest.raises(DataError, match="start: expected 1 inputs and 1 outputs, got 2 and 1"):
        stepper.start(np.zeros((3, 2)), np.zeros((3, 1)))


def test_all_members_together_are_the_mixture_without_noise():
    """Stepped from the members' states, the output is the mean of their outputs."""
    mixture, _ = make_mixture(emission="linear")
    together = MixtureStepper(mixture, SCALER)
    alone = [Stepper(mixture, SCALER, member=i) for i in range(2)]
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4, 3))
    u = 3.0 + rng.normal(size=(1, 3))
    step = together(x, u)
    parts = [alone[i](x[2 * i : 2 * i + 2], u) for i in range(2)]
    np.testing.assert_array_equal(step.state, np.concatenate([part.state for part in parts]))
    outputs = np.stack([part.output for part in parts])
    np.testing.assert_allclose(step.output, outputs.mean(axis=0), rtol=1e-12)
    expected = np.sqrt(0.5**2 + outputs.var(axis=0))
    np.testing.assert_allclose(step.output_std, expected, rtol=1e-12)
    assert together.start(np.ones((3, 1)), np.ones((3, 1))).shape == (4,)
    with pytest.raises(DataError, match=r"expected a state \(4,\).*2 members, got \(2, 3\)"):
        together(x[:2], u)
