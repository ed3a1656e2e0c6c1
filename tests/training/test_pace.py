"""Pieces of work under a budget, on a clock that only the work moves."""

import math

import pytest
from still_clock import Clock

from prssm.training import pace as module
from prssm.training.pace import Pace
from prssm.training.session import Session, Silent


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr("prssm.training.session.time", clock)
    return clock


def worked(clock: Clock, pace: Pace, costs: list[float], times: float = 1.0) -> int:
    done = 0
    for cost in pace.each(costs, times):
        clock.now += cost
        done += 1
    return done


def until(clock: Clock, seconds: float) -> Pace:
    return Pace(Session(Silent(), deadline=clock.now + seconds).seconds_left)


def test_without_a_budget_all_is_done(clock: Clock) -> None:
    assert worked(clock, Pace(Session(Silent()).seconds_left), [5.0] * 7) == 7


def test_a_piece_that_would_be_late_is_not_begun(clock: Clock) -> None:
    assert worked(clock, until(clock, 3.5), [1.0] * 7) == 3
    assert worked(clock, until(clock, 0.0), [1.0]) == 0
    assert worked(clock, until(clock, 1e-3), [1.0] * 2) == 1  # how long one takes is not known


def test_the_longest_piece_counts_and_others_are_so_many_times_as_long(clock: Clock) -> None:
    pace = until(clock, 10.0)
    assert worked(clock, pace, [2.0, 1.0]) == 2
    assert worked(clock, pace, [6.0, 6.0], times=3.0) == 1  # 7 seconds were left
    assert worked(clock, pace, [0.5]) == 0  # 1 is left, one took 2


@pytest.mark.parametrize(("seconds", "done"), [(7.5, 7), (6.5, 1), (0.5, 1), (0.0, 0)])
def test_a_work_whose_rest_would_be_late_is_given_up(
    clock: Clock, seconds: float, done: int
) -> None:
    found = 0
    for cost in until(clock, seconds).whole([1.0] * 7):
        clock.now += cost
        found += 1
    assert found == done


def test_a_whole_work_without_a_budget_is_done(clock: Clock) -> None:
    assert list(Pace(Session(Silent()).seconds_left).whole([1, 2, 3])) == [1, 2, 3]


def test_a_session_leaves_a_share_of_its_budget(clock: Clock) -> None:
    session = Session(Silent(), deadline=100.0)
    assert session.leaving(0.2).seconds_left() == pytest.approx(80.0)
    assert session.leaving(0.2, most=8.0).seconds_left() == pytest.approx(92.0)
    assert session.leaving(0.2, least=20.5) is session  # too little for what would follow
    assert session.leaving(0.2, least=19.5).seconds_left() == pytest.approx(80.0)
    clock.now = 50.0
    assert session.leaving(0.2).seconds_left() == pytest.approx(40.0)
    for endless in (Session(Silent()), Session(Silent(), deadline=math.inf)):
        assert endless.leaving(0.2) is endless
