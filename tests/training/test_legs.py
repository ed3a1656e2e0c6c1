"""Training in legs: phases hold what they say, a plateau ends it, and an interrupted run ends as if
it had not been.
"""

import jax.numpy as jnp
import numpy as np
import pytest

from prssm.foundation.errors import TrainingError, TrainingInterrupted
from prssm.foundation.precision import double_precision
from prssm.training import legs
from prssm.training.legs import Phase, train
from prssm.training.session import Session, Silent


def valley(parameters, centre):
    """Rosenbrock's curved valley, turned over: its top is at (centre, centre^2)."""
    x = parameters["x"]
    y = parameters["y"]
    return -((centre - x) ** 2) - 100.0 * (y - x**2) ** 2


STARTS = {"x": np.array([-1.2, 3.0]), "y": np.array([1.0, -2.0])}
ANYWHERE = {"x": -np.inf, "y": -np.inf}, {"x": np.inf, "y": np.inf}


class Interrupting(Silent):
    """Presses Ctrl-C after some iterations."""

    def __init__(self, after):
        self.left = after

    def update(self, done, figures):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def run(phases, checkpoint=None, resume=False, watcher=None, least_gain=0.0, starts=STARTS):
    with double_precision():
        session = Session(watcher or Silent(), checkpoint, resume)
        return train(
            valley,
            starts,
            (jnp.asarray(1.5),),
            phases=phases,
            least_gain=least_gain,
            session=session,
            fingerprint="id",
        )


def test_reaches_the_top_from_the_best_start(monkeypatch):
    monkeypatch.setattr(legs, "LEG", 30)
    parameters, log = run([Phase(150, *ANYWHERE)], least_gain=1e-12)
    np.testing.assert_allclose([parameters["x"], parameters["y"]], [1.5, 2.25], atol=1e-4)
    assert log.final[log.kept] == log.final.max()
    assert log.objective.shape == (2, len(log.iteration))
    assert (np.diff(log.objective, axis=1) >= 0).all()


def test_equal_limits_hold_a_parameter():
    parameters, _ = run(
        [Phase(50, {"x": 0.5, "y": -np.inf}, {"x": 0.5, "y": np.inf})],
        starts={"x": np.array([0.5]), "y": np.array([3.0])},
    )
    assert parameters["x"] == 0.5
    np.testing.assert_allclose(parameters["y"], 0.25, atol=1e-5)


def test_a_plateau_ends_the_last_phase_only(monkeypatch):
    monkeypatch.setattr(legs, "LEG", 5)
    _, log = run([Phase(10, *ANYWHERE), Phase(1000, *ANYWHERE)], least_gain=1e9)
    assert log.iteration[-1] == 15


def test_an_interrupted_run_ends_as_if_it_had_not_been(monkeypatch, tmp_path):
    monkeypatch.setattr(legs, "LEG", 4)
    phases = [Phase(6, *ANYWHERE), Phase(12, *ANYWHERE)]
    whole, whole_log = run(phases)
    for after in (1, 5, 20):
        file = tmp_path / f"{after}.ckpt"
        with pytest.raises(TrainingInterrupted, match="resume from"):
            run(phases, file, watcher=Interrupting(after))
        again, log = run(phases, file, resume=True)
        assert again == whole
        np.testing.assert_array_equal(log.objective, whole_log.objective)


def test_no_iteration_compares_the_starts():
    parameters, log = run([Phase(0, *ANYWHERE)])
    assert parameters["x"] == -1.2
    np.testing.assert_allclose(log.final[0], -(2.7**2) - 100.0 * (1.0 - 1.44) ** 2)


def test_a_start_that_is_not_finite_is_dropped_and_said():
    starts = {"x": np.array([np.nan, 1.0]), "y": np.array([1.0, 1.0])}
    _, log = run([Phase(5, *ANYWHERE)], starts=starts)
    assert (log.kept, log.diverged) == (1, 1)
    with pytest.raises(TrainingError, match="all 1 restarts diverged"):
        run([Phase(5, *ANYWHERE)], starts={"x": np.array([np.nan]), "y": np.array([1.0])})
