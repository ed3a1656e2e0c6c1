"""MSGP: its objective against an explicit free run and finite differences; training helps, stops
and continues.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.stats import norm

import prssm
from prssm.data import windows
from prssm.data.lag_windows import lagged
from prssm.foundation.errors import TrainingInterrupted
from prssm.foundation.precision import double_precision
from prssm.models.narx.free_run import Window, free_run
from prssm.models.narx.gp_narx import GPNARXConfig, fit_fitc
from prssm.models.narx.msgp import LongTermObjective, MSGPConfig, Trajectories, start_model
from prssm.training.session import Session, Silent

SMALL = {
    "lags": 2,
    "inducing": 8,
    "horizon": 12,
    "batch": 4,
    "iterations": 60,
    "start_iterations": 20,
}


def noisy_system(length, seed=0):
    """x+ = 0.8 x - 0.3 x_ + tanh(2 u), measured with much noise: one-step models take the noise for
    dynamics.
    """
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.uniform(-1, 1, length // 4 + 1), 4)[:length]
    x = np.zeros(length)
    for t in range(2, length):
        x[t] = 0.8 * x[t - 1] - 0.3 * x[t - 2] + np.tanh(2 * u[t - 1])
    return prssm.Record(u, x + 0.2 * rng.normal(size=length))


def problem(missing=()):
    """A start model of two outputs, its objective and its data."""
    records = [noisy_system(40), noisy_system(30, seed=1)]
    y = [np.column_stack([record.y, record.y**2]) for record in records]
    y[0][list(missing), 1] = np.nan
    records = [prssm.Record(record.u, outputs) for record, outputs in zip(records, y, strict=True)]
    cut = windows.sliding(records, 8)
    data = Trajectories(
        *(jnp.asarray(part) for part in (cut.u, cut.y, cut.y_filled, cut.starts, float(cut.steps)))
    )
    model = start_model(records, 2, MSGPConfig(lags=2, inducing=6, start_iterations=5))
    return records, data, model, LongTermObjective(lags=2, horizon=6, batch=3)


def test_density_of_a_run_equals_an_explicit_free_run_and_missing_outputs_do_not_count():
    with double_precision():
        records, data, model, objective = problem(missing=[7])
        found = float(
            jax.jit(objective.run_density)(
                model.condition(), model.log_output_std, data, jnp.asarray(3)
            )
        )
        part = records[0][3:11]
        output_var = np.exp(2 * np.asarray(model.log_output_std))
        start = Window(
            jnp.asarray(part.y[:2][::-1].ravel()), jnp.diag(jnp.asarray(np.tile(output_var, 2)))
        )
        run = free_run(
            model.condition(),
            jnp.zeros(2),
            start,
            jnp.asarray(lagged(part.u, 2)),
            "moment-matching",
        )
        std = np.sqrt(np.diagonal(np.asarray(run.covariance), axis1=1, axis2=2) + output_var)
        densities = norm.logpdf(part.y[2:], np.asarray(run.mean), std)
    assert np.isnan(densities).sum() == 1
    assert found == pytest.approx(np.nansum(densities), rel=1e-9)


def test_objective_gradient_agrees_with_finite_differences():
    with double_precision():
        _, data, model, objective = problem(missing=[7])
        flat, rebuild = ravel_pytree(model)
        # One function for values and slopes: it is compiled once.
        both = jax.jit(
            jax.value_and_grad(
                lambda point: objective(rebuild(point), data, jax.random.key(0), jnp.asarray(1.0))
            )
        )
        slope = both(flat)[1]
        assert np.isfinite(slope).all()
        for seed in range(3):
            direction = jnp.asarray(np.random.default_rng(seed).normal(size=flat.shape))
            ahead = both(flat + 1e-6 * direction)[0]
            behind = both(flat - 1e-6 * direction)[0]
            numeric = float(ahead - behind) / 2e-6
            assert float(slope @ direction) == pytest.approx(numeric, rel=2e-4)


def test_training_starts_from_the_one_step_model():
    """Pseudo data with the mean of the sparse GP that they replace."""
    with double_precision():
        record = noisy_system(60)
        config = MSGPConfig(lags=2, inducing=6, start_iterations=10)
        model = start_model([record], 2, config)
        one_step = GPNARXConfig(lags=2, inducing=6, iterations=10, restarts=1)
        fits, data, _ = fit_fitc([record], 2, one_step, session=Session(Silent()))
        x = jnp.asarray(data.x)
        expected = fits[0].condition(x, jnp.asarray(data.y[:, 0]))(x.T)[0]
        found = jax.vmap(lambda gp: gp(x.T)[0])(model.condition())[0]
    np.testing.assert_allclose(found, expected, atol=1e-3 * float(np.abs(expected).max()))


@pytest.fixture(scope="module")
def learnt():
    return prssm.MSGP(**SMALL).fit(noisy_system(200))


def test_long_term_training_improves_the_free_run_on_unseen_data(learnt):
    test = noisy_system(300, seed=1)
    untrained = prssm.MSGP(**(SMALL | {"iterations": 0})).fit(noisy_system(200)).evaluate(test)
    scores = learnt.evaluate(test)
    assert scores["log_likelihood"] > untrained["log_likelihood"] + 0.02
    assert scores["rmse"] < 1.25 * 0.2  # the sensor noise alone is 0.2
    assert 0.85 < scores["coverage_95"] <= 1.0
    assert learnt.model_.output_std[0] * learnt.scaler_.y_std[0] == pytest.approx(0.2, rel=0.3)


def test_training_raises_the_objective(learnt):
    log = learnt.training_
    assert log.objective.shape == (1, 6)
    assert log.objective[0, -1] > log.objective[0, 0]


class StopAt:
    """A watcher that presses Ctrl-C once."""

    def __init__(self, iteration):
        self.iteration = iteration

    def start(self, total, done, label): ...

    def update(self, done, figures):
        if done == self.iteration:
            raise KeyboardInterrupt

    def stop(self): ...


def test_an_interrupted_run_continues_to_the_same_model(learnt, tmp_path):
    path = tmp_path / "run.ckpt"
    record = noisy_system(200)
    with pytest.raises(TrainingInterrupted, match="at iteration 30 of 60; resume from"):
        prssm.MSGP(**SMALL).fit(record, progress=StopAt(30), checkpoint=path)
    again = prssm.MSGP(**SMALL).fit(record, checkpoint=path, resume=True)
    np.testing.assert_array_equal(again.simulate(record).mean, learnt.simulate(record).mean)
