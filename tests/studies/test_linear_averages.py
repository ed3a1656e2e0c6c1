"""The study of means of linear models: what it takes; its shipped rule is the package's."""

import linear_averages
import numpy as np
import pytest
from linear_averages import page, study, taken

from prssm.data.record import Record
from prssm.linear.averaging import orders_together
from prssm.linear.order import judge_orders


def disturbed(rows: int, seed: int) -> list[Record]:
    """A lag whose output drifts."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=rows)
    y = np.zeros(rows)
    drift = np.zeros(rows)
    for t in range(1, rows):
        y[t] = 0.8 * y[t - 1] + 0.2 * u[t - 1]
        drift[t] = 0.97 * drift[t - 1] + 0.1 * rng.normal()
    return [Record(u, y + drift)]


@pytest.mark.parametrize(
    ("held_out", "together"),
    [
        ([[1.0, 0.98, 0.975]], 1),  # gains too little
        ([[1.0, 0.96, 0.98]], 2),
        ([[1.0, 0.9], [1.0, 1.1]], 1),  # 0.995 in the mean of both looks
        ([[2.0, 1.8], [1.0, 0.95]], 2),
        ([], 1),
    ],
)
def test_means_are_taken_where_they_save_enough(held_out: list, together: int) -> None:
    assert taken({"held_out": held_out}, 0.03) == together


def test_one_system_is_studied_as_it_ships(monkeypatch: pytest.MonkeyPatch) -> None:
    train, unseen = disturbed(220, 0), disturbed(300, 1)
    monkeypatch.setattr(linear_averages, "KINDS", {"lag": lambda number: (train, unseen)})
    row = study("lag", 0)
    assert len(row["errors"]) == len(row["orders"])
    scaled = [linear_averages.Scaler.fit(train).scale(record) for record in train]
    shipped = orders_together(judge_orders(scaled, range(1, 21), 16, starts=2))
    count = taken(row, linear_averages.SHIPPED)
    assert [one.order for one in shipped] == row["orders"][:count]
    assert "| **if it saves 3% where held out** (ships) |" in page([row])
