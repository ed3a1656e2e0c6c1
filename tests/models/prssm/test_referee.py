"""Who goes on in the race between levels."""

from types import SimpleNamespace
from typing import ClassVar

import numpy as np

from prssm.models.prssm.fitting.groups import Group
from prssm.models.prssm.fitting.referee import Referee
from prssm.models.prssm.levels import LEVELS
from prssm.models.prssm.trained import HeldOut, Stage, Trained
from prssm.training.race import Standing


class Told(Trained):
    """Held-out errors as a test says, for each level and round."""

    errors: ClassVar[dict] = {}

    def held_out(self, level, number):
        error = np.full((4, 1), self.errors[level.name, number])
        return HeldOut([error], [np.ones((4, 1))])


def referee(errors, racers_of=("held", "free")):
    """Three final restarts and three on a fold of two levels; the linear level does not race."""
    fold = SimpleNamespace(held_out_records=[])
    groups = [
        Group(LEVELS["linear"], None, np.array([0])),
        Group(LEVELS["linear"], fold, np.array([1])),
    ]
    end = 2
    for name in racers_of:
        for part in (None, fold):
            groups.append(Group(LEVELS[name], part, np.arange(end, end + 3)))
            end += 3
    trained = Told(
        None, groups, most_members=2, margin=np.inf, window=8, draws="step", engine="auto", seed=0
    )
    trained.errors.clear()
    trained.errors.update(errors)
    trained.add(Stage(np.zeros((end, 1)), np.zeros(end)), np.zeros(0, dtype=int))
    return Referee(trained, np.arange(2, end))


def standing(rounds, lost=()):
    """Restart i of the race has the objective i."""
    objective = np.tile(np.arange(12.0), (rounds, 1))
    objective[:, list(lost)] = np.nan
    return Standing(np.zeros((rounds, 12, 1)), objective, np.ones((rounds, 12), dtype=bool))


def test_a_level_that_errs_much_more_than_the_best_is_not_trained_further():
    judge = referee({("linear", 0): 0.9, ("held", 1): 0.8, ("free", 1): 0.3})
    # Of the free level all on all data, and the two best of its fold.
    assert judge(standing(1)).tolist() == [6, 7, 8, 10, 11]
    near = referee({("linear", 0): 0.9, ("held", 1): 0.35, ("free", 1): 0.3})
    assert near(standing(1)).tolist() == [0, 1, 2, 4, 5, 6, 7, 8, 10, 11]


def test_lost_restarts_do_not_go_on():
    judge = referee({("linear", 0): 0.9, ("held", 1): 0.8, ("free", 1): 0.3})
    assert judge(standing(1, lost=(8, 11))).tolist() == [6, 7, 9, 10]


def test_the_race_ends_where_more_training_does_not_pay():
    worse = {("linear", 0): 0.9, ("held", 1): 0.8, ("held", 2): 0.8, ("free", 1): 0.3}
    assert len(referee(worse | {("free", 2): 0.31})(standing(2))) == 0
    assert len(referee(worse | {("free", 2): 0.29})(standing(2))) == 5
    linear = {("linear", 0): 0.1, ("held", 1): 0.8, ("free", 1): 0.3}
    assert len(referee(linear)(standing(1))) == 0


def test_a_referee_that_comes_late_knows_the_rounds_before():
    errors = {("linear", 0): 0.9, ("held", 1): 0.8, ("held", 2): 0.8}
    errors |= {("free", 1): 0.3, ("free", 2): 0.2}
    early = referee(errors)
    early(standing(1))
    late = referee(errors)
    np.testing.assert_array_equal(early(standing(2)), late(standing(2)))
    assert len(late.trained.stages) == 3


def test_where_time_is_short_whole_levels_stay_with_one_restart_of_each_group():
    """Of two levels, three restarts on all data and three on a fold."""
    judge = referee({}, racers_of=("held", "free"))
    assert judge.fewer(0).tolist() == judge.fewer(3).tolist() == [0, 3]
    assert judge.fewer(4).tolist() == judge.fewer(5).tolist() == [0, 3, 6, 9]
    assert judge.fewer(8).tolist() == [0, 1, 3, 4, 6, 7, 9, 10]
    assert judge.fewer(12).tolist() == list(range(12))


def test_a_level_that_was_left_out_is_no_candidate():
    judge = referee({("linear", 0): 0.9, ("held", 1): 0.8})
    few = standing(1, lost=[*range(1, 3), *range(4, 12)])
    active = np.isin(np.arange(12), [0, 3])[None]
    assert judge(few._replace(active=active)).tolist() == [0, 3]
