"""Systems that the data do not determine are left out of a search, and not of a fit."""

import numpy as np
import pytest

from prssm.data.record import Record
from prssm.foundation.errors import TrainingError
from prssm.linear import output_error
from prssm.linear.order import best, judge_orders
from prssm.linear.output_error import Identification


def first_order(rows=120):
    rng = np.random.default_rng(0)
    u = rng.normal(size=(rows, 1))
    y = np.zeros((rows, 1))
    for t in range(rows - 1):
        y[t + 1] = 0.8 * y[t] + u[t]
    return Record(u, y + 0.01 * rng.normal(size=y.shape))


@pytest.fixture
def undetermined(monkeypatch):
    """What is asked to be undetermined is: a set of orders, or of numbers of candidates."""
    projected = output_error.Projected
    found = {"orders": set(), "candidates": set(), "count": 0}

    def refusing(sections, data):
        one = projected(sections, data)
        found["count"] += 1
        if one.system().order in found["orders"] or found["count"] in found["candidates"]:
            raise np.linalg.LinAlgError("singular")
        return one

    monkeypatch.setattr(output_error, "Projected", refusing)
    return found


def test_other_candidates_take_part_where_one_is_undetermined(undetermined):
    undetermined["candidates"] = {1}
    system = Identification([first_order()]).best(1)
    np.testing.assert_allclose(np.linalg.eigvals(system.A), [0.8], atol=0.01)
    assert undetermined["count"] > 1


def test_where_none_is_determined_it_is_said(undetermined):
    undetermined["orders"] = {2}
    search = Identification([first_order()])
    with pytest.raises(TrainingError, match="determine no system"):
        search.best(2)
    with pytest.raises(TrainingError, match="determine no system"):
        search.glance(2)


def test_an_order_that_is_not_determined_is_not_the_best(undetermined):
    undetermined["orders"] = {2}
    judged = judge_orders([first_order()], [1, 2, 3], 5, starts=2)
    assert 2 not in [one.order for one in judged]
    assert best(judged).order == 1
