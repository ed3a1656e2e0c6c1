"""The plain description and its reference run are the model's own free run."""

from dataclasses import replace

import jax
import numpy as np
import pytest
from fitted_models import random_linear, random_prssm, record_for

import prssm
from prssm.data.resample import at_all_rows, thinned_inputs
from prssm.export import draws as drawing
from prssm.export.describing import describe
from prssm.export.profiles import PROFILES
from prssm.export.reference import run
from prssm.foundation.errors import OptionError
from prssm.foundation.precision import double_precision
from prssm.gp.kernels import KERNELS
from prssm.prediction.widening import FADES, MOST, WIDER

CASES = {
    "default": {},
    "outside of what was seen": {"inputs": 2, "outputs": 2, "seen": True},
    "shared, steps": {"shared_inducing": True, "draws": "step"},
    "paper": {"preset": "paper", "members": 1, "outputs": 2, "states": 3},
    "matern32": {"kernel": "matern32", "inputs": 0},
    "matern52, no recognition": {"kernel": "matern52", "scheme": "full"},
    "neurons": {"neurons": 3, "states": 3, "inputs": 2, "seen": True},
    "large": {"states": 5, "inputs": 3, "outputs": 2, "points": 7, "members": 3, "scale": 1e5},
}


@pytest.mark.filterwarnings("ignore:.*outside of what the model has seen")
@pytest.mark.parametrize("case", CASES)
def test_it_runs_as_the_model_does_with_the_same_draws(case):
    model = random_prssm(**CASES[case])
    u, y = record_for(model)
    expected = model.simulate(u, y, samples=6, seed=3)
    description = describe(model)
    draws = drawing.of_simulate(description, len(u), 6, seed=3)
    found = run(description, u, y, draws)
    units = model.scaler_.y_std
    np.testing.assert_allclose(found.mean / units, expected.mean / units, rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.std / units, expected.std / units, rtol=0, atol=1e-11)
    first = found.states[0].transpose(1, 0, 2)
    np.testing.assert_allclose(first.mean(axis=2).T, expected.state_mean, rtol=0, atol=1e-11)


@pytest.mark.filterwarnings("ignore:.*(outside of|but training saw)")
def test_far_outside_of_the_data_the_band_is_as_wide_as_that_of_simulate():
    model = random_prssm(seen=True)
    u, y = record_for(model, rows=30)
    u[5:8] += 20.0 * model.scaler_.u_std
    expected = model.simulate(u, y, samples=6)
    description = describe(model)
    draws = drawing.of_simulate(description, len(u), 6, seed=0)
    found = run(description, u, y, draws)
    np.testing.assert_allclose(found.std, expected.std, rtol=1e-11)
    narrow = run(replace(description, seen=None), u, y, draws)
    assert narrow.std is not None
    factor = found.std[:, 0] / narrow.std[:, 0]
    np.testing.assert_allclose(factor[5:8], 1.0 + WIDER * MOST)
    after = 1.0 + WIDER * MOST * FADES ** np.arange(1, 8)
    assert np.all(factor[8:15] >= after - 1e-9)


def test_blocks_of_a_long_run_have_their_own_draws():
    model = random_prssm(states=1, points=2, members=1)
    u, y = record_for(model, rows=2100)
    description = describe(model)
    draws = drawing.of_simulate(description, len(u), 2, seed=0)
    expected = model.simulate(u, y, samples=2)
    np.testing.assert_allclose(run(description, u, y, draws).std, expected.std, rtol=1e-9)


def test_gaps_and_missing_outputs_start_as_the_model_does():
    model = random_prssm()
    u, y = record_for(model)
    description = describe(model)
    draws = drawing.of_simulate(description, len(u), 4, seed=0)
    gappy = np.array(y)
    gappy[1] = np.nan
    blank = np.full_like(y, np.nan)
    for given in (gappy, blank):
        expected = model.simulate(u, given, samples=4)
        np.testing.assert_allclose(run(description, u, given, draws).mean, expected.mean, rtol=1e-9)


def test_slow_models_step_over_several_rows():
    model = random_prssm(stride=3)
    u, y = record_for(model, rows=31)
    expected = model.simulate(u, y, samples=4)
    description = describe(model)
    slow = thinned_inputs(u, 3)
    draws = drawing.of_simulate(description, len(slow), 4, seed=0)
    found = run(description, slow, y[::3], draws)
    np.testing.assert_allclose(at_all_rows(found.mean, 3, 31), expected.mean, rtol=1e-9)
    np.testing.assert_allclose(at_all_rows(found.std, 3, 31), expected.std, rtol=1e-9)
    assert description.step_size == pytest.approx(0.3)


@pytest.mark.parametrize("warmup", [0, 4])
def test_a_linear_model_has_its_exact_band(warmup):
    model = random_linear(states=4, inputs=2, outputs=2, warmup=warmup)
    u, y = record_for(model)
    expected = model.simulate(u, y)
    description = describe(model)
    found = run(description, u, y, drawing.fixed(description, 2))
    np.testing.assert_allclose(found.mean, expected.mean, rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.std, expected.std, rtol=1e-11)
    blank = np.full_like(y, np.nan)
    found = run(description, u, blank, drawing.fixed(description, 2))
    np.testing.assert_allclose(found.std, model.simulate(u, blank).std, rtol=1e-11)


def test_the_mean_alone_is_the_stepper_of_the_best_member():
    model = random_prssm(members=1)
    u, y = record_for(model)
    stepper = model.stepper()
    x = stepper.start(u, y)
    found = run(describe(model), u, y)
    assert found.std is None
    for u_t, expected in zip(u, found.mean, strict=True):
        step = stepper(x, u_t)
        np.testing.assert_allclose(step.output, expected, rtol=1e-9)
        x = step.state


def test_the_fixed_draws_are_standard_normal():
    description = describe(random_prssm(states=4, members=4))
    draws = drawing.fixed(description, 40)
    noise = np.stack([[draws.step(m, t) for t in range(500)] for m in range(4)])
    count = noise.size
    assert abs(noise.mean()) < 4 / np.sqrt(count)
    assert abs(noise.var() - 1.0) < 4 * np.sqrt(2 / count)
    assert abs(np.mean(noise**4) - 3.0) < 4 * np.sqrt(96 / count) + 0.05  # no tails beyond 3.3
    together = noise.transpose(1, 0, 2, 3).reshape(500, -1)
    for lag in (together[1:] * together[:-1], together[:, 1:] * together[:, :-1]):
        assert abs(lag.mean()) < 4 / np.sqrt(lag.size)


def test_kernels_are_those_of_the_library():
    squared = np.linspace(0.01, 30.0, 50)
    for name, profile in PROFILES.items():
        with double_precision():
            theirs = KERNELS[name](1, 1.0, 1.0)
            expected = jax.jit(theirs.profile)(squared)
        np.testing.assert_allclose(profile(squared), expected, rtol=1e-12)


def test_what_cannot_be_written_down_is_refused():
    with pytest.raises(OptionError, match=r"linear emission.*PointwiseEmission.*named"):
        describe(random_prssm(start="random", complexity="free", emission=lambda x: x[:1] ** 2))
    with pytest.raises(OptionError, match="expected a model of prssm or linear, got constant"):
        describe(prssm.Constant())
    with pytest.raises(prssm.NotFittedError):
        describe(prssm.PRSSM())
    with pytest.raises(OptionError, match="samples"):
        drawing.fixed(describe(random_prssm()), 1)


def test_a_kernel_of_the_users_own_is_refused():
    class Own(type(KERNELS["matern32"](1, 1.0, 1.0))):
        pass

    with pytest.raises(OptionError, match=r"kernels squared-exponential.*got Own"):
        describe(random_prssm(kernel=Own.create, start="random", complexity="free"))


def test_a_prior_mean_without_neurons_has_empty_arrays_of_them():
    for model in (random_prssm(inputs=2), random_linear(states=2, inputs=2)):
        member = describe(model).members[0]
        shapes = [getattr(member, f"neuron_{part}").shape for part in ("out", "weight", "bias")]
        assert shapes == [(2, 0), (0, 4), (0,)]


def test_nobody_writes_into_a_description():
    description = describe(random_prssm())
    with pytest.raises(ValueError, match="read-only"):
        description.members[0].zeta[:] = 0.0
