"""A fitted model as pure functions: equal to `simulate`, and differentiable."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fitted_models import random_seen
from small_models import small_linear, small_prssm, small_record

from prssm.data.record import Record
from prssm.foundation.errors import DataError, NotFittedError, OptionError
from prssm.foundation.precision import double_precision
from prssm.models.constant import Constant
from prssm.models.functions import outside
from prssm.models.linear_ssm import LinearSSM
from prssm.models.prssm import free_run
from prssm.prediction.widening import widening

MODELS = {  # few, because each is compiled
    "two by two, slow": lambda: small_prssm(du=2, dy=2, stride=3, kernel="matern52", shared=True),
    "one function a step, no input, neurons": lambda: small_prssm(
        draws="step", du=0, members=1, neurons=2
    ),
    "linear, slow": lambda: small_linear(stride=2),
}


def run(functions, record, **arguments):
    """The free run over a record as its first samples start it."""
    with double_precision():

        def free_run(u, y):
            state = functions.start(functions.system, u, y)
            return functions.simulate(functions.system, state, u, **arguments)

        return [np.asarray(part) for part in jax.jit(free_run)(record.u, record.y)]


@pytest.mark.filterwarnings("ignore:.*outside of what the model has seen")
@pytest.mark.parametrize("name", MODELS)
def test_it_is_what_simulate_gives_with_the_same_draws(name, monkeypatch):
    monkeypatch.setattr(free_run, "BLOCK", 8)  # runs of several blocks
    model = MODELS[name]()
    if name.startswith("two"):
        model.seen_ = random_seen(states=2, inputs=2, outputs=2)
    record = small_record(model)
    if name.startswith("linear"):  # fills gaps where the linear model skips them
        record = Record(record.u, record.outputs_filled(), record.dt)
    expected = model.simulate(record, samples=10, seed=3)
    mean, std = run(model.as_jax(samples=10, seed=3), record)
    np.testing.assert_allclose(mean, expected.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(std, expected.std, rtol=1e-9)


@pytest.fixture(scope="module")
def model():
    return small_prssm()


@pytest.fixture(scope="module")
def functions(model):
    return model.as_jax(samples=4)


def test_a_step_after_one_that_was_outside_has_a_wider_band():
    """By the formulas alone, which `simulate` above runs over whole records."""
    seen = random_seen(states=2, inputs=1, outputs=1)
    rng = np.random.default_rng(0)
    path = 2.0 * rng.normal(size=(30, 2))
    u = 1.5 * rng.normal(size=(30, 1))
    mean = rng.normal(size=(30, 1))
    away = np.maximum(seen.distance(path, u, mean), seen.beyond_inputs(u))
    with double_precision():
        far = outside.distance(seen, *map(jnp.asarray, (path, u, mean)))
        found = outside.widened(outside.remembered(far))
        before = 0.0
        for now in far:
            before = outside.fading(before, now)
        assert float(outside.widened(before)) == pytest.approx(float(found[-1]), rel=1e-12)
    np.testing.assert_allclose(found, widening(away), rtol=1e-12)
    assert len(set(np.sign(away))) == 2  # some inside, some outside


def test_a_run_without_outputs_starts_from_the_prior_of_simulate(functions):
    state = functions.start(functions.system)
    rng = [np.random.default_rng([0, index]) for index in range(2)]
    halves = np.stack([one.standard_normal((2, 1)) for one in rng])
    expected = np.concatenate([halves, -halves], axis=2)
    np.testing.assert_allclose(state, expected, rtol=1e-6)
    blind = functions.start(functions.system, np.zeros((3, 1)), np.full((3, 1), np.nan))
    np.testing.assert_array_equal(blind, state)


def test_the_mean_alone_of_one_member_is_the_stepper():
    model = small_prssm(members=1)
    record = small_record(model)
    functions = model.as_jax()
    stepper = model.stepper()
    state = stepper.start(record.u, record.y)
    with double_precision():
        ours = jax.jit(functions.start)(functions.system, record.u, record.y)
        stepped = jax.jit(functions.step)
        for u in record.u[:3]:
            step = stepper(state, u)
            np.testing.assert_allclose(ours[0, :, 0], state, rtol=1e-9)
            ours, mean, std, far = stepped(functions.system, ours, u)
            assert far == 0.0  # it does not know what training has shown
            np.testing.assert_allclose(mean, step.output, rtol=1e-9)
            factor = model.calibration_.factor
            np.testing.assert_allclose(std, factor * step.output_std, rtol=1e-9)
            state = step.state


@pytest.fixture(scope="module")
def slopes():
    """A number that depends on all outputs and deviations of a run, and its gradients."""
    model = small_prssm(members=1)
    functions = model.as_jax(samples=4)

    @jax.jit
    def loss(parameters, state, u):
        mean, std = functions.simulate(functions.condition(parameters), state, u)
        weights = jnp.cos(jnp.arange(mean.size)).reshape(mean.shape)
        return jnp.sum(weights * mean) + jnp.sum(weights * std**2)

    with double_precision():
        record = small_record(model, rows=6)
        state = functions.start(functions.system, record.u, record.y)
        at = (functions.parameters, state, jnp.asarray(record.u))
        return loss, at, jax.jit(jax.grad(loss, argnums=(0, 1, 2)))(*at)


@pytest.mark.parametrize("argument", [0, 1, 2], ids=["parameters", "first state", "inputs"])
def test_gradients_are_the_slopes_of_finite_differences(slopes, argument):
    """Along random directions through all numbers of the argument."""
    loss, at, gradients = slopes
    leaves, structure = jax.tree.flatten(at[argument])
    rng = np.random.default_rng(argument)
    for _ in range(3):
        direction = [rng.normal(size=np.shape(leaf)) for leaf in leaves]

        def moved(size, direction=direction):
            new = [leaf + size * part for leaf, part in zip(leaves, direction, strict=True)]
            changed = [*at]
            changed[argument] = jax.tree.unflatten(structure, new)
            return float(loss(*changed))

        with double_precision():
            slope = (8 * (moved(1e-4) - moved(-1e-4)) - (moved(2e-4) - moved(-2e-4))) / 12e-4
        parts = zip(jax.tree.leaves(gradients[argument]), direction, strict=True)
        expected = sum(float(np.sum(np.asarray(one) * other)) for one, other in parts)
        assert slope == pytest.approx(expected, rel=1e-6)


def test_it_runs_in_single_precision_and_over_many_inputs(model, functions):
    record = small_record(model)
    record = Record(record.u, record.outputs_filled(), record.dt)

    def means(u):
        state = functions.start(functions.system, record.u, record.y)
        return functions.simulate(functions.system, state, u)[0]

    both = jax.jit(jax.vmap(means))(jnp.stack([record.u, 2.0 * record.u]))
    assert both.dtype == jnp.float32
    exact = model.simulate(record, samples=4).mean
    np.testing.assert_allclose(both[0], exact, atol=1e-4)
    assert np.abs(both[1] - both[0]).max() > 0.1


@pytest.mark.usefixtures("unchecked_shapes")
def test_mistakes_are_named(model, functions):
    with pytest.raises(DataError, match="start: expected at least 3 rows, got 2 and 2"):
        functions.start(functions.system, np.zeros((2, 1)), np.zeros((2, 1)))
    state = np.zeros((2, 2, 2))
    with pytest.raises(DataError, match=r"inputs: expected an array \(rows, 1\), got \(9, 2\)"):
        functions.simulate(functions.system, state, np.zeros((9, 2)))
    with pytest.raises(DataError, match=r"state: expected an array \(2, 2, 2\), got \(2\)"):
        functions.simulate(functions.system, np.zeros(2), np.zeros((9, 1)))
    with pytest.raises(DataError, match=r"input: expected an array \(1\), got \(\)"):
        functions.step(functions.system, state, np.array(4.0))
    with pytest.raises(DataError, match=r"outputs: expected an array \(rows, 1\), got \(9\)"):
        functions.start(functions.system, np.zeros((9, 1)), np.zeros(9))
    with pytest.raises(OptionError, match="samples: expected 0 or at least 2 trajectories, got 1"):
        model.as_jax(samples=1)
    with pytest.raises(NotFittedError, match="LinearSSM is not fitted"):
        LinearSSM().as_jax()
    constant = Constant().fit(np.arange(9.0), np.arange(9.0))
    with pytest.raises(OptionError, match=r"constant has no state .* fit prssm or linear"):
        constant.as_jax()
