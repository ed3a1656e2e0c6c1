"""The plain models beside a fitted one: they are scored, and speak of nothing themselves."""

import warnings

import numpy as np
import pytest
from still_clock import Clock

from prssm.data import pieces
from prssm.data.record import Record
from prssm.evaluation import comparison
from prssm.evaluation.comparison import compare
from prssm.models import linear_ssm
from prssm.models.constant import Constant
from prssm.models.linear_ssm import LinearSSM


def test_only_the_model_itself_warns_of_rows_outside():
    rng = np.random.default_rng(0)
    u = rng.normal(size=(120, 1))
    y = np.zeros((120, 1))
    for t in range(1, 120):
        y[t] = 0.7 * y[t - 1] + u[t - 1] + 0.05 * rng.normal()
    train = Record(u, y, 1.0, name="train")
    beyond = Record(4.0 * u, 4.0 * y, 1.0, name="beyond")
    small = {"order": 1, "starts": 1, "random_starts": 0}
    model = LinearSSM(**small).fit(train)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = compare(model, [train], [beyond])
    assert [row.label for row in found.baselines] == ["constant"]
    own = found.runs[0].predictions[0].cautions
    assert own
    assert [str(one.message) for one in said] == list(own)


def test_a_run_over_training_rows_warns_only_where_nothing_else_is_scored():
    """The parts of one log have one name: two counts of it would contradict each other."""
    u = np.random.default_rng(1).normal(size=(120, 1))
    y = np.cumsum(u, axis=0)
    model = LinearSSM(order=1, starts=1, random_starts=0).fit(Record(u[:60], y[:60], 1.0))
    train = Record(9.0 * u, 9.0 * y, 1.0, name="log.csv")  # a run that leaves, whatever its part
    test = Record(u[:60], y[:60], 1.0, name="log.csv")
    for scored, warned in (([test], False), ([], True)):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            compare(model, [train], scored)
        assert bool(said) == warned


def motion(rows: int) -> Record:
    random = np.random.default_rng(2)
    u = random.normal(size=(rows, 1))
    y = np.zeros((rows, 1))
    for t in range(1, rows):
        y[t] = 0.7 * y[t - 1] + u[t - 1] + 0.05 * random.normal()
    return Record(u, y, 1.0)


class Known(Constant):
    """A constant whose fit has looked for a linear model."""

    linear_order = 2


@pytest.fixture
def plain(monkeypatch) -> list:
    """The linear models that are fitted beside others."""
    found = []
    fit = LinearSSM.fit

    def noted(self, *data, **options):
        found.append((self.config.order, options["budget"], len(data[0][0])))
        return fit(self, *data, **options)

    monkeypatch.setattr(LinearSSM, "fit", noted)
    return found


def test_in_a_hurry_the_linear_model_has_the_order_that_the_fit_has_found(plain):
    record = motion(120)
    model = Known().fit(record)
    compare(model, [record], [], hurry=True)
    compare(model, [record], [])
    compare(Constant().fit(record), [record], [], hurry=True)  # it has found none
    assert plain == [(2, 3.0, 120), (None, None, 120), (None, None, 120)]


def test_in_a_hurry_long_training_data_are_run_over_in_part(monkeypatch, plain):
    monkeypatch.setattr(comparison, "_ROWS", 100)
    records = [motion(70), motion(60), motion(40)]
    model = Known().fit(records)
    found = compare(model, records, [], hurry=True)
    assert [run.label for run in found.runs] == ["training data, first 100 rows"]
    assert [len(one.mean) for one in found.runs[0].predictions] == [70, 30]
    assert [len(one.mean) for one in found.baselines[0].predictions] == [70, 30]
    whole = compare(model, records, [])
    assert whole.runs[0].label == "training data"
    assert len(whole.runs[0].predictions) == 3
    tested = compare(model, records, [motion(150)], hurry=True)
    assert tested.runs[0].label == "test data"
    assert len(tested.runs[0].predictions[0].mean) == 150


def test_a_linear_fit_with_a_budget_takes_a_part_of_long_data(monkeypatch):
    monkeypatch.setattr(pieces, "_LAST_ROWS", 100)
    monkeypatch.setattr(pieces, "_LAST_PIECE", 50)
    seen = []
    monkeypatch.setattr(linear_ssm, "most_likely", lambda likelihood: seen.append(likelihood))
    rows = []
    search = linear_ssm.Identification

    def noted(records, enough):
        rows.append(sum(map(len, records)))
        return search(records, enough)

    monkeypatch.setattr(linear_ssm, "Identification", noted)
    clock = Clock()
    monkeypatch.setattr("prssm.training.session.time", clock)
    monkeypatch.setattr("prssm.models.estimator.clock", clock)
    LinearSSM(order=1).fit(motion(400), budget=5.0)
    assert (rows, len(seen)) == ([100], 1)
    LinearSSM(order=1).fit(motion(400))
    assert (rows, len(seen)) == ([100, 400], 2)
    judge = linear_ssm.judge_orders

    def slow(*arguments, **options):
        clock.now += 6.0
        return judge(*arguments, **options)

    monkeypatch.setattr(linear_ssm, "judge_orders", slow)
    late = LinearSSM(order=1).fit(motion(400), budget=5.0)
    assert len(seen) == 2  # no time for the noises of its filter, which runs with others
    assert np.isfinite(late.filter(motion(30)).mean).all()
