"""REVARB as a user meets it: it learns, survives an interruption, and starts from what was
measured.
"""

from dataclasses import replace

import numpy as np
import pytest

import prssm
from prssm.foundation.errors import OptionError, TrainingInterrupted
from prssm.models.registry import method
from prssm.models.revarb.first_state import FirstState
from prssm.training import legs
from prssm.training.session import Silent

SMALL = {"lags": 3, "inducing": 8, "fixed_iterations": 10, "iterations": 40}


def tank(length, seed):
    """A first-order system with a saturating input, noisily measured."""
    random = np.random.default_rng(seed)
    u = np.repeat(random.normal(size=length // 5 + 1), 5)[:length]
    x = np.zeros(length)
    for t in range(1, length):
        x[t] = 0.8 * x[t - 1] + 0.4 * np.tanh(u[t - 1])
    return prssm.Record(u, x + 0.02 * random.normal(size=length), 0.1)


@pytest.fixture(scope="module")
def fitted():
    return prssm.REVARB(**SMALL).fit(tank(100, 0))


def test_learns_the_system_and_its_error_bars(fitted):
    scores = fitted.evaluate(tank(100, 1))
    assert scores["fit_percent"] > 85.0
    assert scores["coverage_2sigma"] > 0.8


def test_mean_propagation_is_surer_of_itself(fitted):
    record = tank(100, 1)
    matched = fitted.simulate(record)
    other = prssm.REVARB(**SMALL, propagation="mean")
    other.__dict__ |= {name: value for name, value in fitted.__dict__.items() if name.endswith("_")}
    assert other.simulate(record).std.mean() < matched.std.mean()


def test_hidden_rows_and_draws_come_with_the_run(fitted):
    run = fitted.simulate(tank(100, 1), samples=400)
    assert run.samples.shape == (400, 100, 1)
    assert run.state_mean.shape == run.state_std.shape == (100, 1)
    off = (run.samples.mean(axis=0) - run.mean) / run.std
    assert np.abs(off).max() < 5.0 / np.sqrt(400)


def test_a_record_that_ends_within_the_window_is_what_was_given(fitted):
    short = tank(60, 1)[:2]
    run = fitted.simulate(short, samples=10)
    np.testing.assert_allclose(run.mean, short.y)
    assert run.samples.shape == (10, 2, 1)


class Interrupting(Silent):
    """Presses Ctrl-C in the first iteration of the third leg."""

    def update(self, done, figures):
        if done == 7:
            raise KeyboardInterrupt


def test_an_interrupted_fit_resumes_to_the_same_model(monkeypatch, tmp_path):
    monkeypatch.setattr(legs, "LEG", 3)
    options = SMALL | {"fixed_iterations": 3, "iterations": 6, "least_gain": 0.0}
    record = tank(100, 0)
    file = tmp_path / "revarb.ckpt"
    whole = prssm.REVARB(**options).fit(record).simulate(record)
    with pytest.raises(TrainingInterrupted, match="iteration 6 of 9"):
        prssm.REVARB(**options).fit(record, checkpoint=file, progress=Interrupting())
    resumed = prssm.REVARB(**options).fit(record, checkpoint=file, resume=True).simulate(record)
    np.testing.assert_array_equal(resumed.mean, whole.mean)
    np.testing.assert_array_equal(resumed.std, whole.std)


def test_the_two_names_of_the_paper():
    assert method("revarb1")().config.layers == 1
    assert method("revarb2")().config.layers == 2
    assert prssm.REVARB(layers=2).config == method("revarb2")().config


def test_a_model_is_called_by_its_layers():
    for layers in (1, 2, 3):
        assert prssm.REVARB(layers=layers).name == f"revarb{layers}"
    assert prssm.REVARB().set_params(layers=2).name == "revarb2"
    for name in ("revarb1", "revarb2"):
        assert method(name).name == method(name)().name == name
    with pytest.raises(OptionError, match="unknown preset 'papr' of revarb1"):
        prssm.REVARB("papr")


def test_a_file_gives_the_same_class_and_layers_back(fitted, tmp_path):
    """The name of a model with three layers is not a registered method; its file still loads."""
    deep = prssm.REVARB(**SMALL, layers=3)
    deep.__dict__ |= {name: value for name, value in fitted.__dict__.items() if name.endswith("_")}
    one = fitted.model_
    first = replace(
        one.first,
        coefficients=np.tile(one.first.coefficients, (1, 3)),
        covariance=np.kron(np.eye(3), one.first.covariance),
        usual_mean=np.tile(one.first.usual_mean, 3),
        usual_covariance=np.kron(np.eye(3), one.first.usual_covariance),
    )
    gps = (one.gps[0],) * 3 + one.gps[1:]
    noise_std = np.concatenate([one.noise_std[:1]] * 3 + [one.noise_std[1:]])
    deep.model_ = replace(one, gps=gps, first=first, noise_std=noise_std)
    again = prssm.load(deep.save(tmp_path / "deep.prssm"))
    assert type(again) is prssm.REVARB
    assert (again.name, again.config) == ("revarb3", deep.config)


def test_first_state_recovers_a_linear_map_and_its_error():
    """q(x) is 2 y + noise: the map, and the deviation of what it cannot know."""
    random = np.random.default_rng(0)
    record = prssm.Record(random.normal(size=3000), random.normal(size=3000))
    q_mean = (2.0 * record.y + 0.1 * random.normal(size=(3000, 1)))[None]
    first = FirstState.fit([record], q_mean, np.full(q_mean.shape, 0.05), lags=2, samples=4)
    y = random.normal(size=(4, 1))
    u = random.normal(size=(4, 1))
    state = first(y, u, measured=True)
    np.testing.assert_allclose(
        state.mean, [2.0 * y[1, 0], 2.0 * y[0, 0]], atol=5 * 0.1 * np.sqrt(9 / 3000) * 2
    )
    np.testing.assert_allclose(np.sqrt(np.diag(state.covariance)), np.hypot(0.1, 0.05), rtol=0.05)
    unknown = first(y, u, measured=False)
    np.testing.assert_allclose(np.diag(unknown.covariance), 4.0 + 0.1**2 + 0.05**2, rtol=0.15)
