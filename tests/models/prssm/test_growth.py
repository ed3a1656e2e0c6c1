"""Rate, states and sizes that follow the data."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest
from jax.sharding import AxisType, Mesh

import prssm
from prssm.foundation.errors import TrainingInterrupted
from prssm.linear.system import LinearSystem
from prssm.models.prssm.config import DEFAULT
from prssm.models.prssm.fitting import contest, growth
from prssm.models.prssm.fitting.growth import seconds, stages
from prssm.models.prssm.levels import LEVELS
from prssm.models.prssm.selection import Choice
from prssm.models.prssm.trained import HeldOut
from prssm.training.distributed.devices import AXIS

pytestmark = pytest.mark.usefixtures("quick_module")  # filters are tested elsewhere

SMALL = {
    "inducing": 4,
    "latent_dim": None,
    "linear_order": 1,
    "samples": 2,
    "batch": 4,
    "horizon": 30,
    "recognition_window": 8,
    "recognition_hidden": 4,
    "restarts": 2,
    "iterations": 30,
    "folds": 2,
    "fold_restarts": 1,
    "simulation_samples": 20,
    "neurons": 0,
}


def records(*lengths):
    rng = np.random.default_rng(0)
    return [prssm.Record(rng.normal(size=n), rng.normal(size=n)) for n in lengths]


def bent(length):
    """x+ = 0.8 x + 0.5 u + 0.8 u^2 with a little noise."""
    rng = np.random.default_rng(1)
    u = rng.uniform(-1, 1, length)
    y = np.empty(length)
    x = 0.0
    for t in range(length):
        y[t] = x + 0.02 * rng.normal()
        x = 0.8 * x + 0.5 * u[t] + 0.8 * u[t] ** 2
    return prssm.Record(u, y)


# ---- how large ----


@pytest.mark.parametrize("lengths", [(900,), (6000,), (65_000,), (500, 700)])
def test_stages_grow_and_their_work_is_bounded(lengths):
    data = records(*lengths)
    config = DEFAULT.resolved(data)
    found = stages(config, data, restarts=5)
    assert [stage.inducing for stage in found] == sorted(stage.inducing for stage in found)
    assert all(config.horizon <= stage.horizon <= max(100, min(lengths) // 2) for stage in found)
    work = sum(
        5 * stage.iterations * seconds(config.latent_dim, stage.inducing, stage.horizon)
        for stage in found
    )
    assert found
    assert work <= growth._WORK + growth._WORK_A_STEP * sum(lengths)


def test_few_data_and_a_fixed_size_do_not_grow():
    few = records(contest.LEAST_TO_GROW - 1)
    assert stages(DEFAULT.resolved(few), few, restarts=5) == []
    many = records(2000)
    assert stages(DEFAULT.replace(grow=False).resolved(many), many, restarts=5) == []


# ---- how slow ----


def system_with(poles, gains):
    count = len(poles)
    return LinearSystem(
        np.diag(poles), np.ones((count, 1)), np.array([gains]), D=np.zeros((1, 1)), offset=0.0
    )


def test_a_slow_mode_counts_where_the_outputs_show_it():
    data = records(3000)
    shown = system_with([0.995, 0.5], [0.1, 1.0])
    assert contest.slow_mode(shown, data) == pytest.approx(-1.0 / np.log(0.995))
    hidden = system_with([0.995, 0.5], [0.001, 1.0])
    assert contest.slow_mode(hidden, data) == pytest.approx(-1.0 / np.log(0.5))


@pytest.mark.parametrize(
    ("rows", "pole", "stride"), [(8000, 0.998, 8), (8000, 0.9, 1), (900, 0.998, 1)]
)
def test_a_slower_rate_is_tried_where_motion_is_slow_and_rows_are_many(rows, pole, stride):
    data = records(rows)
    fitting = SimpleNamespace(records=data)
    starts = SimpleNamespace(
        linear=[SimpleNamespace(system=system_with([pole], [1.0]))], records=[data[0][:2000]]
    )
    now = contest.Contender(fitting, starts, None, 1)
    assert contest.slower_stride(now) == stride


# ---- what is taken ----


def contender(levels, rows, error=1.0):
    """One that keeps these levels of so many rows, and errs so much over its training records."""
    candidates = [SimpleNamespace(level=LEVELS[name]) for name in levels]
    fitting = SimpleNamespace(
        records=records(rows), trained=SimpleNamespace(training_error=lambda mixture: error)
    )
    choice = Choice("", {}, None, None, None, True, candidates, None)
    return contest.Contender(fitting, None, choice, 1)


@pytest.mark.parametrize(
    ("levels", "rows", "gain", "taken"),
    [
        (["linear"], 900, 0.04, False),
        (["linear", "held"], 900, 0.04, False),
        (["linear"], 900, 0.06, True),
        (["held"], 900, 0.04, True),
        (["held"], 900, 0.01, False),
        (["linear"], 9000, 0.01, True),
    ],
)
def test_a_linear_model_of_few_rows_gives_way_to_large_gains_only(levels, rows, gain, taken):
    now = contender(levels, rows)
    other = contender(["free"], rows)
    told = []
    game = contest.Contest(DEFAULT, [], None, "", told.append)
    best = game.better(now, other, gain=gain)
    assert (best.choice.candidates[0].level.name == "free") is taken
    assert len(told) == taken


@pytest.mark.parametrize(
    ("levels", "rows", "errors", "gain"),
    [
        (["linear"], 900, [0.9, 0.9, 0.9 + 1e-9], 0.1),
        (["linear"], 900, [0.7, 0.99, 0.99], 0.0),  # less in all of them, by chance perhaps
        (["held"], 900, [0.7, 1.0, 1.0], 1.0 - 0.7 ** (1.0 / 3.0)),
        (["linear"], 9000, [0.7], 0.3),  # one stretch of long data says enough
        (["linear"], 900, [0.7], 0.0),
    ],
)
def test_growth_must_surely_err_less_than_a_linear_model_of_few_rows(levels, rows, errors, gain):
    """Errors relative to the linear model's, which are one in all stretches."""

    def with_errors(one, sizes):
        stretches = [np.full((5, 1), size) for size in sizes]
        held_out = HeldOut(stretches, stretches)
        one.fitting.trained.held_out = lambda level, number, folds: held_out
        one.choice.candidates[:] = [
            SimpleNamespace(level=part.level, round=0) for part in one.choice.candidates
        ]
        return one

    now = with_errors(contender(levels, rows), [1.0] * len(errors))
    other = with_errors(contender(["free"], rows), errors)
    assert contest.gain_of_growth(now, other, []) == pytest.approx(gain, abs=1e-6)


def test_what_errs_more_over_its_training_records_is_not_taken():
    now = contender(["held"], 900)
    worse = contender(["free"], 900, error=1.03)
    game = contest.Contest(DEFAULT, [], None, "", lambda found: None)
    assert game.better(now, worse, gain=0.5) is now


@pytest.mark.parametrize(
    ("rows", "lasts", "noise"), [(5000, 0.0, True), (5000, 0.5, False), (3000, 0.0, False)]
)
def test_only_noise_is_left_where_errors_over_many_rows_are_white(rows, lasts, noise):
    now = contender(["held"], rows)
    white = np.random.default_rng(0).normal(size=(rows, 1))
    errors = white + lasts * np.cumsum(white, axis=0) / 10.0
    found = HeldOut([errors], [np.ones_like(errors)])
    now.fitting.trained.over_records = lambda mixture: found
    assert now.leaves_only_noise() is noise


# ---- the whole way ----


@pytest.fixture
def everything_is_better(monkeypatch):
    """Every change is taken, stages are short, and 400 rows are many."""
    monkeypatch.setattr(contest, "needed_gain", lambda now: -np.inf)
    monkeypatch.setattr(contest, "_SURELY", -np.inf)
    monkeypatch.setattr(growth, "least_gain", lambda now: -np.inf)
    monkeypatch.setattr(contest, "_WORSE", np.inf)
    monkeypatch.setattr(contest, "LEAST_TO_GROW", 300)
    monkeypatch.setattr(growth, "LEAST_TO_GROW", 300)
    monkeypatch.setattr(growth, "_FAR", np.inf)
    monkeypatch.setattr(growth, "_STAGES", ((6, 40),))
    monkeypatch.setattr(growth, "_ITERATIONS", (20, 20))
    monkeypatch.setattr(growth, "_LEAST_ITERATIONS", 1)
    monkeypatch.setattr(contest, "slower_stride", lambda now: 2)


def test_what_has_grown_is_kept_and_saved(everything_is_better, tmp_path):
    data = bent(800)
    model = prssm.PRSSM(**SMALL).fit(data)
    assert model.stride_ == 2
    assert model.config_.latent_dim == 12
    assert (model.config_.inducing, model.config_.horizon) == (6, 40)
    run = model.simulate(data)
    again = prssm.load(model.save(tmp_path / "m.prssm")).simulate(data)
    np.testing.assert_array_equal(again.mean, run.mean)


def test_on_many_devices_the_same_contest_is_held(everything_is_better, monkeypatch):
    """One device as a mesh of its own: what is trained by JAX is then the same to rounding."""
    data = bent(800)
    in_jax = SMALL | {"engine": "adjoint", "iterations": 10, "restarts": 1, "latent_dim": 2}
    in_jax |= {"stride": 1, "recognition_window": 2}
    alone = prssm.PRSSM(**in_jax).fit(data)
    mesh = Mesh(np.array(jax.devices()[:1]), (AXIS,), axis_types=(AxisType.Auto,))
    monkeypatch.setattr("prssm.training.session.mesh_of", lambda devices: mesh)
    model = prssm.PRSSM(**in_jax).fit(data, devices=1)
    assert model.config_ == alone.config_
    assert (model.config_.inducing, model.config_.horizon) == (6, 40)
    one = alone.simulate(data).mean
    np.testing.assert_allclose(model.simulate(data).mean, one, rtol=1e-6, atol=1e-8)


def test_decisions_are_those_of_the_first_process(monkeypatch):
    monkeypatch.setattr(contest.processes, "from_leader", lambda word, seconds: ~word)
    assert contest.as_the_leader_says(False) is True
    now = contender(["held"], 900)
    game = contest.Contest(DEFAULT, [], None, "", lambda found: None)
    assert game.better(now, contender(["free"], 900), gain=0.5) is now


class Stops:
    """Interrupts the training that has the number `phase`."""

    def __init__(self, phase):
        self.left = phase

    def start(self, total, done, label):
        self.left -= 1

    def update(self, done, figures):
        if self.left < 0:
            raise KeyboardInterrupt

    def stop(self):
        pass


def test_an_interrupted_contest_goes_on_to_the_same_model(everything_is_better, tmp_path):
    data = bent(800)
    whole = prssm.PRSSM(**SMALL).fit(data)
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(TrainingInterrupted):
        prssm.PRSSM(**SMALL).fit(data, checkpoint=path, progress=Stops(4))
    assert (tmp_path / "fit.checkpoint.stage1").exists()
    resumed = prssm.PRSSM(**SMALL).fit(data, checkpoint=path, resume=True)
    np.testing.assert_array_equal(resumed.simulate(data).mean, whole.simulate(data).mean)
    assert [file.name for file in tmp_path.iterdir()] == ["fit.checkpoint"]
