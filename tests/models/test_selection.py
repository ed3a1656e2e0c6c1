"""The choice between levels of complexity."""

import numpy as np
import pytest

import prssm
from prssm.models.levels import groups_of, levels_of
from prssm.models.order_choice import first_good
from prssm.models.selection import HeldOut, mixed

SMALL = {"latent_dim": 2, "inducing": 8, "samples": 5, "batch": 4, "horizon": 30, "recognition_window": 8,
         "recognition_hidden": 4, "restarts": 2, "iterations": 400,
         "learning_rate": 0.05, "folds": 2, "fold_restarts": 1, "simulation_samples": 50}


def recording(length=200, bend=0.0, seed=0):
    """x+ = 0.8 x + 0.5 u + bend u^2: linear, or with a bend that no linear model can follow."""
    rng = np.random.default_rng(seed)
    u, x, y = rng.uniform(-1, 1, length), 0.0, np.empty(length)
    for t in range(length):
        y[t] = x + 0.02 * rng.normal()
        x = 0.8 * x + 0.5 * u[t] + bend * u[t] ** 2
    return prssm.Record(u, y, 0.1)


def test_every_level_is_trained_on_all_data_and_on_every_fold():
    groups = groups_of(levels_of("auto", 0.03), ["first", "second"], 8, 3)
    assert [(g.level.name, g.fold, g.count) for g in groups] == [
        ("linear", None, 2), ("linear", "first", 2), ("linear", "second", 2),
        ("held", None, 4), ("held", "first", 3), ("held", "second", 3),
        ("free", None, 8), ("free", "first", 3), ("free", "second", 3),
        ("correlated", None, 8), ("correlated", "first", 3), ("correlated", "second", 3)]
    covered = np.concatenate([np.arange(g.restarts.start, g.restarts.stop) for g in groups])
    np.testing.assert_array_equal(covered, np.arange(6 + 10 + 14 + 14))


@pytest.mark.parametrize(("errors", "chosen"), [([1.0, 0.9, 0.5], 2), ([1.0, 0.99, 0.985], 0), ([np.nan, 2.0, 1.0], 2),
                                                ([np.inf, 1.0, 1.01], 1), ([0.3, 0.3, 0.1], 2)])
def test_the_simplest_level_that_is_as_good_as_the_best_wins(errors, chosen):
    assert first_good(errors) == chosen


def test_scores_count_what_was_measured():
    held_out = HeldOut([np.array([[3.0], [np.nan]]), np.array([[-4.0]])], [np.array([[1.0], [1.0]]), np.array([[2.5]])])
    assert held_out.rmse == pytest.approx(np.sqrt(12.5))
    assert held_out.inside == 0.5


def test_a_run_that_is_lost_has_no_small_error():
    assert HeldOut([np.array([[0.1], [-np.inf]])], [np.ones((2, 1))]).rmse == np.inf


@pytest.fixture(scope="module")
def straight():
    return prssm.PRSSM(**SMALL).fit(recording())


def test_a_mixture_of_levels_errs_by_the_mean_and_its_variance_is_total():
    one = HeldOut([np.array([[1.0], [2.0]])], [np.array([[1.0], [1.0]])])
    two = HeldOut([np.array([[3.0], [-2.0]])], [np.array([[3.0], [1.0]])])
    both = mixed([one, two])
    np.testing.assert_allclose(both.errors[0], [[2.0], [0.0]])
    np.testing.assert_allclose(both.stds[0] ** 2, [[5.0 + 1.0], [1.0 + 4.0]])
    np.testing.assert_allclose(mixed([one]).stds[0], one.stds[0])


def test_a_linear_system_is_kept_linear_and_the_level_is_saved(straight, tmp_path):
    assert straight.level_ == "linear"
    assert straight.held_out_["linear"]["rmse"] < 0.2
    assert {"linear", "held", "free", "correlated", "held+free", "linear+held+correlated"} <= set(straight.held_out_)
    assert len(straight.held_out_) == 2**4 - 1  # every mixture of levels
    again = prssm.load(straight.save(tmp_path / "m.prssm"))
    assert (again.level_, again.held_out_) == (straight.level_, straight.held_out_)


def test_findings_say_what_was_decided(straight):
    told = dict(straight.findings())
    assert told["Complexity"].startswith("linear (error on held-out")
    assert "held+free" not in told["Complexity"]  # mixtures are told of only where one was chosen
    assert told["Mixture"] == "2 member(s)"
    assert told["Band"].startswith(f"{straight.calibration_.factor[0]:.2f} times")


def test_the_linear_level_keeps_its_mean_and_the_others_move(straight):
    """At the level 'linear' the prior is so strong that training moves nothing but noises."""
    weights = straight.mixture_.models.transition.mean.weight
    assert len(weights) == 2  # of orders one and two
    system = prssm.LinearSSM(order=1).fit(recording()).system_
    pole = np.linalg.eigvals(system.A)[0].real
    assert min(abs(weight[0, 0] - pole) for weight in weights) < 0.02


def test_a_bent_system_is_not_kept_linear(straight):
    model = prssm.PRSSM(**SMALL).fit(recording(bend=1.5))
    scores = model.held_out_
    assert model.level_ != "linear"
    assert min(scores["held"]["rmse"], scores["free"]["rmse"]) < 0.9 * scores["linear"]["rmse"]
