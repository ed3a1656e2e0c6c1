"""A race with a budget of time, on a clock that only its trainer and its referee move."""

import numpy as np
import pytest
from still_clock import Clock

from prssm.training.race import Round, race
from prssm.training.schedule import Schedule
from prssm.training.session import Session, Silent

RESTARTS = 20
ROUNDS = (500, 1500)


class Working:
    """Takes `cost` seconds for an iteration of a restart, and notes how many each round had."""

    first_times = 1.0  # by which the very first iteration takes longer

    def __init__(self, clock: Clock, cost: float) -> None:
        self.clock = clock
        self.cost = cost
        self.iterations: dict[int, int] = {}

    def advance(self, moving, chosen, schedule, *, first, drawn, steps):
        times = steps + (self.first_times - 1.0 if drawn == 0 else 0.0)
        self.clock.now += self.cost * len(chosen) * times
        self.iterations[len(chosen)] = self.iterations.get(len(chosen), 0) + steps
        return moving.of(chosen), np.zeros(len(chosen))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("prssm.training.race.time", clock)
    monkeypatch.setattr("prssm.training.session.time", clock)
    return clock


def run(
    clock: Clock,
    cost: float,
    budget: float,
    going_on: int = RESTARTS // 2,
    judged: float = 0.02,
    **more,
) -> Working:
    """`judged` is the share of the budget that the referee takes."""
    trainer = Working(clock, cost)

    def referee(standing):
        clock.now += judged * budget
        return np.arange(going_on)

    trainer.standing, trainer.log = race(
        np.zeros((RESTARTS, 1)),
        [Round(trainer, Schedule(iterations, 0.1, 0.1)) for iterations in ROUNDS],
        referee=referee,
        session=Session(Silent(), deadline=budget),
        fingerprint="",
        **more,
    )
    return trainer


@pytest.mark.parametrize("cost", [0.0006, 0.001, 0.002, 0.004])
@pytest.mark.parametrize("going_on", [4, RESTARTS // 2])
def test_a_budget_is_used_and_kept(clock: Clock, cost: float, going_on: int) -> None:
    """All that was planned would take longer."""
    run(clock, cost, budget=10.0, going_on=going_on)
    assert 7.5 <= clock.now <= 10.0


def test_a_slow_first_call_does_not_decide(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Working, "first_times", 3.0)
    run(clock, 0.002, budget=10.0)
    assert 9.0 <= clock.now <= 10.0


def test_what_came_before_the_training_counts(clock: Clock) -> None:
    clock.now = 6.0
    run(clock, 0.001, budget=10.0)
    assert 9.0 <= clock.now <= 10.0


def test_the_first_round_has_the_first_claim(clock: Clock) -> None:
    """All of its iterations, where these take no more than its share; the rest is for the best."""
    trainer = run(clock, 0.0006, budget=10.0)
    assert trainer.iterations[RESTARTS] == ROUNDS[0]
    assert 0 < trainer.iterations[RESTARTS // 2] < ROUNDS[1]


def test_a_large_budget_changes_nothing(clock: Clock) -> None:
    trainer = run(clock, 0.0006, budget=1000.0)
    assert trainer.iterations == {RESTARTS: ROUNDS[0], RESTARTS // 2: ROUNDS[1]}


def test_however_small_the_budget_something_is_trained(clock: Clock) -> None:
    """Some iterations; then the time is over, and with it the race."""
    trainer = run(clock, 0.01, budget=0.1)
    assert trainer.iterations == {RESTARTS: 10}


def some(count: int) -> np.ndarray:
    """Whole fours of the restarts, one of them at least."""
    return np.arange(max(4 * (count // 4), 4))


def test_where_all_would_be_trained_too_little_fewer_are(clock: Clock) -> None:
    """Fifty iterations of all take 50 seconds, and a first round has six."""
    trainer = run(clock, 0.05, budget=10.0, going_on=2, fewer=some)
    assert trainer.iterations[RESTARTS] == 2  # they tell what one takes
    assert trainer.iterations[4] >= 15
    assert clock.now <= 10.5
    np.testing.assert_array_equal(trainer.standing.active[0], np.arange(RESTARTS) < 4)


def test_those_left_out_are_no_diverged_ones(clock: Clock) -> None:
    trainer = run(clock, 0.05, budget=10.0, going_on=2, fewer=some)
    log = trainer.log
    assert log.left_out == RESTARTS - 4
    assert log.diverged == 0
    assert "iterations of 4 restart(s)" in log.summary()
    assert log.summary().endswith("; for 16 more there was no time")


def test_nobody_is_left_out_who_can_be_trained(clock: Clock) -> None:
    trainer = run(clock, 0.004, budget=10.0, fewer=some)
    assert trainer.log.left_out == 0
    assert trainer.iterations[RESTARTS] > 50
    run(clock, 1.0, budget=1e6, fewer=some)


def test_a_slow_first_iteration_leaves_nobody_out(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Working, "first_times", 30.0)
    assert run(clock, 0.002, budget=10.0, fewer=some).log.left_out == 0


def test_an_iteration_that_takes_long_is_not_followed_by_nine_more(clock: Clock) -> None:
    """One of all takes two seconds."""
    run(clock, 0.1, budget=30.0, judged=0.0)
    assert clock.now <= 30.0


def test_the_last_round_leaves_time_for_a_choice_like_the_one_before(clock: Clock) -> None:
    run(clock, 0.0006, budget=10.0, judged=0.15)
    assert 7.5 <= clock.now <= 8.5


def test_a_choice_that_is_expected_to_take_long_shortens_the_first_round(clock: Clock) -> None:
    long = run(clock, 0.002, budget=10.0, judged=0.2, judging=2.0).iterations[RESTARTS]
    clock.now = 0.0
    assert run(clock, 0.002, budget=10.0, judged=0.2).iterations[RESTARTS] > 1.5 * long


def test_no_second_round_where_only_the_last_choice_has_time(clock: Clock) -> None:
    trainer = run(clock, 0.002, budget=10.0, judged=0.4)
    assert set(trainer.iterations) == {RESTARTS}
