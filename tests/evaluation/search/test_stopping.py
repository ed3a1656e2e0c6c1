"""The median rule, by hand and beside Optuna's."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from prssm.evaluation.search.stopping import CHECKS, Evidence, TrialStopped, bars_of, kind_of
from prssm.foundation.precision import double_precision
from prssm.training.legs import Phase, train
from prssm.training.optimise import Schedule, optimise
from prssm.training.session import Session

FIRST = 3


def trained(bars, values, rows=1, total=100):
    """The curve of a training that reports `values[done]`, or the check at which it was stopped."""
    evidence = Evidence(bars)
    evidence.begin_fit(rows)
    evidence.start(total, 0, "training")
    try:
        for done in range(10, total + 1, 10):
            evidence.update(done, {"best ELBO": values(done)})
    except TrialStopped as stop:
        return evidence.curve, str(stop)
    return evidence.curve, None


def test_bars_are_medians_less_a_margin_from_the_third_check_to_the_last_but_one():
    # the median of 10, 20, 40, 70 is 30
    curves = [[10.0 * k + check for check in range(CHECKS)] for k in (1, 2, 4, 7)]
    bars = bars_of(curves, margin=0.5)
    assert bars == (None, None, *(30.0 + check - 0.5 for check in range(2, 9)), None)


def test_too_few_finished_trials_have_no_median():
    curve = [0.0] * CHECKS
    assert set(bars_of([curve] * 3)) == {None}
    # of the four only three have a value at the sixth check
    short = [*([0.0] * 5), None, *([0.0] * 4)]
    assert [i for i, bar in enumerate(bars_of([curve] * 3 + [short])) if bar is not None] == [
        2,
        3,
        4,
        6,
        7,
        8,
    ]


def test_a_training_is_stopped_at_the_first_check_below_its_bar():
    bars = (None, None, *([-1.0] * 7), None)
    curve, reason = trained(bars, lambda done: -100.0 if done == 50 else -90.0, rows=100)
    assert curve == [-0.9] * 4 + [-1.0] + [-0.9] * 5  # as good as the bar is good enough
    assert reason is None
    curve, reason = trained(bars, lambda done: -100.5 if done == 50 else -90.0, rows=100)
    assert curve == [-0.9, -0.9, -0.9, -0.9, -1.005]
    assert reason.startswith("after 50% of training: ELBO -1.005 a step, below -1.000")


def test_a_curve_is_the_best_between_two_checks():
    evidence = Evidence()
    evidence.begin_fit(10)
    evidence.start(20, 0, "training")
    for done, value in enumerate([5.0, 3.0, -1.0, 2.0], start=1):
        evidence.update(done, {"bound": value})
    assert evidence.curve == [0.5, 0.2]


def test_what_is_not_a_number_is_stopped_where_there_is_a_bar():
    assert trained((None, None, -1.0), lambda done: float("nan"))[1] is not None
    assert trained((), lambda done: float("nan"))[1] is None


def test_methods_without_a_bound_are_never_stopped():
    evidence = Evidence((0.0,) * CHECKS)
    evidence.start(10, 0, "training")
    for done in range(10):
        evidence.update(done, {"log likelihood": -1e9})
    assert evidence.curve == []


def test_both_trainers_report_what_is_looked_for():
    """A parabola of height 3 for each of 4 rows: the curves of both end near 3, and a bar above
    that stops them.
    """
    start = {"x": jnp.array([0.2])}
    flat = ({"x": -np.inf}, {"x": np.inf})

    def by_adam(evidence):
        optimise(
            lambda p, data, key, weight: 12.0 - p["x"] ** 2,
            start,
            jnp.zeros(1),
            schedule=Schedule(100, 0.01, 0.01),
            key=jax.random.key(0),
            session=Session(evidence),
            fingerprint="id",
        )

    def in_legs(evidence):
        phases = [Phase(50, *flat)]
        train(
            lambda p, top: top - p["x"] ** 2,
            start,
            (jnp.asarray(12.0),),
            phases=phases,
            least_gain=0.0,
            session=Session(evidence),
            fingerprint="id",
        )

    for trainer in (by_adam, in_legs):
        evidence = Evidence()
        evidence.begin_fit(4)
        with double_precision():
            trainer(evidence)
        assert evidence.curve[-1] == pytest.approx(3.0, abs=0.01)
        evidence = Evidence((None, *([3.1] * 9)))
        evidence.begin_fit(4)
        with double_precision(), pytest.raises(TrialStopped):
            trainer(evidence)


def test_the_next_fold_begins_at_its_own_first_check():
    evidence = Evidence()
    for rows in (1, 2):
        evidence.begin_fit(rows)
        evidence.start(10, 0, "training")
        for done in range(1, 8):  # ends early
            evidence.update(done, {"best ELBO": 4.0})
    assert evidence.curve == [4.0] * CHECKS + [2.0] * 7


def test_only_trials_whose_bounds_mean_the_same_are_compared():
    same = {"horizon": 50, "latent_dim": 2}
    assert kind_of("prssm", same) == kind_of("prssm", same | {"latent_dim": 4})
    assert kind_of("prssm", same) != kind_of("prssm", same | {"horizon": 100})
    assert kind_of("prssm", same) != kind_of("revarb1", same)


def test_without_margin_the_rule_is_optunas_median_pruner():
    """On curves that rise (Optuna looks at the best so far), and for steps where medians exist."""
    optuna = pytest.importorskip("optuna")
    state = optuna.trial.TrialState
    rng = np.random.default_rng(3)
    curves = np.sort(rng.normal(size=(7, CHECKS)), axis=1)
    study = optuna.study.Study(
        "rule", _storage(optuna), pruner=optuna.pruners.MedianPruner(4, FIRST - 1)
    )
    for curve in curves:
        reports = dict(enumerate(curve))
        study.add_trial(
            optuna.trial.create_trial(state=state.COMPLETE, value=0.0, intermediate_values=reports)
        )
    bars = bars_of(curves.tolist(), margin=0.0, first=FIRST)
    decisions = []
    for values in np.sort(rng.normal(size=(40, CHECKS)), axis=1):
        asked = study.ask()
        for check, value in enumerate(values[:-1]):
            asked.report(value, check)
            if asked.should_prune():
                break
        else:
            check = None
        ours = next((i for i, bar in enumerate(bars) if bar is not None and values[i] < bar), None)
        assert ours == check
        decisions.append(ours is None)
        study.tell(asked, state=state.FAIL)
    assert 5 < sum(decisions) < 35


def _storage(optuna):
    storage = optuna.storages.InMemoryStorage()
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage.create_new_study([optuna.study.StudyDirection.MAXIMIZE], "rule")
    optuna.logging.set_verbosity(before)
    return storage
