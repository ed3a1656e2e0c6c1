"""The PR-SSM estimator: it learns, it keeps its promises about restarts, kernels, emissions and
files.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import prssm
from prssm.dynamics.engines.choice import rollout
from prssm.foundation.errors import DataError, ModelFileError, OptionError, TrainingInterrupted
from prssm.foundation.precision import double_precision
from prssm.gp.kernels import Stationary
from prssm.models.prssm.config import PAPER
from prssm.models.prssm.starts.start import Starts

SMALL = {
    "latent_dim": 2,
    "inducing": 6,
    "samples": 5,
    "batch": 4,
    "horizon": 30,
    "recognition_window": 8,
    "recognition_hidden": 8,
    "iterations": 5,
    "restarts": 2,
    "simulation_samples": 50,
}


def saturating_drive(length, seed=0):
    """x1+ = x1 + 0.3 x2, x2+ = 0.8 x2 - 0.3 x1 + 0.6 tanh(3 u): two states, one seen."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.uniform(-1, 1, length // 10 + 1), 10)[:length]
    x = np.zeros(2)
    y = np.empty(length)
    for t in range(length):
        y[t] = x[0] + 0.02 * rng.normal()
        x = np.array([x[0] + 0.3 * x[1], 0.8 * x[1] - 0.3 * x[0] + 0.6 * np.tanh(3 * u[t])])
    return prssm.Record(u, y, 0.1)


@pytest.fixture(scope="module")
def learnt():
    return prssm.PRSSM("paper", **(SMALL | {"iterations": 250, "restarts": 2})).fit(
        saturating_drive(300)
    )


def test_learns_a_nonlinear_system_with_a_hidden_state(learnt):
    test = saturating_drive(200, seed=1)
    constant = prssm.Constant().fit(saturating_drive(300)).evaluate(test)
    scores = learnt.evaluate(test)
    assert scores["rmse"] < 0.5 * constant["rmse"]
    assert scores["log_likelihood"] > constant["log_likelihood"]


def test_training_raises_the_objective_and_records_every_restart(learnt):
    log = learnt.training_
    assert log.objective.shape == (2, 25)
    assert log.objective[log.kept, -1] > log.objective[log.kept, 0] + 100
    assert log.kept == np.nanargmax(log.final)


def test_samples_have_the_moments_that_are_reported(learnt):
    run = learnt.simulate(saturating_drive(60, seed=1), samples=4000)
    assert run.samples.shape == (4000, 60, 1)
    error = run.std / np.sqrt(4000)
    assert (np.abs(run.samples.mean(axis=0) - run.mean) < 5 * error).all()
    assert np.allclose(run.samples.std(axis=0), run.std, rtol=5 / np.sqrt(2 * 4000))
    assert run.state_mean.shape == (60, 2)


def test_the_first_outputs_start_the_simulation(learnt):
    """The recognised first state follows the measurements that it was shown."""
    record = saturating_drive(60, seed=1)
    shifted = np.array(record.y)
    shifted[:8] += 1.0
    moved = (
        learnt.simulate(prssm.Record(record.u, shifted)).mean[0] - learnt.simulate(record).mean[0]
    )
    assert moved[0] > 0.3


def test_stepping_from_the_first_samples_is_the_free_run_without_noise(learnt):
    record = saturating_drive(40, seed=1)
    stepper = learnt.stepper()
    x = stepper.start(record.u[:8], record.y[:8])
    outputs = []
    for u in record.u:
        step = stepper(x, u)
        x = step.state
        outputs.append(step.output)
    best = jax.tree.map(lambda leaf: leaf[0], learnt.mixture_.models)
    scaled = learnt.scaler_.scale(record)
    with double_precision():
        x1 = best.first_state(scaled.y[:8], scaled.u[:8])[0][:, None]
        inputs = jnp.asarray(scaled.u)[:, :, None]
        states = rollout(best.transition.condition(), x1, inputs, eps=jnp.zeros((40, 2, 1)))
        expected = learnt.scaler_.outputs(np.asarray(best.emission(states, inputs))[:, :, 0])
    np.testing.assert_allclose(outputs, expected, rtol=1e-7, atol=1e-9)


EVERYTHING = SMALL | {
    "start": "linear",
    "mean": "linear",
    "emission": "linear",
    "inducing_covariance": "full",
    "draws": "trajectory",
    "likelihood": "predictive",
    "restarts": 3,
    "members": 2,
    "folds": 2,
    "fold_restarts": 2,
    "shared_inducing": True,
}


def test_a_calibrated_mixture_around_a_linear_model_is_saved_whole(tmp_path):
    record = saturating_drive(120)
    model = prssm.PRSSM("paper", **EVERYTHING).fit(record)
    assert len(model.training_.outcomes) == 3 + 2 * 2
    assert model.training_.kept < 3  # no model of a fold is ever the model
    assert model.mixture_.models.log_output_std.shape == (2, 1)
    gp = model.mixture_.models.transition.gp
    # one set of inputs, outputs for each
    assert (gp.zeta.shape, gp.inducing.mean.shape) == ((2, 1, 6, 3), (2, 2, 6))
    assert model.calibration_.factor[0] != 1.0
    again = prssm.load(model.save(tmp_path / "m.prssm"))
    assert again.mixture_.engine == model.mixture_.engine
    for name in ("mean", "std", "samples", "state_mean"):
        np.testing.assert_array_equal(
            getattr(again.simulate(record), name), getattr(model.simulate(record), name)
        )


def test_the_band_of_a_fold_never_sees_what_it_is_judged_on():
    """The held-out outputs of one stretch change the calibration, and the models of its own fold
    not at all.
    """
    record = saturating_drive(120)
    changed = np.array(record.y)
    # the last of two stretches begins at row 60
    changed[80:] += 0.5 * np.sin(np.arange(40))[:, None]
    options = EVERYTHING | {"normalise": False}
    plain, moved = (
        prssm.PRSSM("paper", **options).fit(data)
        for data in (record, prssm.Record(record.u, changed, 0.1))
    )
    last_fold = slice(3 + 2, 3 + 4)
    np.testing.assert_array_equal(
        plain.training_.final[last_fold], moved.training_.final[last_fold]
    )
    assert (plain.training_.final[:3] != moved.training_.final[:3]).all()
    assert moved.calibration_.factor != plain.calibration_.factor


def test_the_paper_tables_are_the_defaults():
    assert (PAPER.inducing, PAPER.samples, PAPER.batch, PAPER.horizon, PAPER.latent_dim) == (
        20,
        50,
        10,
        100,
        4,
    )
    assert (PAPER.z_mean_std, PAPER.z_std, PAPER.process_std, PAPER.output_std) == (
        0.05,
        0.01,
        0.002,
        1.0,
    )
    assert (PAPER.zeta_range, PAPER.signal_std, PAPER.lengthscale**2) == (
        2.0,
        0.5,
        pytest.approx(2.0),
    )
    assert prssm.PRSSM("paper").config == PAPER


def test_the_start_is_drawn_as_the_table_says():
    with double_precision():
        starts = Starts(PAPER.replace(inducing=60), [saturating_drive(120)]).create("free", 1)
    gp = jax.tree.map(np.asarray, starts.transition.gp)
    assert gp.zeta.shape == (1, 4, 60, 5)
    zeta = np.asarray(gp.zeta)
    z = np.asarray(gp.inducing.mean)
    assert -2 <= zeta.min() < -1.98
    assert 1.98 < zeta.max() <= 2
    assert abs(z.std() - 0.05) < 4 * 0.05 / np.sqrt(2 * z.size)
    np.testing.assert_allclose(np.exp(gp.inducing.log_std), 0.01)
    np.testing.assert_allclose(np.exp(2 * gp.kernel.log_std), 0.25)


def test_full_gradient_scheme_uses_whole_records_and_no_warm_up():
    records = [saturating_drive(40), saturating_drive(25, seed=1)]
    model = prssm.PRSSM("paper", **(SMALL | {"scheme": "full"})).fit(records)
    assert model.warmup == 0
    assert model.mixture_.models.recognition is None
    run = model.simulate(saturating_drive(30, seed=2), samples=2000)
    # the uninformative first state N(0, I) in scaled units, plus sensor noise
    noise = np.exp(2 * np.asarray(model.mixture_.models.log_output_std[0]))
    expected = np.sqrt(1 + noise) * model.scaler_.y_std
    np.testing.assert_allclose(run.std[0], expected, rtol=5 / np.sqrt(2 * 2000))


def magnitude(x):
    """A sensor that cannot see the sign."""
    return jnp.abs(x[:1])


class Mixing(eqx.Module):
    """A trained emission."""

    weights: jax.Array

    def __call__(self, x):
        return self.weights @ x


def test_any_differentiable_emission(tmp_path):
    record = saturating_drive(80)
    model = prssm.PRSSM("paper", **(SMALL | {"emission": magnitude})).fit(record)
    # A magnitude is not negative, and zero in scaled units is the mean of the data.
    assert (model.simulate(record).mean >= model.scaler_.y_mean).all()
    assert (record.y < model.scaler_.y_mean).any()
    path = model.save(tmp_path / "m.prssm")
    with pytest.raises(ModelFileError, match=r"prssm\.load\(path, emission=\.\.\.\)"):
        prssm.load(path)
    again = prssm.load(path, emission=magnitude)
    np.testing.assert_array_equal(again.simulate(record).mean, model.simulate(record).mean)


def test_an_emission_with_arrays_is_trained():
    start = jnp.asarray([[1.0, 0.5]])
    model = prssm.PRSSM("paper", **(SMALL | {"emission": Mixing(start)})).fit(saturating_drive(80))
    assert not np.allclose(model.mixture_.models.emission.function.weights[0], start)


def test_an_emission_is_never_silently_ignored():
    """The default preset starts from a linear model, which has an emission of its own."""
    with pytest.raises(
        OptionError,
        match=r"option start: expected 'random' with mean='linear' and emission=.*magnitude",
    ):
        prssm.PRSSM(emission=magnitude).fit(saturating_drive(80))


def test_an_emission_of_the_wrong_shape_is_refused():
    with pytest.raises(
        OptionError, match=r"emission: expected .* a state \(2,\) to an output \(1,\), got .*\(2,\)"
    ):
        prssm.PRSSM("paper", **(SMALL | {"emission": lambda x: x})).fit(saturating_drive(80))


class Exponential(Stationary):
    """A kernel of the user's own: k = s^2 exp(-r)."""

    @staticmethod
    def profile(squared_distance):
        return jnp.exp(-jnp.sqrt(jnp.maximum(squared_distance, 1e-30)))


def matern32(distance):
    return (1.0 + np.sqrt(3.0) * distance) * np.exp(-np.sqrt(3.0) * distance)


@pytest.mark.parametrize(
    ("kernel", "correlation"),
    [("matern32", matern32), (Exponential.create, lambda distance: np.exp(-distance))],
)
def test_any_differentiable_kernel(kernel, correlation):
    """The fitted model has it, with length scales that were trained, and simulates."""
    model = prssm.PRSSM("paper", **(SMALL | {"kernel": kernel})).fit(saturating_drive(80))
    first = jax.tree.map(lambda leaf: leaf[0, 0], model.mixture_.models.transition.gp.kernel)
    assert np.all(np.abs(first.log_lengthscale - np.log(PAPER.lengthscale)) > 1e-4)
    away = np.array([0.3, -0.5, 0.7])
    distance = np.linalg.norm(away / np.exp(first.log_lengthscale))
    with double_precision():
        got = first.cross(jnp.zeros((1, 3)), jnp.asarray(away[:, None]))
    assert float(got[0, 0]) == pytest.approx(np.exp(2 * first.log_std) * correlation(distance))
    assert np.isfinite(model.simulate(saturating_drive(80)).mean).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"horizon": 100}, "80 rows are too short for sub-trajectories of horizon=100"),
        ({"latent_dim": 1}, "latent_dim: expected at least 2, the number of outputs"),
        ({"recognition_window": 31}, "recognition_window: expected at most horizon=30"),
    ],
)
def test_structures_that_cannot_work_are_named(options, message):
    record = saturating_drive(80)
    two = prssm.Record(record.u, np.column_stack([record.y, record.y**2]))
    with pytest.raises((DataError, OptionError), match=message):
        prssm.PRSSM("paper", **(SMALL | options)).fit(two)


def test_a_short_record_starts_from_what_it_has_and_says_so(learnt):
    """Its first state is that of the record whose last row goes on until the window is full."""
    short = saturating_drive(5)
    with pytest.warns(prssm.PrssmWarning, match="5 rows, but the state at the start .* from 8"):
        run = learnt.simulate(short, seed=3)
    held = np.minimum(np.arange(8), 4)
    longer = learnt.simulate(prssm.Record(short.u[held], short.y[held]), seed=3)
    assert run.warmup == 5
    np.testing.assert_allclose(run.mean[0], longer.mean[0], rtol=1e-6)


class StopAfter:
    """Presses Ctrl-C after some iterations."""

    def __init__(self, at):
        self.at = at

    def start(self, total, done, label): ...

    def update(self, done, figures):
        if done >= self.at:
            raise KeyboardInterrupt

    def stop(self): ...


def test_interrupted_and_resumed_is_the_same_model(tmp_path):
    record = saturating_drive(80)
    options = SMALL | {"iterations": 30}
    file = tmp_path / "c"
    whole = prssm.PRSSM("paper", **options).fit(record)
    with pytest.raises(TrainingInterrupted):
        prssm.PRSSM("paper", **options).fit(record, checkpoint=file, progress=StopAfter(10))
    resumed = prssm.PRSSM("paper", **options).fit(record, checkpoint=file, resume=True)
    for a, b in zip(
        jax.tree.leaves(whole.mixture_), jax.tree.leaves(resumed.mixture_), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ModelFileError, match="other data or options"):
        prssm.PRSSM("paper", **(options | {"seed": 1})).fit(record, checkpoint=file, resume=True)


def test_the_library_leaves_jax_as_it_was():
    before = jnp.zeros(1).dtype
    prssm.PRSSM("paper", **SMALL).fit(saturating_drive(80))
    assert jnp.zeros(1).dtype == before == jnp.float32
