"""Every model says where a run leaves what it was trained on, and warns once."""

import warnings

import numpy as np
import pytest

import prssm
from prssm.foundation.errors import PrssmWarning


def lag(length: int, seed: int, size: float = 1.0, rows: int = 1) -> prssm.Record:
    """A first-order lag; inputs are held for `rows` rows."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.uniform(-size, size, length // rows + 1), rows)[:length]
    y = np.zeros(length)
    for t in range(1, length):
        y[t] = y[t - 1] + 0.2 / rows * (u[t - 1] - y[t - 1])
    return prssm.Record(u, y + 0.005 * rng.normal(size=length), 0.1, name=f"lag {seed}")


@pytest.fixture(scope="module")
def model() -> prssm.LinearSSM:
    return prssm.LinearSSM(order=1).fit(lag(300, seed=0))


def test_a_run_inside_says_nothing(model) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = model.simulate(lag(200, seed=1, size=0.9))
    assert run.outside.mean() < 0.1


def test_a_run_outside_warns_in_one_line(model) -> None:
    with pytest.warns(PrssmWarning, match="lag 1: .* rows are outside") as caught:
        run = model.simulate(lag(200, seed=1, size=3.0))
    assert len(caught) == 1
    beyond = np.abs(run.inputs[:, 0]) > 1.0
    assert run.outside[beyond].all()
    assert run.distance[beyond].max() > 1.0


def test_many_runs_outside_say_little(model) -> None:
    with pytest.warns(PrssmWarning) as caught:
        model.simulate([lag(100, seed, size=3.0) for seed in range(6)])
    assert len(caught) == 4
    assert "more such lines" in str(caught[-1].message)


def test_free_runs_do_not_warn_but_say_so_themselves(model) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = model.free_runs([lag(200, 1, size=3.0)])[0]
    assert run.outside.any()
    assert len(run.cautions) == 1


def test_states_beyond_those_in_training_are_outside_though_no_input_is() -> None:
    """Long steps drive the state farther than the short ones of training ever did."""
    trained = prssm.LinearSSM(order=1).fit(lag(400, seed=0))
    slow = np.where(np.arange(200) // 50 % 2, 0.95, -0.95)
    run = trained.free_runs(prssm.Record(slow, None))[0]
    reach = np.abs(run.mean[:, 0]) > 0.9
    assert np.abs(lag(400, seed=0).y).max() < 0.8
    assert reach.any()
    assert run.outside[reach].all()


def test_a_slow_model_flags_the_very_row_of_a_fast_recording() -> None:
    """One row whose input is out of range, though the mean over a step is not."""
    fast = lag(1600, seed=0, rows=8)
    trained = prssm.LinearSSM(order=1, stride=4).fit(fast)
    u = 0.2 * np.ones(80)
    u[41] = 1.3
    run = trained.free_runs(prssm.Record(u, None))[0]
    assert run.distance.shape == (80,)
    assert run.outside[41]
    assert not run.outside[60:].any()


def test_without_inputs_the_outputs_tell() -> None:
    rng = np.random.default_rng(0)
    y = np.sin(0.3 * np.arange(200)) + 0.01 * rng.normal(size=200)
    trained = prssm.LinearSSM(order=2).fit(prssm.Record(None, y))
    start = 4.0 * np.sin(0.3 * np.arange(60))
    assert trained.free_runs(prssm.Record(None, start))[0].outside[:20].all()
    assert trained.free_runs(prssm.Record(None, start / 4.5))[0].outside.mean() < 0.1
