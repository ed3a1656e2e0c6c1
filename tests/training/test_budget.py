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

    first_times = 1.0  # by which the very first call takes longer

    def __init__(self, clock: Clock, cost: float) -> None:
        self.clock = clock
        self.cost = cost
        self.iterations: dict[int, int] = {}

    def advance(self, moving, chosen, schedule, *, first, drawn, steps):
        slow = self.first_times if drawn == 0 else 1.0
        self.clock.now += slow * self.cost * len(chosen) * steps
        self.iterations[len(chosen)] = self.iterations.get(len(chosen), 0) + steps
        return moving.of(chosen), np.zeros(len(chosen))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("prssm.training.race.time", clock)
    monkeypatch.setattr("prssm.training.session.time", clock)
    return clock


def run(clock: Clock, cost: float, budget: float, going_on: int = RESTARTS // 2) -> Working:
    trainer = Working(clock, cost)

    def referee(standing):
        clock.now += 0.02 * budget
        return np.arange(going_on)

    race(
        np.zeros((RESTARTS, 1)),
        [Round(trainer, Schedule(iterations, 0.1, 0.1)) for iterations in ROUNDS],
        referee=referee,
        session=Session(Silent(), deadline=budget),
        fingerprint="",
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
    trainer = run(clock, 0.01, budget=0.1)
    assert set(trainer.iterations.values()) == {50}
