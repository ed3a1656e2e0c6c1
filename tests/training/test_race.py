"""A race of restarts whose trainer is a closed form: an iteration adds its step size."""

import time

import numpy as np
import pytest

from prssm.foundation.errors import TrainingError, TrainingInterrupted
from prssm.training.race import CHUNK, Moving, Round, race
from prssm.training.schedule import Schedule
from prssm.training.session import Session, Silent


class Counting:
    """Adds one at each iteration; restart r's objective is minus the distance from 10 r."""

    def __init__(self, lose=None, stop_at=None):
        self.lose = lose
        self.stop_at = stop_at
        self.calls = []

    def advance(self, moving, chosen, schedule, *, first, drawn, steps):
        if self.stop_at is not None and drawn >= self.stop_at:
            raise KeyboardInterrupt
        self.calls.append((chosen.tolist(), first, drawn, steps))
        trained = moving.of(chosen)
        trained.theta[:] += steps
        values = -np.abs(trained.theta[:, 0] - 10.0 * chosen)
        if self.lose in chosen:
            trained.alive_until[chosen == self.lose] = drawn
            values[chosen == self.lose] = np.nan
        return trained, values


def run(trainer, rounds=(25, 30), referee=lambda standing: np.array([2]), session=None):
    return race(
        np.zeros((4, 1)),
        [Round(trainer, Schedule(count, 0.1, 0.01)) for count in rounds],
        referee=referee,
        session=session or Session(Silent()),
        fingerprint="a",
    )


def test_losers_stop_and_winners_go_on_with_a_schedule_of_their_own():
    trainer = Counting()
    standing, log = run(trainer)
    np.testing.assert_array_equal(standing.theta[:, :, 0], [[25] * 4, [25, 25, 55, 25]])
    np.testing.assert_array_equal(standing.active, [[True] * 4, [False, False, True, False]])
    everybody, alone = [0, 1, 2, 3], [2]
    assert trainer.calls == [
        (everybody, 0, 0, CHUNK), (everybody, 10, 10, CHUNK), (everybody, 20, 20, 5),
        (alone, 0, 25, CHUNK), (alone, 10, 35, CHUNK), (alone, 20, 45, CHUNK),
    ]  # fmt: skip
    assert log.kept == int(np.argmax(standing.objective[-1]))
    assert log.iteration.tolist() == [10, 20, 25, 35, 45, 55]
    assert np.isnan(log.objective[0][3:]).all()


def test_the_objective_of_a_round_is_the_mean_of_its_last_chunks():
    standing, _ = run(Counting(), rounds=(80,))
    expected = -np.abs(np.mean([40, 50, 60, 70, 80]) - 0.0)
    assert standing.objective[0, 0] == pytest.approx(expected)


def test_a_race_that_nobody_goes_on_with_is_over():
    trainer = Counting()
    standing, _ = run(trainer, referee=lambda standing: np.zeros(0, dtype=int))
    assert len(standing.theta) == 1
    assert len(trainer.calls) == 3


def test_without_iterations_all_starts_are_as_they_were_and_none_is_lost():
    trainer = Counting()
    standing, log = run(trainer, rounds=(0, 0), referee=lambda standing: np.arange(4))
    assert trainer.calls == []
    np.testing.assert_array_equal(standing.theta, np.zeros((2, 4, 1)))
    np.testing.assert_array_equal(standing.objective, np.zeros((2, 4)))
    assert log.diverged == 0


def test_a_lost_restart_is_not_trained_further_and_has_no_objective():
    trainer = Counting(lose=1)
    standing, log = run(trainer, rounds=(25,))
    assert trainer.calls[1][0] == [0, 2, 3]
    assert np.isnan(standing.objective[0, 1])
    assert log.outcomes[1] == "diverged at iteration 0"
    assert log.diverged == 1


def test_where_all_are_lost_the_user_is_told_what_to_try():
    class Hopeless(Counting):
        def advance(self, moving, chosen, schedule, *, first, drawn, steps):
            trained = moving.of(chosen)
            trained.alive_until[:] = 7
            return trained, np.full(len(chosen), np.nan)

    with pytest.raises(
        TrainingError, match="all 4 restarts diverged, the last at iteration 7; try"
    ):
        run(Hopeless())


@pytest.mark.parametrize("stop_at", [10, 25, 45])
def test_a_resumed_race_is_the_same_race(stop_at, tmp_path):
    whole, log = run(Counting())
    asked = Session(Silent(), tmp_path / "c")
    with pytest.raises(TrainingInterrupted, match=f"iteration {stop_at} of 55; resume from"):
        run(Counting(stop_at=stop_at), session=asked)
    resumed = Counting()
    again, log_again = run(resumed, session=Session(Silent(), tmp_path / "c", resume=True))
    assert resumed.calls[0][2] == stop_at
    for one, other in zip(whole, again, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(log.objective, log_again.objective)


def test_a_budget_shortens_the_rounds():
    """An iteration of some milliseconds, and a budget for a part of them."""

    class Slow(Counting):
        def advance(self, moving, chosen, schedule, **rest):
            time.sleep(0.002 * rest["steps"])
            return super().advance(moving, chosen, schedule, **rest)

    trainer = Slow()
    session = Session(Silent(), deadline=time.monotonic() + 0.5)
    run(trainer, rounds=(1000, 1000), session=session)
    iterations = sum(steps for *_, steps in trainer.calls)
    assert 100 <= iterations <= 250


def test_a_round_may_go_on_with_the_schedule_of_the_one_before():
    """Two parts of one schedule: the number of the iteration goes on, and so does the optimiser."""

    class Watching(Counting):
        def advance(self, moving, chosen, schedule, **rest):
            assert schedule.iterations == 60
            assert (moving.updates[chosen] == rest["first"]).all()
            trained, values = super().advance(moving, chosen, schedule, **rest)
            trained.updates[:] += rest["steps"]
            return trained, values

    trainer = Watching()
    whole = Schedule(60, 0.1, 0.01)
    race(
        np.zeros((4, 1)),
        [Round(trainer, whole, end=0.5), Round(trainer, whole, begin=0.5, fresh=False)],
        referee=lambda standing: np.array([1, 2]),
        session=Session(Silent()),
        fingerprint="a",
    )
    assert [first for _, first, _, _ in trainer.calls] == [0, 10, 20, 30, 40, 50]


def test_moments_begin_anew_in_every_round():
    class Remembering(Counting):
        def advance(self, moving, chosen, schedule, *, first, drawn, steps):
            if first == 0:
                assert not moving.first_moment.any()
                assert not moving.updates.any()
            trained, values = super().advance(
                moving, chosen, schedule, first=first, drawn=drawn, steps=steps
            )
            trained.first_moment[:] = 1.0
            trained.updates[:] += steps
            return trained, values

    run(Remembering())


def test_a_copy_of_some_restarts_leaves_the_others_alone():
    moving = Moving.begin(np.arange(6.0).reshape(3, 2))
    part = moving.of(np.array([2]))
    part.theta[:] = -1.0
    np.testing.assert_array_equal(moving.theta[2], [4.0, 5.0])
