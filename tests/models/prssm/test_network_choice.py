"""Networks as a contender of the default preset: where they win, where not, and what is kept."""

import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import prssm
from prssm.export.describing import describe
from prssm.models.prssm import estimator
from prssm.models.prssm.fitting import final_choice
from prssm.models.prssm.fitting.contest import Contest, is_surely_negative
from prssm.models.prssm.fitting.final_choice import best_of_all
from prssm.models.prssm.fitting.fit import Fitting
from prssm.models.prssm.levels import LEVELS, NETWORK
from prssm.models.prssm.networks import race as networks

SMALL = {
    "linear_order": 2,
    "latent_dim": 2,
    "inducing": 4,
    "batch": 4,
    "horizon": 30,
    "recognition_window": 12,
    "recognition_hidden": 4,
    "restarts": 1,
    "iterations": 10,
    "folds": 2,
    "fold_restarts": 1,
    "members": 2,
    "simulation_samples": 20,
}


def oscillator(rows=400, seed=0, outputs=1, hard=2.0):
    """A mass on a spring that is stiff at first and then soft, and a little noise."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.uniform(-2, 2, rows // 5 + 1), 5)[:rows]
    found = np.empty((rows, 2))
    place = speed = 0.0
    for t in range(rows):
        found[t] = place, speed
        pull = (0.3 + 2.0 * (2.0 - hard)) * place + hard * np.tanh(2.0 * place)
        speed += 0.2 * (-0.8 * speed - pull + 2.0 * u[t])
        place += 0.2 * speed
    return u, found[:, :outputs] + 0.01 * rng.normal(size=(rows, outputs))


class Phases:
    """Notes the phases, and how far each came."""

    def __init__(self, stop_in=None):
        self.stop_in = stop_in
        self.seen = {}

    def start(self, total, done, label):
        self.label = label
        self.seen[label] = (done, total)

    def update(self, done, figures):
        self.seen[self.label] = (done, self.seen[self.label][1])
        if self.label == self.stop_in and done > 30:
            raise KeyboardInterrupt

    def stop(self):
        pass


@pytest.fixture(scope="module")
def data():
    return prssm.Record(*oscillator())


@pytest.fixture(scope="module")
def won(data):
    """A model whose choice was networks, and the phases of its training."""
    phases = Phases()
    return prssm.PRSSM(**SMALL).fit(data, progress=phases), phases


def test_networks_win_where_they_err_less(won):
    model, phases = won
    assert model.level_ == NETWORK.name == "network"
    errors = {level: score["typical"] for level, score in model.held_out_.items()}
    assert errors["network"] < 0.7 * min(errors[level] for level in LEVELS)
    assert phases.seen["training networks"] == (100, 100)


def test_what_was_chosen_is_told(won):
    model, _ = won
    found = dict(model.findings())
    assert found["Complexity"].startswith("network (")
    config = model.config_
    assert found["Size"].startswith(f"{config.latent_dim} states, {config.neurons} neurons")
    assert config.neurons >= 4
    assert config.inducing == 1


def test_it_runs_on_new_data_with_an_honest_band(won):
    model, _ = won
    u, y = oscillator(seed=1)
    run = model.simulate(prssm.Record(u, y))
    late = slice(50, None)
    error = np.sqrt(np.mean((run.mean[late] - y[late]) ** 2)) / y.std()
    assert error < 0.3
    assert np.isfinite(run.std).all()


def test_a_saved_model_is_the_same(won, data, tmp_path):
    model, _ = won
    again = prssm.load(model.save(tmp_path / "m.prssm"))
    assert again.level_ == "network"
    assert again.findings() == model.findings()
    for name in ("neurons", "latent_dim", "inducing", "recognition_hidden"):
        assert getattr(again.config_, name) == getattr(model.config_, name)
    run = model.simulate(data)
    same = again.simulate(data)
    np.testing.assert_array_equal(same.mean, run.mean)
    np.testing.assert_array_equal(same.std, run.std)


def _scaled(model, record):
    scaled = model.scaler_.scale(record)
    return scaled.u, scaled.y


def test_everything_that_uses_a_model_knows_it(won, data):
    model, _ = won
    part = data[:100]
    filtered = model.filter(part)
    assert np.isfinite(filtered.mean).all()
    predicted = model.predict(part, horizon=3)
    assert np.isfinite(predicted.mean).all()
    stepper = model.stepper(best=True)
    first = stepper.start(part.u, part.y)
    # its own equations have improved it, and so those of a free run
    own = model.mixture_.only(0).firsts(*_scaled(model, part))
    np.testing.assert_allclose(first, own.mean[0])
    rough = model.mixture_.only(0).first_states(*_scaled(model, part))[0]
    assert np.abs(first - rough[0]).max() > 1e-6
    description = describe(model)
    assert description is not None


def interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.usefixtures("quick")
def test_an_interrupted_fit_goes_on_to_the_same_model(won, data, tmp_path, monkeypatch):
    model, _ = won
    path = tmp_path / "fit.checkpoint"
    with pytest.raises(prssm.PrssmError, match="resume from"):
        prssm.PRSSM(**SMALL).fit(data, checkpoint=path, progress=Phases("training networks"))
    assert (tmp_path / "fit.checkpoint.network").is_file()
    with monkeypatch.context() as patch:
        patch.setattr(estimator, "filter_members", interrupt)
        with pytest.raises(prssm.TrainingInterrupted, match=r"resume from .*fit.checkpoint$"):
            prssm.PRSSM(**SMALL).fit(data, checkpoint=path, resume=True)
    assert (tmp_path / "fit.checkpoint.network").is_file()
    phases = Phases()
    again = prssm.PRSSM(**SMALL).fit(data, checkpoint=path, resume=True, progress=phases)
    assert again.level_ == "network"
    np.testing.assert_array_equal(again.simulate(data).mean, model.simulate(data).mean)
    assert phases.seen["training networks"] == (100, 100)
    assert [file.name for file in tmp_path.iterdir()] == ["fit.checkpoint"]


@pytest.mark.usefixtures("quick")
def test_of_a_linear_system_they_do_not_win():
    u, y = oscillator(300, hard=0.0)
    model = prssm.PRSSM(**SMALL).fit(prssm.Record(u, y))
    assert "network" not in model.level_.split("+")
    assert model.config_.neurons == 0


def several():
    """Records with gaps, two inputs and two outputs; one is as short as the recognition window."""
    records = []
    for seed, rows in enumerate((80, 9, 90, 85)):
        u, y = oscillator(rows, seed, outputs=2)
        more = np.random.default_rng(seed).normal(size=rows)
        y[rows // 2 : rows // 2 + 4, 0] = np.nan
        records.append(prssm.Record(np.stack([u, more], axis=1), y))
    return records


@pytest.mark.usefixtures("quick")
def test_several_records_with_gaps_many_inputs_and_outputs():
    records = several()
    model = prssm.PRSSM(**SMALL | {"horizon": 9, "recognition_window": 9}).fit(records)
    assert model.level_ == "network"
    for record in records:
        assert np.isfinite(model.simulate(record).mean).all()


def autonomous(rows):
    """The van der Pol oscillator: no input."""
    found = np.empty(rows)
    place, speed = 0.5, 0.0
    for t in range(rows):
        found[t] = place
        speed += 0.15 * ((1.0 - place**2) * speed - place)
        place += 0.15 * speed
    return found + 0.01 * np.random.default_rng(0).normal(size=rows)


@pytest.mark.usefixtures("quick")
def test_a_system_without_inputs():
    record = prssm.Record(np.zeros((400, 0)), autonomous(400))
    model = prssm.PRSSM(**SMALL).fit(record)
    assert model.level_ == "network"
    run = model.simulate(record)
    assert np.sqrt(np.mean((run.mean - record.y) ** 2)) < 0.3 * record.y.std()


# ---- who takes part ----


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("neurons", [0, 3])
def test_neurons_that_were_asked_for_leave_networks_out(data, monkeypatch, neurons):
    def refused(*arguments):
        raise AssertionError("networks were trained")

    monkeypatch.setattr(final_choice, "network_contender", refused)
    model = prssm.PRSSM(**SMALL | {"iterations": 2, "neurons": neurons}).fit(data[:150])
    assert model.config_.neurons == neurons
    assert model.level_ != "network"
    mean = model.mixture_.models.transition.mean
    assert np.shape(getattr(mean, "neuron_bias", np.zeros((1, 0))))[-1] == neurons


@pytest.mark.usefixtures("quick")
def test_a_budget_that_is_nearly_spent_leaves_a_model(data):
    begun = time.monotonic()
    model = prssm.PRSSM(**SMALL).fit(data, budget=0.5)
    assert np.isfinite(model.simulate(data).mean).all()
    assert time.monotonic() - begun < 60.0


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("neurons", "left"), [(None, 0.6 * 992.0), (0, 992.0)])
def test_the_race_leaves_networks_and_filters_their_shares(data, monkeypatch, neurons, left):
    seen = []
    train = Fitting.train

    def noted(self, session, fingerprint, tell, *, judging=0.0):
        seen.append((session.seconds_left(), judging))
        return train(self, session, fingerprint, tell, judging=judging)

    monkeypatch.setattr(Fitting, "train", noted)
    monkeypatch.setattr(final_choice, "network_contender", lambda contest, now: None)
    options = SMALL | {"iterations": 2, "neurons": neurons}
    prssm.PRSSM(**options).fit(data[:150], budget=1000.0)
    assert seen[0][0] == pytest.approx(left, abs=20.0)
    assert 0.0 < seen[0][1] < 0.2 * left  # the race knows how long it takes to judge


def test_the_level_is_no_choice_of_an_option():
    with pytest.raises(prssm.PrssmError, match="complexity"):
        prssm.PRSSM(complexity="network")


# ---- the order of the contest ----


class Fake:
    """A contest in which errors are numbers."""

    def __init__(self, sure=True):
        self.told = []
        self.quiet = False
        self.sure = sure  # whether networks err less in stretch after stretch

    def run(self, first):
        return first

    def surely_less(self, now, other, errors):
        return self.sure

    def gain(self, now, other):
        return 1.0 - other / now

    def better(self, now, other, gain):
        if gain < 0.02:
            return now
        if not self.quiet:
            self.tell(other)
        return other

    def tell(self, now):
        self.told.append(now)


class Networks(float):
    """Networks with an error that leave nothing but noise, or not."""

    noise = False

    def leaves_only_noise(self):
        return self.noise


class Complete(Networks):
    noise = True


@pytest.mark.parametrize(
    ("trained", "grown", "few", "best", "told"),
    [
        (None, 0.9, "sure", 0.9, []),
        (Networks(0.5), 0.1, "sure", 0.5, [0.5]),  # what is so far behind networks does not grow
        (Networks(0.8), 0.9, "sure", 0.8, [0.8, 0.8]),
        (Networks(0.8), 0.5, "sure", 0.5, [0.8, 0.5]),
        (Networks(0.5), 0.9, "chance", 0.9, []),  # a few stretches may flatter networks
        (Networks(0.95), 0.99, "sure", 0.95, [0.95, 0.95]),
        (Networks(0.95), 0.99, "no", 0.95, [0.95, 0.95]),  # of long data one stretch says enough
        (Networks(1.2), 1.0, "no", 1.0, []),
        (Complete(0.8), 0.5, "no", 0.8, [0.8]),  # nothing is left to grow for
        (Complete(1.2), 0.5, "no", 0.5, []),
    ],
)
def test_what_is_kept_in_the_end(monkeypatch, trained, grown, few, best, told):
    first = 1.0

    class Grown:
        def __init__(self, contest, now):
            assert now == first

        def run(self):
            return grown

    monkeypatch.setattr(final_choice, "is_long", lambda now: few == "no")
    monkeypatch.setattr(final_choice, "Growth", Grown)
    monkeypatch.setattr(final_choice, "network_contender", lambda contest, now: trained)
    contest = Fake(sure=few == "sure")
    assert best_of_all(contest, first, with_networks=True) == best
    assert contest.told == told
    assert not contest.quiet
    assert best_of_all(Fake(), first, with_networks=False) == grown


BARE = SimpleNamespace(records=())
BARE._both_held_out = partial(Contest._both_held_out, BARE)


class Judged:
    """A contender whose folds are their errors."""

    def __init__(self, stride, *folds, worse=1.0):
        self.stride = stride
        self.folds = list(folds)
        self.worse = worse  # times the typical error that the root mean square is

    def held_out_at_all_rows(self, records, folds):
        return SimpleNamespace(
            typical=np.mean(folds),
            rmse=self.worse * np.mean(folds),
            of_stretches=lambda: np.array(folds),
        )

    def held_out(self, folds):
        return self.held_out_at_all_rows((), folds)


@pytest.mark.parametrize(
    ("now", "other", "gain"),
    [
        (Judged(1, 1.0, 2.0, 3.0), Judged(1, 2.0), 0.0),  # the folds that both have
        (Judged(1, 2.0), Judged(1, 2.0, worse=1.5), -0.5),  # one stretch in which it runs away
        (Judged(2, 1.0, 4.0, 9.0), Judged(1, 2.0), 0.5),  # of other rates, those in the middle
        (Judged(2, 1.0, 4.0, 10.0), Judged(1, 1.0, 1.0, 1.0), 0.8),
    ],
)
def test_contenders_are_compared_on_the_same_stretches(now, other, gain):
    assert Contest.gain(BARE, now, other) == pytest.approx(gain)


def test_stretch_after_stretch_networks_must_err_less():
    now = Judged(2, 1.0, 2.0, 3.0)
    steady = Judged(1, 0.8, 1.5, 2.5)
    # as low in the mean of the logarithms, by one stretch alone
    one = Judged(1, 1.01, 2.02, 3.0 * 0.8 * 0.75 * 2.5 / 3.0 / 1.01**2)
    assert Contest.surely_less(BARE, now, steady, 2.0)
    assert not Contest.surely_less(BARE, now, one, 2.0)
    assert not Contest.surely_less(BARE, steady, now, 2.0)


@pytest.mark.parametrize(
    ("values", "sure"),
    [
        ([-1.0, -1.2, -0.8], True),
        ([-1.0, -30.0, -1.0], True),
        ([-1.0, -3.0, 1.0], False),
        ([-1.0], False),
        ([], False),
        ([-1.0, -1.1, np.nan], False),  # lost by both
        ([-1.0, -1.1, np.inf], False),
    ],
)
def test_a_mean_is_judged_by_its_standard_error(values, sure):
    assert is_surely_negative(np.array(values), 2.0) is sure


def test_two_standard_errors_are_those_of_the_mean():
    values = np.array([-1.0, -2.0, -4.0, 0.5])
    error = np.sqrt(np.sum((values - values.mean()) ** 2) / 3 / 4)
    limit = -values.mean() / error
    assert is_surely_negative(values, limit - 1e-9)
    assert not is_surely_negative(values, limit + 1e-9)


def test_the_seeds_of_a_contender_are_those_of_its_race(won):
    model, _ = won
    groups = model.restarts_.groups
    assert {group.count for group in groups} == {networks.SEEDS, networks.FOLD_SEEDS}
