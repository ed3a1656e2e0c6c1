"""SS-GP-SSM as a user meets it: it learns a nonlinear system, does not lose work, and says what it
cannot do.
"""

import jax.numpy as jnp
import numpy as np
import pytest

import prssm
from prssm.foundation.errors import ModelFileError, OptionError, TrainingInterrupted
from prssm.foundation.precision import double_precision
from prssm.models.ssgpssm.config import PAPER

# one structure for all small fits, so that it is compiled once
SMALL = {
    "iterations": 12,
    "particles": 5,
    "n_basis_x": 3,
    "n_basis_u": 2,
    "posterior_samples": 4,
    "simulation_samples": 20,
    "chains": 2,
}


def step(x, u):
    """A saturating system that no linear one follows."""
    return 1.6 * np.tanh(1.5 * x) - 0.6 * x + 0.8 * u


def saturating(length, seed=0, noise=0.03):
    """Jumps between two resting points, driven by its input."""
    rng = np.random.default_rng(seed)
    u = 0.9 * rng.normal(size=length)
    x = 0.0
    y = np.empty(length)
    for t in range(length):
        y[t] = x + noise * rng.normal()
        x = step(x, u[t]) + noise * rng.normal()
    return prssm.Record(u, y)


@pytest.fixture(scope="module")
def learnt():
    options = {
        "latent_dim": 1,
        "iterations": 150,
        "particles": 10,
        "posterior_samples": 50,
        "simulation_samples": 200,
    }
    return prssm.SSGPSSM(**options).fit(saturating(300))


def test_the_transition_is_recovered(learnt):
    """The posterior mean of f where the data have been, against the truth in scaled units."""
    scaler = learnt.scaler_
    structure = learnt.structure_
    x, u = np.meshgrid(np.linspace(-1.5, 1.5, 9), np.linspace(-1.0, 1.0, 5), indexing="ij")
    truth = (step(x, u) - scaler.y_mean) / scaler.y_std
    scaled_x = (x - scaler.y_mean) / scaler.y_std
    scaled_u = (u - scaler.u_mean) / scaler.u_std
    with double_precision():
        points = jnp.asarray(scaled_x.ravel())[:, None], jnp.asarray(scaled_u.ravel())[:, None]
        linear = np.asarray(structure.linear(*points))[:, 0]
        nonlinear = (
            np.asarray(structure.features(*points)) @ np.asarray(learnt.draws_.weights)[:, 0].T
        )
    error = np.sqrt(np.mean((linear + nonlinear.mean(axis=1) - truth.ravel()) ** 2))
    assert error < 0.1
    # the linear mean alone does not do it
    assert np.sqrt(np.mean((linear - truth.ravel()) ** 2)) > 3 * error


def test_noises_are_recovered(learnt):
    """Process and sensor noise had the same deviation; their sum is what is well determined."""
    process = np.sqrt(learnt.draws_.process[:, 0, 0]) * learnt.scaler_.y_std
    sensor = learnt.draws_.output_std[:, 0] * learnt.scaler_.y_std
    assert 0.02 < np.sqrt(np.mean(process**2 + sensor**2)) < 0.07


def test_a_free_run_follows_new_data(learnt):
    test = saturating(200, seed=1)
    scores = learnt.evaluate(test)
    assert (
        scores["rmse"] < 0.5 * prssm.LinearSSM(order=1).fit(saturating(300)).evaluate(test)["rmse"]
    )
    assert scores["coverage_95"] > 0.8


def test_the_first_outputs_set_the_first_state(learnt):
    """From rest on either side the run begins where the measurements say."""
    for start in (-1.0, 1.0):
        run = learnt.simulate(prssm.Record(np.zeros(30), np.full(30, start)))
        assert abs(run.mean[0, 0] - start) < 0.15


def test_runs_far_outside_of_the_box_stay_bounded(learnt):
    """The linear mean is stable and the basis functions are bounded, so no input brings a free run
    down.
    """
    run = learnt.simulate(prssm.Record(np.full(300, 1e3), None))
    assert np.isfinite(run.mean).all()
    assert np.isfinite(run.std).all()


class StopAt:
    """Presses Ctrl-C once the run has come this far."""

    def __init__(self, iteration):
        self.iteration = iteration

    def start(self, total, done, label): ...

    def update(self, done, figures):
        assert np.isfinite(figures["log likelihood"])
        if done >= self.iteration:
            raise KeyboardInterrupt

    def stop(self): ...


def two_records():
    return [saturating(40), saturating(25, seed=1)]


def test_an_interrupted_run_resumes_to_the_same_model(tmp_path):
    records = two_records()
    path = tmp_path / "run.ckpt"
    options = SMALL | {"iterations": 24}
    whole = prssm.SSGPSSM(**options).fit(records)
    with pytest.raises(TrainingInterrupted, match="at iteration 10 of 24; resume from"):
        prssm.SSGPSSM(**options).fit(records, checkpoint=path, progress=StopAt(10))
    resumed = prssm.SSGPSSM(**options).fit(records, checkpoint=path, resume=True)
    for name in ("weights", "process", "output_std", "hyper"):
        np.testing.assert_array_equal(getattr(resumed.draws_, name), getattr(whole.draws_, name))
    np.testing.assert_array_equal(resumed.training_.objective, whole.training_.objective)
    np.testing.assert_array_equal(
        resumed.simulate(records[0]).mean, whole.simulate(records[0]).mean
    )
    with pytest.raises(ModelFileError, match="other data or options"):
        prssm.SSGPSSM(**(options | {"particles": 6})).fit(records, checkpoint=path, resume=True)


def test_chains_differ_and_the_likelier_one_is_kept():
    model = prssm.SSGPSSM(**SMALL).fit(two_records())
    final = model.training_.final
    assert final[0] != final[1]
    assert model.training_.kept == np.argmax(final)
    assert model.draws_.weights.shape == (4, 2, 3 * 3 * 2)
    # every place for a kept model was filled
    assert len(np.unique(model.draws_.weights[:, 0, 0])) == 4
    assert (model.draws_.output_std > 0).all()


def test_hyper_parameters_can_be_kept_fixed():
    model = prssm.SSGPSSM(**(SMALL | {"hyper": "fixed", "mean": "zero", "lengthscale": 2.0})).fit(
        two_records()
    )
    np.testing.assert_allclose(np.exp(model.draws_.hyper), np.tile([3.0, 2.0, 2.0, 2.0], (4, 1)))
    np.testing.assert_array_equal(model.structure_.F, 0.0)


def test_the_paper_configuration_is_the_default():
    assert (
        PAPER.iterations,
        PAPER.particles,
        PAPER.n_basis_x,
        PAPER.n_basis_u,
        PAPER.latent_dim,
    ) == (2000, 40, 7, 7, 2)
    assert prssm.SSGPSSM("paper").config == prssm.SSGPSSM().config == PAPER


@pytest.mark.parametrize(
    ("iterations", "samples", "burn_in"),
    [(2000, 200, 0.5), (7, 3, 0.5), (10, 100, 0.0), (5, 2, 0.9)],
)
def test_kept_models_lie_after_the_burn_in_and_within_the_run(iterations, samples, burn_in):
    config = PAPER.replace(iterations=iterations, posterior_samples=samples, burn_in=burn_in)
    assert 1 <= config.kept_count <= samples
    assert config.first_kept + config.thinning * (config.kept_count - 1) < iterations


def test_options_that_cannot_work_are_named(learnt):
    record = saturating(40)
    two = prssm.Record(record.u, np.concatenate([record.y, record.y**2], axis=1))
    with pytest.raises(
        OptionError, match="latent_dim: expected at least 2, the number of outputs, got 1"
    ):
        prssm.SSGPSSM(**(SMALL | {"latent_dim": 1})).fit(two)
    with pytest.raises(
        OptionError, match=r"n_basis_x: 7\^4 x 7\^1 = 16807 basis functions, expected at most 3000"
    ):
        prssm.SSGPSSM(latent_dim=4).fit(record)
    with pytest.raises(OptionError, match=r"burn_in: expected less than 1, got 1\.0"):
        prssm.SSGPSSM(burn_in=1.0)
    with pytest.raises(OptionError, match="samples: expected at least 2 trajectories, got 1"):
        learnt.simulate(record, samples=1)
