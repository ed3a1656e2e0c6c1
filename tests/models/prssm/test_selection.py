"""The choice between levels of complexity."""

from dataclasses import fields, replace
from typing import ClassVar

import equinox as eqx
import numpy as np
import pytest
from scipy.signal import lfilter

import prssm
from prssm.export.describing import describe
from prssm.foundation.errors import TrainingError
from prssm.linear.held_out import as_good, first_good
from prssm.models.prssm import estimator, selection
from prssm.models.prssm.band.calibration import Calibration
from prssm.models.prssm.config import DEFAULT
from prssm.models.prssm.fitting import fit as fitting
from prssm.models.prssm.fitting.groups import groups_of
from prssm.models.prssm.levels import AUTO, LEVELS, NETWORK, levels_of
from prssm.models.prssm.mixture import Mixture
from prssm.models.prssm.selection import NEAR, best_rounds, choose
from prssm.models.prssm.starts.start import Starts
from prssm.models.prssm.trained import Candidate, HeldOut, Trained, mixed

pytestmark = pytest.mark.usefixtures("quick_module")  # filters are tested elsewhere

SMALL = {
    "latent_dim": 2,
    "inducing": 8,
    "samples": 5,
    "batch": 4,
    "horizon": 30,
    "recognition_window": 8,
    "recognition_hidden": 4,
    "restarts": 2,
    "iterations": 400,
    "learning_rate": 0.05,
    "folds": 2,
    "fold_restarts": 1,
    "simulation_samples": 50,
    "neurons": 0,  # the levels alone
}


def recording(length=200, bend=0.0, seed=0):
    """x+ = 0.8 x + 0.5 u + bend u^2: linear, or with a bend that no linear model can follow."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(-1, 1, length)
    x = 0.0
    y = np.empty(length)
    for t in range(length):
        y[t] = x + 0.02 * rng.normal()
        x = 0.8 * x + 0.5 * u[t] + bend * u[t] ** 2
    return prssm.Record(u, y, 0.1)


def test_every_level_has_restarts_on_all_data_and_on_every_fold():
    config = DEFAULT.replace(restarts=8, fold_restarts=3)
    groups = groups_of(
        levels_of(AUTO), ["first", "second"], Starts(config.resolved([recording()]), [recording()])
    )
    counts = {"linear": (1, 1), "held": (2, 1), "held-correlated": (2, 1)}
    counts |= {"free": (8, 3), "correlated": (8, 3)}
    expected = [
        (level, fold, counts[level][fold is not None])
        for level in counts
        for fold in (None, "first", "second")
    ]
    assert [(g.level.name, g.fold, g.count) for g in groups] == expected
    covered = np.concatenate([g.restarts for g in groups])
    np.testing.assert_array_equal(covered, np.arange(3 + 4 + 4 + 14 + 14))


@pytest.mark.parametrize(
    ("errors", "chosen"),
    [
        ([1.0, 0.9, 0.5], 2),
        ([1.0, 0.99, 0.985], 0),
        ([np.nan, 2.0, 1.0], 2),
        ([np.inf, 1.0, 1.01], 1),
        ([0.3, 0.3, 0.1], 2),
    ],
)
def test_the_simplest_level_that_is_as_good_as_the_best_wins(errors, chosen):
    assert first_good(errors) == chosen


@pytest.mark.parametrize(
    ("errors", "chosen"),
    [
        ([1.0, 0.9, 0.5], [2]),
        ([0.52, 0.6, 0.5], [0, 2]),
        ([np.inf, 2.0], [1]),
        ([np.inf, np.inf], []),
        ([0.0, 5e-5, 1e-3], [0, 1]),
    ],
)
def test_levels_as_good_as_the_best_are_mixed(errors, chosen):
    assert as_good(errors, NEAR) == chosen


@pytest.fixture(scope="module")
def straight():
    return prssm.PRSSM(**SMALL).fit(recording())


def test_of_a_linear_system_the_linear_level_is_kept_and_the_level_is_saved(straight, tmp_path):
    assert straight.level_ == "linear"
    assert straight.held_out_["linear"]["rmse"] < 0.2
    levels = list(LEVELS)
    assert set(straight.held_out_) == set(levels)
    errors = [straight.held_out_[level]["typical"] for level in levels]
    assert errors[0] == min(errors)
    assert len(as_good(errors, NEAR)) > 1  # others are as good: it is kept alone
    again = prssm.load(straight.save(tmp_path / "m.prssm"))
    assert (again.level_, again.held_out_) == (straight.level_, straight.held_out_)


def test_findings_say_what_was_decided(straight):
    told = dict(straight.findings())
    assert told["Complexity"].startswith(f"{straight.level_} (error on held-out")
    assert told["Mixture"] == f"{len(straight.mixture_.models.log_output_std)} member(s)"
    assert told["Band"].startswith(f"{straight.calibration_.factor[0]:.2f} times")


@pytest.mark.parametrize(
    ("names", "share"),
    [(["linear"], 0.0), (["free"], 0.3), (["linear", "free"], 0.3), (["network"], 0.8)],
)
def test_the_final_models_own_errors_narrow_the_band_of_what_learns_much(straight, names, share):
    """The linear level loses little by fewer data: its band is that of the folds' models.

    Networks lose most. A mixture is judged by the level that loses most.
    """
    trained = straight.restarts_
    found = {one.level.name: one for one in best_rounds(trained.candidates())}
    found["network"] = found["free"]._replace(level=NETWORK)
    some = [found[name] for name in names]
    mixture = trained.mixture(
        found["free"].round, trained.final(LEVELS["free"], found["free"].round)
    )
    held_out = mixed([one.held_out for one in some])
    held = Calibration.fit(*held_out).factor
    seen = Calibration.fit(*trained.seen(mixture)).factor
    assert seen[0] != pytest.approx(held[0], rel=1e-3)
    long = Calibration.fit(*trained.over_records(mixture)).factor
    expected = np.maximum(1.05 * held ** (1.0 - share) * seen**share, long)
    wider = Calibration.none(1).for_few(held_out.errors).factor
    band = selection.usual_calibration(trained, some, mixture).factor
    np.testing.assert_allclose(band, wider * expected, rtol=1e-12)


def test_a_band_is_not_narrower_than_runs_over_whole_records_ask_for(straight, monkeypatch):
    """As of an integrator, which errs the more the longer it runs."""
    trained = straight.restarts_
    one = best_rounds(trained.candidates())[0]
    mixture = trained.mixture(one.round, trained.final(one.level, one.round))
    before = selection.usual_calibration(trained, [one], mixture).factor
    errors, stds = trained.over_records(mixture)
    assert [len(error) for error in errors] == [len(record) for record in trained.records]
    astray = HeldOut([10.0 * error for error in errors], stds)
    monkeypatch.setattr(Trained, "over_records", lambda *_: astray)
    after = selection.usual_calibration(trained, [one], mixture).factor
    asked = Calibration.fit(errors, stds).for_few(one.held_out.errors)
    assert after[0] == pytest.approx(10.0 * asked.factor[0])
    assert after[0] > before[0]


def test_the_linear_level_is_the_linear_model_itself():
    """Nothing is trained: its free run is that of the identified system, whose band it widens."""
    options = {"complexity": "linear", "folds": 0, "linear_order": 1, "stride": 1}
    model = prssm.PRSSM(**SMALL | options).fit(recording())
    system = prssm.LinearSSM(order=1, stride=1).fit(recording()).system_
    weight = model.mixture_.models.transition.mean.weight[0]
    assert weight[0, 0] == pytest.approx(np.linalg.eigvals(system.A)[0].real, abs=1e-6)
    assert len(model.training_.outcomes) == 0
    assert "nothing was trained" in model.training_.summary()


def test_the_linear_level_is_as_sure_as_its_sensor_allows_and_what_is_trained_is_not():
    """x+ = 0.9 x + u with noise of 0.3 % of the output's deviation, known to a few per cent."""
    rng = np.random.default_rng(3)
    u = rng.normal(size=600)
    x = lfilter([0.0, 1.0], [1.0, -0.9], u)
    noise = 0.003 * x.std()
    data = prssm.Record(u, x + noise * rng.normal(size=600))
    options = {"folds": 0, "linear_order": 1, "stride": 1}
    sure = prssm.PRSSM(**SMALL | options | {"complexity": "linear"}).fit(data)
    error = noise / np.sqrt(2 * 600)  # of a deviation from 600 values
    std = sure.simulate(data).std[100:]
    assert np.abs(std - noise).max() < 4.0 * error + 0.02 * noise
    starts = Starts(sure.config_, [sure.scaler_.scale(data)])
    learns = starts.create(LEVELS["held"], 1)
    np.testing.assert_allclose(np.exp(learns.log_output_std), 0.02)


def test_a_bent_system_is_not_kept_linear(straight):
    model = prssm.PRSSM(**SMALL).fit(recording(bend=1.5))
    scores = model.held_out_
    assert model.level_ != "linear"
    assert min(scores["held"]["rmse"], scores["free"]["rmse"]) < 0.9 * scores["linear"]["rmse"]


def test_held_near_its_start_a_model_still_learns_that_its_noise_is_correlated():
    """Noise with lag-one correlation r = 0.8, which n samples tell with standard error sqrt((1 -
    r^2) / n).
    """
    rng = np.random.default_rng(3)
    length = 400
    u = rng.uniform(-1, 1, length)
    clean = np.zeros(length)
    noise = np.zeros(length)
    for t in range(1, length):
        clean[t] = 0.7 * clean[t - 1] + 0.5 * u[t - 1]
        noise[t] = 0.8 * noise[t - 1] + 0.12 * rng.normal()
    quiet = {
        "complexity": "held-correlated",
        "folds": 0,
        "latent_dim": 1,
        "learning_rate": 0.02,
        "iterations": 1000,
    }
    model = prssm.PRSSM(**SMALL | quiet).fit(prssm.Record(u, clean + noise))
    assert model.level_ == "held-correlated"
    correlation = np.asarray(model.mixture_.models.correlation)[0, 0]
    assert abs(correlation - 0.8) < 4.0 * np.sqrt((1.0 - 0.8**2) / length)
    assert abs(model.mixture_.models.transition.mean.weight[0, 0, 0] - 0.7) < 0.1


# ---- rounds ----


def held_out(error):
    return HeldOut([np.full((4, 1), error)], [np.ones((4, 1))])


def test_of_a_level_the_last_round_is_kept_unless_an_earlier_one_did_much_better():
    free = LEVELS["free"]
    first = Candidate(free, 1, held_out(0.5))
    assert best_rounds([first, Candidate(free, 2, held_out(0.58))])[0].round == 1
    assert best_rounds([first, Candidate(free, 2, held_out(0.57))])[0].round == 2
    assert best_rounds([first, Candidate(free, 2, held_out(0.4))])[0].round == 2
    nothing = HeldOut([], [])
    assert best_rounds([Candidate(free, 1, nothing), Candidate(free, 2, nothing)])[0].round == 2


class Runaway(Trained):
    """All final models of some levels leave the data; folds know nothing of it."""

    lost = ("linear",)

    def mixture_of(self, parts):
        mixture = super().mixture_of(parts)
        final = [
            group.restarts
            for group in self.groups
            if group.level.name in self.lost and group.fold is None
        ]
        members = np.concatenate([part.members for part in parts])
        if any(np.isin(members, restarts).all() for restarts in final):
            mean = mixture.models.transition.mean
            mixture = eqx.tree_at(
                lambda m: m.models.transition.mean.bias, mixture, mean.bias + 100.0
            )
        return mixture


def test_the_best_level_on_held_out_stretches_is_not_chosen_if_its_final_models_run_away(
    monkeypatch,
):
    monkeypatch.setattr(fitting, "Trained", Runaway)
    model = prssm.PRSSM(**SMALL | {"iterations": 100}).fit(recording())
    assert model.held_out_["linear"]["typical"] == min(
        score["typical"] for score in model.held_out_.values()
    )
    assert "linear" not in model.level_.split("+")
    assert model.steady_
    assert "Warning" not in dict(model.findings())


def test_where_all_models_run_away_held_out_errors_decide_and_the_user_is_warned(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(Runaway, "lost", list(LEVELS))
    monkeypatch.setattr(fitting, "Trained", Runaway)
    model = prssm.PRSSM(**SMALL | {"iterations": 20}).fit(recording())
    errors = [model.held_out_[level]["typical"] for level in Runaway.lost]
    assert model.level_.split("+") == [Runaway.lost[index] for index in as_good(errors, NEAR)]
    again = prssm.load(model.save(tmp_path / "m.prssm"))
    for fitted in (model, again):
        assert "longer horizon" in dict(fitted.findings())["Warning"]


@pytest.mark.parametrize(("times", "steady"), [(0.99, True), (1.01, False)])
def test_a_model_of_a_short_record_must_run_on_without_running_away(
    straight, monkeypatch, times, steady
):
    """For 500 rows at least; it may drift as far as 1.5 deviations for each time of the record."""
    (record,) = straight.restarts_.records
    again = -(-500 // len(record))
    assert again > 1
    farthest = record.y.mean() + times * again * 1.5 * record.y.std()
    run = Mixture.run

    def drifting(self, u, *rest, **more):
        found = run(self, u, *rest, **more)
        if len(u) == again * len(record):
            np.testing.assert_array_equal(u, np.tile(record.u, (again, 1)))
            found.mean[len(record) :] = farthest
        return found

    monkeypatch.setattr(Mixture, "run", drifting)
    trained = replace(straight.restarts_, _steady={})
    assert (len(trained.steady(LEVELS["linear"], 0)) > 0) is steady


def test_a_level_that_diverged_in_one_fold_is_no_candidate(straight):
    trained = straight.restarts_
    before = [(one.level.name, one.round) for one in trained.candidates()]
    first = ("held", 1)
    assert first in before
    fold = next(
        group for group in trained.groups if group.level.name == "held" and group.fold is not None
    )
    objective = trained.stages[1].objective.copy()
    objective[fold.restarts] = np.nan
    stages = [trained.stages[0], trained.stages[1]._replace(objective=objective)]
    hurt = replace(trained, stages=[*stages, *trained.stages[2:]], _runs={})
    after = [(one.level.name, one.round) for one in hurt.candidates()]
    assert after == [one for one in before if one != first]
    assert "held" not in choose(hurt).level.split("+") or ("held", 2) in after


def test_where_every_level_diverged_the_user_is_told(straight):
    trained = straight.restarts_
    stages = [one._replace(objective=np.full_like(one.objective, np.nan)) for one in trained.stages]
    with pytest.raises(TrainingError, match="all 1 restarts of level 'linear' diverged"):
        replace(trained, stages=stages, _runs={}).candidates()


class Entered(Trained):
    """Its candidates are what a test says; all stay with the training records."""

    entered: ClassVar[list[Candidate]] = []

    def candidates(self):
        return self.entered

    def training_error(self, mixture):
        return 1.0

    def seen(self, mixture):
        return self.entered[0].held_out


class Wandering(Trained):
    """In long runs every model but a linear one errs much."""

    def training_error(self, mixture):
        signal = np.exp(mixture.models.transition.gp.kernel.log_std)
        return 0.1 if np.all(signal < 1e-3) else 0.2


def test_a_choice_that_errs_more_than_the_linear_model_in_long_runs_is_not_kept(
    monkeypatch, tmp_path
):
    monkeypatch.setattr(fitting, "Trained", Wandering)
    model = prssm.PRSSM(**SMALL).fit(recording(bend=1.5))
    assert model.level_ == "linear"
    errors = {level: model.held_out_[level]["typical"] for level in LEVELS}
    assert min(errors, key=errors.get) != "linear"
    for fitted in (model, prssm.load(model.save(tmp_path / "m.prssm"))):
        assert min(errors, key=errors.get) in dict(fitted.findings())["Linear"]


def choosing(straight, monkeypatch, errors_of=lambda size: np.full((20, 1), size)):
    """What is chosen where the level `free` has these errors and the linear one has 1 on each.

    `errors_of` makes a stretch's errors of their size.
    """
    linear, *others = best_rounds(straight.restarts_.candidates())
    free = next(one for one in others if one.level.name == "free")

    def held_out(*sizes):
        each = [errors_of(size) for size in sizes]
        return HeldOut(each, [np.ones_like(errors) for errors in each])

    def chosen(*errors):
        entered = [
            linear._replace(held_out=held_out(*np.ones_like(errors))),
            free._replace(held_out=held_out(*errors)),
        ]
        monkeypatch.setattr(Entered, "entered", entered)
        known = {one.name: getattr(straight.restarts_, one.name) for one in fields(Trained)}
        return choose(Entered(**known))

    return chosen


@pytest.mark.parametrize(
    ("errors_of", "gain", "level"),
    [
        ("white", 0.01, "linear"),
        ("white", 0.03, "free+linear"),
        ("white", 0.06, "free"),
        ("lasting", 0.01, "free+linear"),  # something is left that another level could know
        ("lasting", 0.0, "linear"),
    ],
)
def test_a_linear_model_that_leaves_nothing_but_noise_is_kept_alone(
    straight, monkeypatch, errors_of, gain, level
):
    white = np.where(np.random.default_rng(0).random((400, 1)) < 0.5, -1.0, 1.0)
    signs = white if errors_of == "white" else np.ones_like(white)
    choice = choosing(straight, monkeypatch, lambda size: size * signs)(*[1.0 - gain] * 3)
    assert set(choice.level.split("+")) == set(level.split("+"))


def test_a_choice_that_is_lost_on_one_stretch_is_not_kept(straight, monkeypatch):
    """Typical errors of the level `free` are the least; the root mean square is the linear one's.

    A little more than that is chance.
    """
    chosen = choosing(straight, monkeypatch)
    assert chosen(0.3, 1.0).level == "free"
    as_large = np.sqrt(2.0 - 0.3**2)  # as much in all as the linear model
    assert chosen(0.3, as_large).level == "free"
    found = chosen(0.3, 1.05 * as_large)
    assert found.level == "linear"
    assert found.worse_than_linear == "free"


@pytest.mark.parametrize(
    ("errors", "level"),
    [
        ([0.8, 0.8, 0.8, 0.8, 0.8, 1.9], "free"),  # worse on one stretch
        ([0.5, 0.5, 0.5, 0.9, 1.9, 1.9], "free"),  # on two
        ([0.3, 0.3, 0.3, 1.1, 1.9, 1.9], "linear"),  # on half of them
        ([0.8, 0.8, 0.8, 0.8, 0.8, 2.1], "linear"),  # lost on one
        ([0.7, 0.7, 0.7, 0.7, 1.9], "linear"),  # too few to tell
    ],
)
def test_a_choice_that_errs_less_on_most_stretches_is_kept(straight, monkeypatch, errors, level):
    """Though its root mean square, here 1.05 to 1.2, is above that of the linear model, 1."""
    assert np.sqrt(np.mean(np.square(errors))) > 1.02
    assert choosing(straight, monkeypatch)(*errors).level == level


def test_a_linear_model_with_white_errors_is_no_wider_elsewhere(straight, tmp_path):
    """Its band is that of the errors' mean square, inside of what was seen and outside."""
    assert straight.straight_
    candidate = best_rounds(straight.restarts_.candidates())[0]
    held = Calibration.of_white(*candidate.held_out)
    long = Calibration.of_white(*straight.restarts_.over_records(straight.mixture_))
    expected = held.at_least(long).for_few(candidate.held_out.errors)
    np.testing.assert_allclose(straight.calibration_.factor, expected.factor)
    far = prssm.Record(5.0 * recording().u, recording().y, 0.1)
    again = prssm.load(straight.save(tmp_path / "m.prssm"))
    for model in (straight, again):
        with pytest.warns(prssm.PrssmWarning, match="outside"):
            run = model.simulate(far)
        assert run.distance.max() > 1.0
        scaled = model.scaler_.scale(far)
        own = model._simulate(scaled.u, scaled.y[: model.warmup], None, model.config.seed)
        np.testing.assert_allclose(run.std, own.std * model.scaler_.y_std)
        assert "not outside of the training data" in dict(model.findings())["Band"]
        assert model.as_jax().seen is None
        assert describe(model).seen is None


def test_a_linear_model_with_errors_that_last_is_wider_elsewhere(straight, monkeypatch):
    monkeypatch.setattr(selection, "are_white", lambda errors: False)
    choice = choose(straight.restarts_)
    assert choice.level == "linear"
    assert not choice.straight
    candidate = best_rounds(straight.restarts_.candidates())[:1]
    usual = selection.usual_calibration(straight.restarts_, candidate, choice.mixture)
    np.testing.assert_array_equal(choice.calibration.factor, usual.factor)


def test_a_long_run_keeps_its_draws_only_for_who_asks(straight, monkeypatch):
    """Its band is the same either way."""
    record = recording()
    asked = straight.simulate(record, samples=SMALL["simulation_samples"])
    monkeypatch.setattr(estimator, "KEPT_VALUES", 10)
    long = straight.simulate(record)
    assert long.samples is None
    assert asked.samples is not None
    np.testing.assert_array_equal(long.std, asked.std)
