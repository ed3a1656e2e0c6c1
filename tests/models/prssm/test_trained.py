"""Trained restarts and how they are judged: errors on held-out stretches, runs over records."""

from types import SimpleNamespace

import numpy as np
import pytest

from prssm.data.record import Record
from prssm.models.prssm import trained
from prssm.models.prssm.fitting.groups import Group
from prssm.models.prssm.levels import LEVELS
from prssm.models.prssm.trained import HeldOut, Trained, _stays, mixed
from prssm.models.simulated import Simulated


def recording(length: int) -> Record:
    rng = np.random.default_rng(0)
    return Record(rng.normal(size=length), rng.normal(size=length))


def test_one_stretch_does_not_decide_alone():
    """Errors 1, 1 and 8 are typically 2, errors 3, 3, 3 typically 3, though the root mean square
    says the opposite.
    """
    worse_once = HeldOut([np.full((5, 1), error) for error in (1.0, -1.0, 8.0)], [])
    even = HeldOut([np.full((5, 1), 3.0)] * 3 + [np.full((2, 1), np.nan)], [])
    assert worse_once.typical == pytest.approx(2.0)
    assert even.typical == pytest.approx(3.0)
    assert worse_once.rmse > even.rmse
    assert HeldOut([], []).typical == np.inf


def test_scores_count_what_was_measured():
    held_out = HeldOut(
        [np.array([[3.0], [np.nan]]), np.array([[-4.0]])],
        [np.array([[1.0], [1.0]]), np.array([[2.5]])],
    )
    assert held_out.rmse == pytest.approx(np.sqrt(12.5))
    assert held_out.inside == 0.5


def test_a_run_that_is_lost_has_no_small_error():
    lost = HeldOut(
        [np.array([[0.1], [-np.inf]]), np.zeros((3, 1))], [np.ones((2, 1)), np.ones((3, 1))]
    )
    assert (lost.rmse, lost.typical) == (np.inf, np.inf)


def test_a_mixture_of_levels_errs_by_the_mean_and_its_variance_is_total():
    one = HeldOut([np.array([[1.0], [2.0]])], [np.array([[1.0], [1.0]])])
    two = HeldOut([np.array([[3.0], [-2.0]])], [np.array([[3.0], [1.0]])])
    both = mixed([one, two])
    np.testing.assert_allclose(both.errors[0], [[2.0], [0.0]])
    np.testing.assert_allclose(both.stds[0] ** 2, [[5.0 + 1.0], [1.0 + 4.0]])
    np.testing.assert_allclose(mixed([one]).stds[0], one.stds[0])


class Still(Trained):
    """One restart a fold, whose run is zero."""

    def members(self, group, number):
        return group.restarts[:1]

    def mixture(self, number, members):
        def run(u, y, count, seed, quick):
            return Simulated(np.zeros((len(u), 1)), np.ones((len(u), 1)))

        return SimpleNamespace(run=run)


def still(groups):
    return Still(
        None, groups, most_members=1, margin=0.1, window=8, draws="step", engine="auto", seed=0
    )


def test_of_long_held_out_stretches_only_the_beginning_is_run(monkeypatch):
    monkeypatch.setattr(trained, "_STRETCH", 70)
    fold = SimpleNamespace(held_out_records=[recording(100), recording(50)])
    level = LEVELS["linear"]
    groups = [Group(level, None, np.array([0])), Group(level, fold, np.array([1]))]
    errors = still(groups).held_out(level, 0).errors
    np.testing.assert_array_equal(errors[0], recording(100).y[:70])
    np.testing.assert_array_equal(errors[1], recording(50).y)


def test_a_final_model_that_runs_away_from_its_training_data_is_no_candidate():
    """Errors of exactly the limit stay; missing values say nothing; a run that is not finite has
    run away.
    """
    y = np.array([[1.0, np.nan], [-1.0, np.nan], [np.nan, np.nan]])
    limit = np.array([2.0, 0.5])
    assert _stays(y, np.where(np.isnan(y), 5.0, y - 2.0), limit)
    assert not _stays(y, np.where(np.isnan(y), 5.0, y - 2.1), limit)
    assert not _stays(y, np.full((3, 2), np.nan), limit)
    assert not _stays(y, np.full((3, 2), 1e200), limit)
