"""Matrices, poles, responses and points at rest: closed forms, finite differences, free runs."""

import warnings

import control
import numpy as np
import pytest
from small_models import small_linear, small_prssm

from prssm.data.domain import Domain
from prssm.export.describing import describe
from prssm.export.reference import covariances
from prssm.foundation.errors import DataError, OptionError, PrssmWarning
from prssm.models.functions import plausible
from prssm.models.functions.bands import Band

SAMPLES = 8


@pytest.fixture(scope="module")
def linear():
    return small_linear()


@pytest.fixture(scope="module")
def model():
    return small_prssm()


@pytest.fixture(scope="module")
def found(model):
    return model.linearise(input=4.0, samples=SAMPLES)


def test_a_linear_model_is_its_own_linearisation(linear):
    found = linear.linearise(input=5.0)
    np.testing.assert_allclose(found.A, linear.A_, atol=1e-12)
    np.testing.assert_allclose(found.B, linear.B_ / 2.0, atol=1e-12)
    np.testing.assert_allclose(found.C, 5.0 * linear.C_, atol=1e-12)
    np.testing.assert_allclose(found.D, 5.0 * linear.D_ / 2.0, atol=1e-12)
    np.testing.assert_array_equal(found.A_std, 0.0)
    gain = found.C @ np.linalg.solve(np.eye(2) - found.A, found.B) + found.D
    np.testing.assert_allclose(found.gain.middle, gain, rtol=1e-9)
    # scaled input 1 about the mean
    expected = -1.0 + 5.0 * 0.05 + gain[0, 0] * 2.0
    assert found.output == pytest.approx(expected)
    assert found.input == pytest.approx(5.0)


def test_a_point_beyond_the_training_inputs_is_a_guess():
    linear = small_linear()
    linear.domain_ = Domain(np.array([[2.0], [6.0]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        linear.linearise(input=5.0)
        linear.steady_state(input=5.0)
    with pytest.warns(PrssmWarning, match=r"linearise: input \[9\.\] is beyond what training saw"):
        linear.linearise(input=9.0)
    with pytest.warns(PrssmWarning, match=r"steady_state: input \[9\.\] is beyond"):
        linear.steady_state(input=9.0)


def test_results_tell_of_themselves_in_one_line(linear):
    """Their arrays would fill screens; the numbers are those of the tests around."""
    found = linear.linearise(input=5.0)
    assert repr(found).startswith("Linearised(2 states at valve 0 = 5, level 0 = ")
    pole = np.abs(np.linalg.eigvals(linear.A_)).max()
    assert f"slowest pole {pole:.4g}, 1 systems)" in repr(found)
    gain = f"{found.gain.middle[0, 0]:.4g}"
    assert repr(found.gain) == f"Band({gain} ({gain} to {gain}); 1 systems)"
    response = found.step_response(30)
    assert repr(response) == "Response(30 steps of 1 output(s) to 1 input(s))"
    assert repr(response.band) == "Band(an array (30, 1, 1) over 1 systems)"
    assert repr(linear.static_curve()) == (
        "StaticCurve(25 points, 1 input(s), 1 output(s), 100% of the systems at rest)"
    )
    assert "output_band=Band(" in repr(linear.steady_state(input=5.0))
    assert repr(linear.as_jax()) == (
        "JaxModel(inputs: valve 0, outputs: level 0, 1 members, 2 states, 1 trajectories each)"
    )


def test_responses_are_differences_of_free_runs(linear):
    """A linear model answers a step and an impulse as its free run does, from any start."""
    still = np.full((30, 1), 3.0)
    stepped = still + 1.0
    kicked = still.copy()
    kicked[0] += 1.0
    base = linear.simulate(still).mean
    found = linear.linearise()
    step = found.step_response(30)
    np.testing.assert_allclose(
        step.band.middle[:, :, 0], linear.simulate(stepped).mean - base, atol=1e-9
    )
    np.testing.assert_allclose(
        found.impulse_response(30).band.middle[:, :, 0],
        linear.simulate(kicked).mean - base,
        atol=1e-9,
    )
    np.testing.assert_allclose(step.time[:3], [0.0, 0.5, 1.0])


def test_the_input_that_holds_an_output(linear, model):
    for one in (linear, model):
        rest = one.steady_state(output=1.5, samples=SAMPLES)
        assert rest.output == pytest.approx(1.5)
        again = one.steady_state(input=rest.input, samples=SAMPLES)
        np.testing.assert_allclose(again.output, 1.5, rtol=1e-7)
        np.testing.assert_allclose(again.state, rest.state, atol=1e-7)
    assert rest.input_band.low < rest.input_band.middle < rest.input_band.high


def test_slopes_are_those_of_the_step(model, found):
    stepper = model.stepper(best=True)
    np.testing.assert_allclose(stepper(found.state, found.input).state, found.state, atol=1e-8)
    for column in range(2):
        ahead = stepper(found.state + 1e-5 * np.eye(2)[column], found.input)
        behind = stepper(found.state - 1e-5 * np.eye(2)[column], found.input)
        slope = (ahead.state - behind.state) / 2e-5
        np.testing.assert_allclose(found.A[:, column], slope, atol=1e-6)
        slope = (ahead.output - behind.output) / 2e-5
        np.testing.assert_allclose(found.C[:, column], slope, atol=1e-6)
    ahead = stepper(found.state, found.input + 1e-5)
    behind = stepper(found.state, found.input - 1e-5)
    np.testing.assert_allclose(found.B[:, 0], (ahead.state - behind.state) / 2e-5, atol=1e-6)
    np.testing.assert_allclose(found.D[:, 0], (ahead.output - behind.output) / 2e-5, atol=1e-6)


def test_the_spread_of_a_slope_is_that_of_the_posterior(model):
    """df/dx = v' W dk/dx with v ~ N(m, V V'), so its deviation is |V' W dk/dx|."""
    state = np.array([0.3, -0.2])
    drawn = model.linearise(state=state, input=4.0, samples=4000)
    description = describe(model)
    member = description.members[0]
    xu = np.concatenate([state, description.scaled_inputs(np.array([4.0]))])[:, None]
    for column in range(3):
        step = 1e-6 * np.eye(3)[:, column : column + 1]
        k = covariances(description, member, xu + step) - covariances(
            description, member, xu - step
        )
        slope = (np.swapaxes(member.v_factor, 1, 2) @ member.white @ k)[..., 0] / 2e-6
        expected = np.linalg.norm(slope, axis=1)
        got = drawn.A_std[:, column] if column < 2 else 2.0 * drawn.B_std[:, 0]
        np.testing.assert_allclose(got, expected, rtol=5 / np.sqrt(2 * 2000))
    np.testing.assert_allclose(drawn.C_std, 0.0, atol=1e-12)
    assert len(drawn.systems.A) == 2001  # the best member's alone: others have other states


def test_the_static_curve_is_where_runs_end(model):
    curve = model.static_curve([2.0, 4.0], samples=SAMPLES)
    stepper = model.stepper(best=True)
    for at, u in enumerate(curve.inputs):
        state = np.zeros(2)
        for _ in range(300):
            step = stepper(state, u)
            state = step.state
        assert curve.band.samples[0, at] == pytest.approx(step.output, abs=1e-6)
    assert curve.band.samples.shape == (2 * (1 + SAMPLES // 2), 2, 1)
    np.testing.assert_array_equal(curve.found, 1.0)
    assert np.all(curve.band.low < curve.band.middle)


def test_poles_and_python_control(found):
    assert found.poles.shape == (2,)
    assert np.abs(found.poles)[0] >= np.abs(found.poles)[1]
    assert found.pole_samples.shape == (2 * (1 + SAMPLES // 2), 2)
    system = found.control()
    assert isinstance(system, control.StateSpace)
    assert system.dt == 0.5
    assert system.input_labels == ["valve 0"]
    _, response = control.step_response(system, np.arange(10) * 0.5)
    best = np.cumsum(found.systems.impulse(10)[0], axis=0)[:, 0, 0]
    np.testing.assert_allclose(response, best, atol=1e-9)


def test_a_band_is_widened_around_its_middle_and_skips_what_is_missing():
    samples = np.array([[0.0, np.nan], [1.0, np.nan], [2.0, np.nan], [np.nan, np.nan]])
    narrow = Band.of(samples)
    wide = Band.of(samples, 3.0)
    assert narrow.middle[0] == wide.middle[0] == 1.0
    assert wide.high[0] - 1.0 == pytest.approx(3.0 * (narrow.high[0] - 1.0))
    assert np.isnan(wide.low[1])


def test_mistakes_are_named(linear, model):
    with pytest.raises(DataError, match=r"input: expected 1 finite number\(s\), got \[1, 2\]"):
        linear.linearise(input=[1, 2])
    with pytest.raises(DataError, match=r"state: expected 2 finite number\(s\), got nan"):
        linear.linearise(state=np.nan)
    with pytest.raises(DataError, match="expected an input or an output, got both or neither"):
        linear.steady_state()
    with pytest.raises(DataError, match=r"inputs: expected rows of 1 .* got an array \(2, 2\)"):
        linear.static_curve(np.zeros((2, 2)))
    with pytest.raises(OptionError, match="steps: expected at least 1, got 0"):
        linear.linearise().step_response(0)
    with pytest.raises(OptionError, match="samples: expected at least 0 systems, got -1"):
        model.linearise(samples=-1)


def test_a_model_that_drifts_has_no_equilibrium():
    drifting = small_linear()
    drifting.system_.A[:] = np.eye(2)
    with pytest.raises(DataError, match=r"comes to rest, got .* give a state, or another input"):
        drifting.linearise(input=4.0)
    assert drifting.linearise(state=[0.0, 0.0], input=4.0).poles == pytest.approx(1.0)


def test_any_number_of_points_is_compiled_once(model):
    systems = plausible.Plausible.of(model.as_jax(), SAMPLES)
    members, count, states = systems.shape
    random = np.random.default_rng(0)
    x = random.normal(size=(members, 9, count, states))
    u = random.normal(size=(members, 9, count, 1))
    one_by_one = [systems.at(x[:, i : i + 1], u[:, i : i + 1]) for i in range(9)]
    before = plausible._slopes._cache_size()
    found = systems.at(x, u)
    assert plausible._slopes._cache_size() == before
    for part, single in zip(found, zip(*one_by_one, strict=True), strict=True):
        np.testing.assert_allclose(part, np.concatenate(single, axis=1), rtol=1e-12, atol=1e-14)
