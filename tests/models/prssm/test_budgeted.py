"""Linear models under a budget: a clock that only the search moves ends it, and it can go on."""

import numpy as np
import pytest
from still_clock import Clock

import prssm
from prssm.data.record import Record
from prssm.foundation.errors import ModelFileError
from prssm.linear.held_out import Halves, HeldOutErrors
from prssm.linear.order import Judged, judge_orders, look_again, with_glimpse
from prssm.linear.output_error import Identification
from prssm.linear.projection import Search
from prssm.models.prssm.config import PRSSMConfig
from prssm.models.prssm.starts import budgeted
from prssm.models.prssm.starts.budgeted import BudgetedChoice, choice_file
from prssm.models.prssm.starts.linear_start import Limits, LinearOrders, LinearStart
from prssm.training.session import FOR_ORDERS, Session, Silent

pytestmark = pytest.mark.usefixtures("quick_module")  # filters are tested elsewhere

WINDOW = 6


def recording(outputs: int = 2, rows: int = 240, seed: int = 0) -> Record:
    """Four modes that all outputs see, with a little noise."""
    random = np.random.default_rng(seed)
    u = random.standard_normal((rows, 2))
    poles = np.array([0.95, 0.8, 0.5, -0.4])
    B = random.standard_normal((4, 2))
    x = np.zeros((rows, 4))
    for t in range(1, rows):
        x[t] = poles * x[t - 1] + B @ u[t - 1]
    y = x @ random.standard_normal((4, outputs))
    return Record(u, y / y.std(axis=0) + 0.02 * random.standard_normal((rows, outputs)))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Each order of the search takes one second; there are no glances."""
    clock = Clock()
    hold_out = Halves.hold_out

    def slow(self, order):
        clock.now += 1.0
        return hold_out(self, order)

    monkeypatch.setattr(Halves, "hold_out", slow)
    monkeypatch.setattr(Halves, "glimpse", lambda self, order: None)
    monkeypatch.setattr("prssm.training.session.time", clock)
    monkeypatch.setattr("prssm.models.estimator.clock", clock)
    return clock


def session(clock: Clock, budget: float | None, **more) -> Session:
    deadline = None if budget is None else clock.now + budget
    return Session(Silent(), deadline=deadline, **more)


def judged_within(clock: Clock, budget: float | None) -> list[int]:
    enough = session(clock, budget).after(FOR_ORDERS)
    found = judge_orders([recording()], range(1, 7), WINDOW, starts=1, enough=enough)
    return [one.order for one in found]


def test_a_third_of_the_budget_goes_to_the_orders(clock):
    assert judged_within(clock, 9.0) == [1, 2, 3]
    assert judged_within(clock, 0.1) == [1]  # one there is always


def judged(*errors: float) -> list[Judged]:
    return [Judged(order, error, None) for order, error in enumerate(errors, start=1)]


def glimpses(**errors: float):
    """Held-out errors of subspace estimates: order 4 is the argument `of_4`."""

    def glimpse(order: int) -> HeldOutErrors | None:
        if f"of_{order}" not in errors:
            return None
        return HeldOutErrors([np.full((5, 1), errors[f"of_{order}"])], 0, 0.99, [])

    return glimpse


def test_errors_that_still_fell_are_followed_by_a_glance_at_larger_orders():
    found = with_glimpse(judged(0.9, 0.8), glimpses(of_4=0.5, of_6=0.32, of_8=0.3), [4, 6, 8, 10])
    assert [one.order for one in found] == [1, 2, 6]  # nearly as good as 8, and smaller


def test_a_glance_that_gains_little_is_left_out():
    assert with_glimpse(judged(0.9, 0.8), glimpses(of_4=0.7), [4, 6]) == judged(0.9, 0.8)
    assert with_glimpse(judged(0.9, 0.8), glimpses(), [4, 6]) == judged(0.9, 0.8)
    assert with_glimpse(judged(0.9, 0.8), glimpses(), []) == judged(0.9, 0.8)


def test_no_glance_where_more_states_had_stopped_helping():
    assert with_glimpse(judged(0.8, 0.8), glimpses(of_4=0.1), [4]) == judged(0.8, 0.8)


def test_a_large_budget_changes_nothing(clock):
    assert judged_within(clock, 1e6) == judged_within(clock, None)


def test_no_second_look_once_the_time_is_up():
    def second(held_out):
        raise AssertionError("the time was up")

    both = judged(1.0, 1.05)
    assert look_again(both, second, enough=lambda: True) == both


@pytest.fixture
def rounds(monkeypatch) -> list[int]:
    """The steps that searches for linear models were asked for, one entry each time."""
    found = []
    advance = Search.advance

    def noted(self, steps, enough):
        found.append(steps)
        advance(self, steps, enough)

    monkeypatch.setattr(Search, "advance", noted)
    return found


def test_a_search_ends_with_its_steps_once_the_time_is_up(rounds):
    found = Identification([recording()], enough=lambda: True).best(4, starts=2)
    assert len(rounds) == 2  # of two starts, and none from random ones
    assert np.isfinite(found.A).all()
    rounds.clear()
    Identification([recording()]).best(4, starts=2)
    assert len(rounds) > 6


def test_models_of_the_halves_end_their_search_too(rounds):
    Halves([recording()], WINDOW, 1, enough=lambda: True).hold_out(4)
    assert len(rounds) == 2


def test_a_model_in_a_hurry_is_not_improved_or_checked(monkeypatch, rounds):
    def check(*arguments, **options):
        raise AssertionError("the time was up")

    record = recording(outputs=1, rows=7000)
    limits = Limits(4, 0.99)
    whole = LinearStart.fit([record], limits, WINDOW)
    monkeypatch.setattr("prssm.models.prssm.starts.linear_start.checked", check)
    rounds.clear()
    fold = LinearStart.fit([record], limits, WINDOW, near=whole, enough=lambda: True)
    assert len(rounds) == 1  # from the model nearby alone, and on pieces alone
    assert fold.order == 4


def test_models_are_made_in_a_hurry_after_two_fifths_of_the_budget(clock):
    hurry = BudgetedChoice(session(clock, 10.0), PRSSMConfig()).hurry()
    assert not hurry()
    clock.now += 3.9
    assert not hurry()
    clock.now += 0.2
    assert hurry()
    assert not BudgetedChoice(session(clock, None), PRSSMConfig()).hurry()()


def test_a_fit_hands_its_hurry_to_all_linear_models(monkeypatch):
    asked = []
    fit = LinearStart.fit

    def noted(*arguments, enough, **options):
        asked.append(enough())
        return fit(*arguments, enough=enough, **options)

    monkeypatch.setattr(LinearStart, "fit", noted)
    monkeypatch.setattr(budgeted, "FOR_MODELS", 0.0)
    prssm.PRSSM(**OPTIONS).fit(recording(outputs=1), budget=1000.0)
    prssm.PRSSM(**OPTIONS).fit(recording(outputs=1))
    half = len(asked) // 2
    assert half >= 3  # of all data and of two folds
    assert asked == [True] * half + [False] * half


def test_one_limit_of_the_poles_is_tried_once_the_time_is_up():
    tried = Halves([recording()], WINDOW, 1, enough=lambda: True).hold_out(2)
    assert tried is not None
    assert tried.max_radius > 0.99


def test_a_choice_that_was_cut_short_leaves_one_model(clock):
    whole = LinearOrders.choose([recording()], 6, WINDOW)
    enough = session(clock, 15.0).after(FOR_ORDERS)
    cut = LinearOrders.choose([recording()], 6, WINDOW, enough=enough)
    assert len(cut.limits) == cut.together == 1
    assert cut.limits[0].order == whole.limits[0].order == 4


def choose(session: Session, record: Record) -> LinearOrders:
    return BudgetedChoice(session, PRSSMConfig())([record], 6, WINDOW, order=None)


def test_a_resumed_fit_takes_the_choice_of_the_run_before(clock, tmp_path):
    at = tmp_path / "training"
    first = choose(session(clock, 6.0, checkpoint=at), recording())
    again = choose(session(clock, None, checkpoint=at, resume=True), recording())
    assert first.together == again.together == 1
    (before,) = first.limits
    (after,) = again.limits
    assert after[:2] == before[:2] == (2, before.max_radius)
    for one, other in zip(before.near, after.near, strict=True):
        np.testing.assert_array_equal(one.A, other.A)
        np.testing.assert_array_equal(one.C, other.C)


def test_the_choice_of_other_data_is_refused(clock, tmp_path):
    at = tmp_path / "training"
    choose(session(clock, 6.0, checkpoint=at), recording())
    with pytest.raises(ModelFileError, match="other data"):
        choose(session(clock, None, checkpoint=at, resume=True), recording(seed=1))


def test_a_choice_is_kept_only_where_a_clock_decided(clock, tmp_path):
    at = tmp_path / "training"
    choose(session(clock, None, checkpoint=at), recording())
    assert not choice_file(at).exists()
    choose(session(clock, 6.0, checkpoint=at), recording())
    assert choice_file(at).exists()
    choose(session(clock, None, checkpoint=at), recording())  # anew: the old one is gone
    assert not choice_file(at).exists()


OPTIONS = {"complexity": "held", "folds": 2, "iterations": 3, "restarts": 1, "fold_restarts": 1}


def test_a_fit_with_a_spent_budget_is_saved_and_leaves_no_file(monkeypatch, tmp_path):
    monkeypatch.setattr(budgeted, "FOR_ORDERS", 0.0)
    record = recording()
    at = tmp_path / "training"
    model = prssm.PRSSM(**OPTIONS).fit(record, budget=1000.0, checkpoint=at)
    assert not choice_file(at).exists()
    loaded = prssm.load(model.save(tmp_path / "model"))
    expected = model.simulate(record).mean
    assert np.isfinite(expected).all()
    np.testing.assert_array_equal(loaded.simulate(record).mean, expected)


def test_a_linear_fit_ends_with_the_orders_that_its_budget_allows(clock):
    record = recording()
    assert prssm.LinearSSM().fit(record).order_ == 4
    assert prssm.LinearSSM().fit(record, budget=6.0).order_ == 2


class StopsTraining(Silent):
    """Presses Ctrl-C in the first iteration."""

    def start(self, total: int, done: int, label: str) -> None:
        self.is_training = label == "training"

    def update(self, done, figures) -> None:
        if self.is_training:
            raise KeyboardInterrupt


def test_an_interrupted_fit_with_a_budget_goes_on(monkeypatch, tmp_path):
    """The search was cut short: a resumed fit without a budget keeps its one linear model."""
    monkeypatch.setattr(budgeted, "FOR_ORDERS", 0.0)
    record = recording()
    at = tmp_path / "training"
    chosen = []
    choose = LinearOrders.choose

    def noted(*arguments, **options):
        chosen.append(choose(*arguments, **options))
        return chosen[-1]

    monkeypatch.setattr(LinearOrders, "choose", noted)
    with pytest.raises(prssm.TrainingInterrupted):
        prssm.PRSSM(**OPTIONS).fit(record, budget=1e6, checkpoint=at, progress=StopsTraining())
    assert choice_file(at).exists()
    model = prssm.PRSSM(**OPTIONS).fit(record, checkpoint=at, resume=True)
    assert len(chosen[0].limits) == 1
    assert len(chosen) == 1  # nothing was looked for again
    assert np.isfinite(model.simulate(record).mean).all()


@pytest.mark.parametrize(("complexity", "order"), [("held", 2), ("free", None)])
def test_a_fit_knows_the_order_of_its_linear_model_if_it_has_one(complexity, order):
    options = OPTIONS | {"complexity": complexity, "linear_order": 2, "latent_dim": 3}
    assert prssm.PRSSM(**options).fit(recording()).linear_order == order
