"""The race between sizes of networks: what it chooses, and that it goes on where it stopped."""

import time
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from still_clock import Clock

from prssm.data.record import Record
from prssm.dynamics.networks import equations
from prssm.dynamics.networks.search import Search
from prssm.foundation.errors import TrainingError, TrainingInterrupted
from prssm.linear.system import LinearSystem
from prssm.models.prssm.networks import race as networks
from prssm.models.prssm.networks.jobs import Job, Result, packed, unpacked
from prssm.models.prssm.networks.race import EVERYTHING, NetworkRace, parts_of
from prssm.models.prssm.starts.network_start import Size, begun, most_promising
from prssm.training.session import Session, Silent

WINDOW = 6
LINEAR = LinearSystem(
    np.array([[0.7]]), np.array([[0.6]]), np.ones((1, 1)), D=np.zeros((1, 1)), offset=np.zeros(1)
)
ROWS = 400


def saturating(rows=ROWS, seed=0):
    """x+ = 0.7 x + tanh(2 u), seen with a little noise."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(-2, 2, (rows, 1))
    x = np.zeros((rows, 1))
    for t in range(rows - 1):
        x[t + 1] = 0.7 * x[t] + np.tanh(2.0 * u[t])
    return Record(u, x + 0.02 * rng.normal(size=x.shape))


def race(target=0.5, folds=2, record=None):
    record = saturating() if record is None else record
    edges = np.linspace(0, len(record), folds + 1).astype(int)
    held_out = [record[begin:end] for begin, end in pairwise(edges)]
    shown = [[one for one in held_out if one is not other] for other in held_out]
    parts = [
        SimpleNamespace(shown_records=records, held_out_records=[hidden])
        for records, hidden in zip(shown, held_out, strict=True)
    ]
    return NetworkRace(
        parts_of(parts, ([record], LINEAR), [LINEAR] * folds),
        judges=[0],
        window=WINDOW,
        seed=0,
        target=target,
    )


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Few networks, of few steps."""
    monkeypatch.setattr(networks, "_FIRST_STEPS", 15)
    monkeypatch.setattr(networks, "_STEPS", 10)
    monkeypatch.setattr(networks, "_FIRST_NEURONS", 2)
    monkeypatch.setattr(networks, "_MOST_NEURONS", 4)
    monkeypatch.setattr(networks, "FOLD_SEEDS", 1)
    monkeypatch.setattr(networks, "SEEDS", 2)


class Watcher(Silent):
    """Notes how far the phase is, and does something at one moment."""

    def __init__(self, at=None, then=None):
        self.at = at
        self.then = then
        self.seen = []

    def start(self, total, done, label):
        self.total = total
        self.begun = done

    def update(self, done, figures):
        self.seen.append(done)
        if len(self.seen) == self.at:
            self.then()


def interrupt():
    raise KeyboardInterrupt


def all_numbers(one):
    return {job: result.row.tobytes() for job, result in one._done.items()}


@pytest.fixture(scope="module")
def whole():
    with pytest.MonkeyPatch.context() as patch:
        small.__wrapped__(patch)
        watcher = Watcher()
        one = race()
        one.run(Session(watcher), "key")
        return one, watcher


def test_networks_find_what_a_linear_model_cannot(whole):
    one, _ = whole
    assert one.path is not None
    assert one.error(one.path, True) < 0.1  # a linear model leaves 0.4 or so
    for fold, seeds in ((EVERYTHING, 2), (0, 1), (1, 1)):
        for seed in range(seeds):
            network = one.network(fold, seed)
            assert network.rmse < 0.1
            assert network.system.shape.neurons == one.path[-1].neurons


def test_seeds_are_different_networks(whole):
    one, _ = whole
    rows = [one.network(EVERYTHING, seed).system.row() for seed in range(2)]
    assert not np.allclose(*rows)


def test_a_mixture_leaves_out_networks_that_fit_their_own_records_far_worse(monkeypatch):
    monkeypatch.setattr(networks, "SEEDS", 4)
    one = race()
    one.path = (Size(2, 4),)
    start = begun(LINEAR, [saturating()], one.path[-1], seed=[0])
    errors = [0.3, 0.1, 0.124, 0.126]
    for seed, error in enumerate(errors):
        result = Result(replace(start, rmse=error).numbers(), np.zeros(0))
        one._done[Job(EVERYTHING, seed, one.path, last=True)] = result
    kept = [one.network(EVERYTHING, number).rmse for number in range(4)]
    assert kept == [0.1, 0.124, 0.1, 0.124]


def test_the_most_promising_start_is_the_one_that_errs_least_after_its_trial():
    """Neurons that begin far from where anything happens learn nothing."""
    record = saturating()
    good = begun(LINEAR, [record], Size(1, 4), seed=[1])
    far = replace(good.system, neuron_bias=np.full(4, 40.0))
    poor = replace(good, system=far)
    assert most_promising([poor, good, poor], 10) is good
    assert most_promising([good, poor], 10) is good
    assert most_promising([poor, good], 10, lambda: False) is poor  # no time: the first
    assert most_promising([poor], 10) is poor


def test_who_watches_sees_it_come_nearer_and_arrive(whole):
    _, watcher = whole
    assert watcher.seen == sorted(watcher.seen)
    assert watcher.seen[-1] == watcher.total
    assert watcher.seen[0] < watcher.total / 2


def test_no_network_is_trained_where_none_comes_near(monkeypatch):
    one = race(target=1e-9)
    one.run(Session(Silent()), "key")
    assert one.path is None
    assert {job.path for job in one._done} == {(Size(states, 2),) for states in (1, 2, 3)}


@pytest.mark.parametrize("moment", [1, 4, "late"])
def test_an_interrupted_race_goes_on_to_the_same_networks(whole, tmp_path, moment):
    """More jobs than a small guess of them must not spoil a checkpoint either."""
    expected, watcher = whole
    moment = len(watcher.seen) - 1 if moment == "late" else moment
    path = tmp_path / "race"
    with pytest.raises(TrainingInterrupted, match="resume from"):
        race().run(Session(Watcher(moment, interrupt), checkpoint=path), "key")
    assert path.is_file()
    again = race()
    later = Watcher()
    again.run(Session(later, checkpoint=path, resume=True), "key")
    assert again.path == expected.path
    assert all_numbers(again) == all_numbers(expected)
    assert later.seen == watcher.seen[moment:]
    assert later.begun == watcher.seen[moment - 1]


def test_an_interruption_of_the_training_itself_loses_only_its_jobs(tmp_path, monkeypatch, whole):
    path = tmp_path / "race"
    calls = []
    train = NetworkRace._train

    def breaking(self, job, go_on):
        calls.append(job)
        if len(calls) > 4:
            raise KeyboardInterrupt
        return train(self, job, go_on)

    monkeypatch.setattr(NetworkRace, "_train", breaking)
    with pytest.raises(TrainingInterrupted):
        race().run(Session(Silent(), checkpoint=path), "key")
    monkeypatch.setattr(NetworkRace, "_train", train)
    again = race()
    again.run(Session(Silent(), checkpoint=path, resume=True), "key")
    assert all_numbers(again) == all_numbers(whole[0])


def test_a_checkpoint_may_hold_many_jobs(tmp_path, monkeypatch):
    monkeypatch.setattr(networks, "SEEDS", 40)
    monkeypatch.setattr(networks, "_FIRST_STEPS", 1)
    monkeypatch.setattr(networks, "_GAIN", 1.0)  # no growth
    path = tmp_path / "race"
    race().run(Session(Silent(), checkpoint=path), "key")
    again = race()
    again.run(Session(Silent(), checkpoint=path, resume=True), "key")
    assert len(again._done) > 80


def looks(monkeypatch, one, clock, seconds):
    """Counts the networks that are judged, which moves the clock by so much each."""
    seen = []
    held_out = NetworkRace._held_out

    def slow(self, job):
        found = held_out(self, job)
        seen.append(job)
        clock.now += seconds
        self._looking = max(self._looking, seconds)
        return found

    monkeypatch.setattr(networks, "time", clock)
    monkeypatch.setattr("prssm.training.session.time", clock)
    monkeypatch.setattr(NetworkRace, "_held_out", slow)
    one.run(Session(Silent(), deadline=10.0), "key")
    return seen


def test_networks_are_given_up_where_no_time_is_left_to_make_models_of_them(monkeypatch):
    """One of four takes three seconds: after a look there are 8.5 seconds for 12."""
    one = race(target=10.0)
    clock = Clock()
    assert len(looks(monkeypatch, one, clock, 1.5)) == 1
    assert clock.now == 1.5
    assert one.path is None


def test_networks_that_a_budget_has_time_for_become_models(monkeypatch):
    one = race(target=10.0)
    looks(monkeypatch, one, Clock(), 0.1)
    assert one.path is not None
    for run in one.network(EVERYTHING, 1).runs:
        assert np.isfinite(run).all()


def test_a_budget_that_is_spent_gives_networks_up_at_once(monkeypatch):
    one = race(target=10.0)
    one.run(Session(Silent(), deadline=time.monotonic() - 1.0), "key")
    assert one.path is None
    assert not any(job.last for job in one._done)


@pytest.mark.parametrize("questions", [1, 30, 80])
def test_what_a_budget_cut_short_goes_on_in_a_resumed_race(whole, tmp_path, monkeypatch, questions):
    """Without a budget it comes to the very networks of a race that never had one."""
    path = tmp_path / "race"
    left = [100.0] * questions
    with monkeypatch.context() as patch:
        patch.setattr(Session, "seconds_left", lambda self: left.pop() if left else 0.0)
        short = race(target=10.0)
        short.run(Session(Silent(), checkpoint=path), "key")
    stopped = [job for job, result in short._done.items() if len(result.paused)]
    assert stopped
    again = race()
    again.run(Session(Silent(), checkpoint=path, resume=True), "key")
    assert again.path == whole[0].path
    assert all_numbers(again) == all_numbers(whole[0])


def test_steps_that_were_taken_are_not_taken_again(tmp_path, monkeypatch):
    monkeypatch.setattr(networks, "_MOST_STEPS", 0)
    monkeypatch.setattr(networks, "_STARTS", 1)  # trials of several are made again
    monkeypatch.setattr(networks, "worker_threads", lambda: 1)
    path = tmp_path / "race"
    taken = []
    step = Search._step
    monkeypatch.setattr(Search, "_step", lambda self: taken.append(1) or step(self))
    race(target=10.0).run(Session(Silent()), "key")
    without_stop = len(taken)
    left = [100.0] * 12
    with monkeypatch.context() as patch:
        patch.setattr(Session, "seconds_left", lambda self: left.pop() if left else 0.0)
        race(target=10.0).run(Session(Silent(), checkpoint=path), "key")
    race(target=10.0).run(Session(Silent(), checkpoint=path, resume=True), "key")
    assert without_stop < len(taken) == 2 * without_stop


def test_every_job_has_its_share_of_a_budget(monkeypatch):
    """A clock that each question moves on: the last networks are trained as well as the first."""
    now = [0.0]

    def later(self):
        now[0] += 0.01
        return max(0.0, 10.0 - now[0])

    monkeypatch.setattr(networks, "worker_threads", lambda: 1)
    monkeypatch.setattr(networks, "_MOST_STEPS", 0)
    monkeypatch.setattr(networks, "_FIRST_STEPS", 10_000)
    asked = []

    def training(self, job, go_on):
        asked.append(0)
        while go_on():
            asked[-1] += 1
        return Result(np.zeros(networks._shape(LINEAR, job.path[-1]).size + 10), np.zeros(0))

    monkeypatch.setattr(Session, "seconds_left", later)
    monkeypatch.setattr(NetworkRace, "_train", training)
    monkeypatch.setattr(NetworkRace, "error", lambda self, path, last: 0.1)
    race().run(Session(Silent()), "key")
    assert min(asked) > 0.5 * max(asked)
    assert now[0] == pytest.approx(10.0, abs=0.5)


@pytest.mark.parametrize(("left", "tried"), [(60.0, True), (40.0, False)])
def test_nothing_larger_is_tried_after_half_of_a_budget(monkeypatch, left, tried):
    answers = [100.0]
    monkeypatch.setattr(Session, "seconds_left", lambda self: answers.pop() if answers else left)
    one = race()
    one.run(Session(Silent()), "key")
    assert any(len(job.path) > 1 for job in one._done) == tried


def test_a_race_leaves_time_for_what_comes_after_it(monkeypatch):
    """To judge a network takes a second; two and one of each fold become models, twice as long."""
    one = race()
    session = Session(Silent(), deadline=time.monotonic() + 100.0)
    assert one._seconds_left(session) == pytest.approx(100.0, abs=2.0)
    one._looking = 1.0
    assert one._seconds_left(session) == pytest.approx(100.0 - 2.0 * 4, abs=2.0)
    assert one._seconds_left(Session(Silent())) is None


def test_judging_is_timed(whole):
    assert whole[0]._looking > 0.0


def test_without_the_native_library_it_is_the_same_race(monkeypatch):
    monkeypatch.setattr(networks, "_FIRST_STEPS", 3)
    monkeypatch.setattr(networks, "_MOST_STEPS", 0)
    both = []
    for missing in (False, True):
        if missing:
            monkeypatch.setattr(equations, "trainer_why_not", lambda: "not built")
        one = race(target=10.0, record=saturating(60))
        one.run(Session(Silent()), "key")
        both.append(one.network(EVERYTHING, 0).system.row())
    np.testing.assert_allclose(both[1], both[0], rtol=1e-6, atol=1e-8)


def test_larger_sizes_are_those_that_the_data_carry():
    # 15 numbers of a network with one state and two neurons, 23 with four, 39 with three states
    few = race(record=saturating(4 * 39 - 1))
    assert few._larger(Size(1, 2)) == [Size(1, 4)]
    enough = race(record=saturating(4 * 39))
    assert enough._larger(Size(1, 2)) == [Size(1, 4), Size(3, 2)]
    assert race()._larger(Size(1, 4)) == [Size(3, 4)]  # neurons are as many as may be
    fixed = race(record=saturating(4 * 39))
    fixed.states = 1
    assert fixed._larger(Size(1, 2)) == [Size(1, 4)]


def test_jobs_survive_being_numbers():
    job = Job(EVERYTHING, 3, (Size(1, 2), Size(3, 2), Size(3, 4)), last=True)
    other = Job(1, 0, (Size(1, 2),))
    results = [Result(np.arange(5.0), np.zeros(0)), Result(np.arange(2.0), np.arange(3.0))]
    table = unpacked(packed({job: results[0], other: results[1]}))
    assert list(table) == [job, other]
    for expected, found in zip(results, table.values(), strict=True):
        np.testing.assert_array_equal(found.row, expected.row)
        np.testing.assert_array_equal(found.paused, expected.paused)
    assert unpacked(packed({})) == {}
    assert job.parent == job._replace(last=False)
    assert job.parent.parent == Job(EVERYTHING, 3, (Size(1, 2), Size(3, 2)))
    assert other.parent is None


def test_other_processes_train_nothing_and_have_the_networks_of_the_first(whole, monkeypatch):
    told = []

    def noted(tree, seconds=0.0):
        told.append(tree)
        return tree

    monkeypatch.setattr(networks.processes, "from_leader", noted)
    race().run(Session(Silent()), "key")
    answers = iter(told[1:])  # the first is what the loop begins with
    monkeypatch.setattr(networks.processes, "from_leader", lambda tree, seconds=0.0: next(answers))
    monkeypatch.setattr(networks.store, "leads", lambda: False)
    follower = race()
    monkeypatch.setattr(follower, "_train", None)
    monkeypatch.setattr(follower, "_held_out", None)
    state = told[0]
    while not follower._finished(state):
        state = follower._advance(Session(Silent()))(state)
    follower._take(state)
    assert follower.path == whole[0].path
    assert all_numbers(follower) == all_numbers(whole[0])
    assert next(answers, None) is None


def with_spare_state(states: int = 2) -> LinearSystem:
    """A linear model with states that the system does not have."""
    A = np.diag([0.7, *np.linspace(0.2, 0.3, states - 1)])
    B = np.full((states, 1), 0.6)
    C = np.concatenate([[1.0], np.full(states - 1, 0.05)])[None]
    return LinearSystem(A, B, C, D=np.zeros((1, 1)), offset=np.zeros(1))


def test_networks_with_fewer_states_than_the_linear_model_are_tried():
    one = race(folds=2)
    one.parts = {key: part._replace(linear=with_spare_state()) for key, part in one.parts.items()}
    one.run(Session(Silent()), "few")
    tried = {job.path[0].states for job in one._done}
    assert tried == {1, 2, 3}
    # the system has one state: of networks that err alike the smaller one is taken
    assert one.path[0].states == 1
    assert one.network(EVERYTHING, 0).system.shape.states == one.path[-1].states


@pytest.mark.parametrize(
    ("linear", "states", "tried"),
    [
        (1, None, [1, 2, 3]),
        (3, None, [1, 2, 3]),
        (5, None, [2, 3, 4, 5]),
        (8, None, [2, 3, 6, 7, 8]),
        (3, 4, [4]),
    ],
)
def test_states_that_are_tried_first(linear, states, tried):
    part = networks.Part([saturating(10)], with_spare_state(linear), ())
    one = NetworkRace(
        {EVERYTHING: part}, judges=[], window=WINDOW, seed=0, target=1.0, states=states
    )
    assert one._first_states() == tried


@pytest.mark.parametrize(("linear", "tried"), [(1, [1, 2, 3]), (3, [3]), (8, [8])])
def test_long_data_start_from_the_states_of_the_linear_model_and_three(monkeypatch, linear, tried):
    monkeypatch.setattr(networks, "_FEW_ROWS", 9)
    part = networks.Part([saturating(10)], with_spare_state(linear), ())
    one = NetworkRace({EVERYTHING: part}, judges=[], window=WINDOW, seed=0, target=1.0)
    assert one._first_states() == tried


def test_where_the_data_determine_no_smaller_model_a_network_starts_without_one(monkeypatch):
    def fails(*_, **__):
        raise TrainingError("no system")

    monkeypatch.setattr(networks, "identify", fails)
    records = [saturating(60)]
    linear = networks._smaller(with_spare_state(3), records, 2)
    start = begun(linear, records, Size(2, 3), seed=[0])
    assert linear.order == 1
    assert start.system.shape.states == 2
    assert np.isfinite(Search(records, start.system, start.firsts, weight=1.0).best.squares)
