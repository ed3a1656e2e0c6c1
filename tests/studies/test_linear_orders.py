"""The study of linear orders: its rule is what ships, its table counts right."""

import linear_orders
import numpy as np
import pytest
from disturbed_systems import KINDS as DISTURBED
from linear_order_systems import arm, several_outputs, structure
from linear_orders import BEFORE, RULES, SHIPPED, WARMUP, Looks, error, page, starts

from prssm.data.record import Record
from prssm.data.scaling import Scaler
from prssm.linear.order import best, judge_orders


@pytest.mark.parametrize("kind", [arm, structure, several_outputs, *DISTURBED.values()])
def test_a_number_is_one_system(kind) -> None:
    train, unseen = kind(4)
    again, _ = kind(4)
    other, _ = kind(5)
    np.testing.assert_array_equal(train[0].y, again[0].y)
    assert train[0].y.shape != other[0].y.shape or (train[0].y != other[0].y).any()
    assert len(unseen[0]) >= 500
    assert np.isfinite(train[0].y).all()


def test_the_rule_that_ships_is_that_of_linear_models(monkeypatch) -> None:
    monkeypatch.setattr(linear_orders, "MOST_STATES", 5)
    rng = np.random.default_rng(0)
    u = rng.standard_normal((220, 1))
    y = np.zeros((220, 1))
    for t in range(2, 220):
        y[t] = 1.6 * y[t - 1] - 0.8 * y[t - 2] + u[t - 1]
    record = Record(u[20:], y[20:] + 0.5 * rng.standard_normal((200, 1)))
    train = [Scaler.fit([record]).scale(record)]
    found = best(judge_orders(train, range(1, 6), WARMUP, starts=2)).order
    looks = Looks(train)
    assert RULES[SHIPPED](looks) == found
    # a model of the truth leaves the noise
    assert error(looks.system(found), train, train) == pytest.approx(0.5 / record.y.std(), rel=0.2)


def test_runs_begin_at_six_places_and_end_with_their_part() -> None:
    record = Record(None, np.arange(100.0)[:, None])
    begins = [(run.y[0, 0], run.y[-1, 0]) for run in starts(record)]
    assert begins == [(0, 99), (50, 99), (0, 24), (25, 49), (50, 74), (75, 99)]


def test_the_table_relates_errors_to_the_best_order_in_hindsight() -> None:
    def row(number: int, errors: dict[str, float], before: int, now: int) -> dict:
        orders = dict.fromkeys(RULES, now) | {BEFORE: before}
        return {"kind": "arm", "number": number, "orders": orders, "errors": errors}

    rows = [row(0, {"2": 2.0, "4": 1.0}, 2, 4), row(1, {"3": 1.0, "5": 1.0}, 3, 3)]
    lines = {line.split("|")[1].strip(): line.split("|")[2:5] for line in page(rows).splitlines()}
    assert [cell.strip() for cell in lines[BEFORE]] == ["1.414", "2.00", "0 : 0"]
    assert [cell.strip() for cell in lines[f"**{SHIPPED}** (ships)"]] == ["1.000", "1.00", "1 : 0"]
