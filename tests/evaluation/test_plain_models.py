"""The plain models beside a fitted one: they are scored, and speak of nothing themselves."""

import warnings

import numpy as np

from prssm.data.record import Record
from prssm.evaluation.comparison import compare
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
        comparison = compare(model, [train], [beyond])
    assert [row.label for row in comparison.baselines] == ["constant"]
    own = comparison.runs[0].predictions[0].cautions
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
