"""The training loop on objectives whose maximum is known."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from prssm.foundation import storage
from prssm.foundation.errors import ModelFileError, TrainingError, TrainingInterrupted
from prssm.foundation.precision import double_precision
from prssm.training.optimise import Schedule, optimise
from prssm.training.session import Session, Silent

TRACES = []


def hill(parameters, data, key, weight):
    """Highest at `data`, with noise that does not move the maximum; not a number beyond 50."""
    TRACES.append(1)
    x = parameters["x"]
    height = -jnp.sum((x - data) ** 2) + 0.01 * jax.random.normal(key)
    return jnp.where(jnp.max(jnp.abs(x)) > 50.0, jnp.nan, height)


def run(start, data, iterations=300, seed=0, session=None):
    with double_precision():
        return optimise(
            hill,
            {"x": jnp.asarray(start)},
            jnp.asarray(data),
            schedule=Schedule(iterations, 0.05, 0.05),
            key=jax.random.key(seed),
            session=session or Session(Silent()),
            fingerprint="test",
        )


def test_finds_the_maximum_and_keeps_the_best_restart():
    best, log = run([[0.0, 0.0], [3.0, 3.0], [49.0, 49.0]], [1.0, 2.0])
    np.testing.assert_allclose(best["x"], [1.0, 2.0], atol=0.02)
    assert log.kept in (0, 1)  # the third is too far away to arrive
    assert log.final[log.kept] == np.nanmax(log.final)
    assert log.objective.shape == (3, 30)
    assert log.iteration[-1] == 300
    assert log.diverged == 0


def test_a_diverged_restart_is_dropped_and_said_so():
    best, log = run([[100.0], [0.0]], [1.0])
    assert log.outcomes == ("diverged at iteration 0", "finished")
    assert np.isnan(log.final[0])
    assert log.kept == 1
    assert "1 diverged" in log.summary()
    assert abs(float(best["x"][0]) - 1.0) < 0.02


def test_when_all_restarts_diverge_the_error_says_what_to_try():
    with pytest.raises(TrainingError, match=r"all 2 restarts diverged.*learning_rate"):
        run([[100.0], [200.0]], [1.0])


class StopAfter(Silent):
    """Presses Ctrl-C when `at` iterations are done."""

    def __init__(self, at):
        self.at = at

    def update(self, done, figures):
        if done >= self.at:
            raise KeyboardInterrupt


@pytest.mark.parametrize("at", [10, 50])
def test_interrupted_and_resumed_ends_like_an_uninterrupted_run(tmp_path: Path, at):
    start = [[0.0], [2.0]]
    goal = [1.0]
    file = tmp_path / "run.checkpoint"
    whole, whole_log = run(start, goal, 100)
    with pytest.raises(
        TrainingInterrupted, match=f"iteration {at} of 100; resume from .*run.checkpoint"
    ):
        run(start, goal, 100, session=Session(StopAfter(at), file))
    resumed, log = run(start, goal, 100, session=Session(Silent(), file, resume=True))
    np.testing.assert_array_equal(resumed["x"], whole["x"])
    np.testing.assert_array_equal(log.objective, whole_log.objective)
    np.testing.assert_array_equal(log.final, whole_log.final)


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path):
    file = tmp_path / "run.checkpoint"
    run([[0.0]], [1.0], 10, session=Session(Silent(), file))
    with double_precision(), pytest.raises(ModelFileError, match="other data or options"):
        optimise(
            hill,
            {"x": jnp.zeros((1, 1))},
            jnp.ones(1),
            schedule=Schedule(10, 0.05, 0.05),
            key=jax.random.key(0),
            session=Session(Silent(), file, resume=True),
            fingerprint="another",
        )


@pytest.mark.parametrize(
    ("changed", "by"),
    [
        ({"program": "0.0.9"}, r"0\.0\.9 \(layout"),
        ({"layout": 0}, r"\(layout 0\)"),
        ({"program": None}, "a version that did not note itself"),
        ({"layout": None}, "a version that did not note itself"),
    ],
)
def test_a_checkpoint_of_another_version_is_refused_in_one_line(tmp_path: Path, changed, by):
    file = tmp_path / "run.checkpoint"
    run([[0.0]], [1.0], 10, session=Session(Silent(), file))
    header, arrays = storage.read(file, "checkpoint")
    kept = {name: value for name, value in (header | changed).items() if value is not None}
    storage.write(file, "checkpoint", kept, arrays)
    with pytest.raises(ModelFileError, match=f"written by prssm.* {by}.*start anew") as caught:
        run([[0.0]], [1.0], 10, session=Session(Silent(), file, resume=True))
    assert "\n" not in str(caught.value)


def test_a_checkpoint_is_written_while_training(tmp_path: Path):
    file = tmp_path / "run.checkpoint"
    seen = []

    class Look(Silent):
        def update(self, done, figures):
            seen.append(file.exists())

    run([[0.0]], [1.0], 40, session=Session(Look(), file, checkpoint_seconds=0.0))
    assert seen == [False, True, True, True]


def test_equal_seeds_give_equal_runs_and_other_seeds_others():
    first, second, other = (run([[0.0]], [1.0], 20, seed=seed)[1].objective for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_nothing_is_compiled_again_when_only_data_or_seed_change():
    run([[0.0], [1.0]], [1.0], 30)
    before = len(TRACES)
    run([[0.5], [0.1]], [-3.0], 50, seed=7)
    assert len(TRACES) == before


def test_no_iterations_return_the_start():
    best, log = run([[0.25]], [1.0], 0)
    assert float(best["x"][0]) == 0.25
    assert log.objective.shape == (1, 0)
    assert "0 iterations" in log.summary()


def test_the_schedule_falls_along_a_cosine_and_brings_in_the_regulariser():
    with double_precision():
        plan = Schedule(100, 0.1, 0.01, ramp=50)
        rates = [float(plan.rate(jnp.asarray(i))) for i in (0, 50, 100)]
        weights = [float(plan.weight(jnp.asarray(i))) for i in (0, 24, 49, 99)]
        assert rates == pytest.approx([0.1, 0.055, 0.01])
        assert weights == pytest.approx([0.02, 0.5, 1.0, 1.0])
        # no warm-up: full weight at once
        assert float(Schedule(100, 0.1, 0.1).weight(jnp.asarray(0))) == 1.0


def test_the_regulariser_weight_reaches_the_objective_and_restarts_are_compared_at_full_weight():
    def pulled(parameters, data, key, weight):
        return -jnp.sum((parameters["x"] - data) ** 2) - weight * jnp.sum(parameters["x"] ** 2)

    with double_precision():
        args = ({"x": jnp.asarray([[0.0]])}, jnp.asarray([2.0]))
        rest = (jax.random.key(0), Session(Silent()), "test")
        warming, log = optimise(pulled, *args, Schedule(300, 0.05, 0.05, ramp=10**9), *rest)
        full, _ = optimise(pulled, *args, Schedule(300, 0.05, 0.001), *rest)
    # the regulariser has hardly begun
    assert float(warming["x"][0]) == pytest.approx(2.0, abs=0.05)
    assert float(full["x"][0]) == pytest.approx(1.0, abs=0.02)
    assert log.final[0] == pytest.approx(-((warming["x"][0] - 2.0) ** 2) - warming["x"][0] ** 2)


def test_a_steep_gradient_is_clipped():
    def cliff(parameters, data, key, weight):
        return -1e6 * jnp.sum(jnp.abs(parameters["x"] - data))

    with double_precision():
        moving, _ = optimise(
            cliff,
            {"x": jnp.zeros((1, 1))},
            jnp.ones(1),
            schedule=Schedule(1, 0.05, 0.05, clip=1e-6),
            key=jax.random.key(0),
            session=Session(Silent()),
            fingerprint="c",
        )
    # Adam's epsilon (1e-8) shows against a gradient of norm 1e-6, not of 1e6
    assert 0.04 < float(moving["x"][0]) < 0.0499
