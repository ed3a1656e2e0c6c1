"""The study of linear models: its systems are what they say, its tables count right."""

import numpy as np
import pytest
from linear_systems import FAMILIES
from subspace import late, page

from prssm.linear.output_error import identify


@pytest.mark.parametrize("family", FAMILIES)
def test_a_number_is_one_system(family: str) -> None:
    first = FAMILIES[family](4)
    again = FAMILIES[family](4)
    other = FAMILIES[family](5)
    np.testing.assert_array_equal(first.train.y, again.train.y)
    assert first.train.y.shape != other.train.y.shape or (first.train.y != other.train.y).any()


def test_a_flexible_system_has_its_order_and_its_noise() -> None:
    """A model of the order that is told leaves the noise that is told, and no more."""
    made = FAMILIES["flexible"](4)
    system = identify([made.train], made.order, starts=2, random_starts=0)
    error = np.sqrt(np.mean(system.nearest_run(made.train)[1] ** 2))
    assert error == pytest.approx(made.noise * made.train.y.std(), rel=0.15)


def test_a_run_that_diverged_has_no_error() -> None:
    assert late(np.full((30, 1), 1e9)) is None
    assert late(np.concatenate([np.full((16, 1), 1e9), np.ones((14, 1))])) == 1.0


def test_the_table_counts_wins_and_relates_errors_to_ours() -> None:
    def row(number: int, n4sid: float | None) -> dict:
        methods = {"N4SID": n4sid, "MOESP": 2.0, "CVA": 4.0}
        errors = {f"error {name}": value for name, value in methods.items()}
        best = {f"error {name} best start": 1.0 for name in ("prssm", *methods)}
        own = {"error prssm": 1.0, "error prssm old start": 1.5, "order prssm": 3}
        return {"family": "general", "number": number, "rows": 9, **errors, **best, **own}

    text = page([row(0, 0.5), row(1, None)])
    # ours wins one, N4SID the other; its lost run counts ten times ours: sqrt(0.5 * 10)
    assert "| general | 2 | 1.00 (1) | 1.50 | 2.24 (1) | 2.00 (0) | 4.00 (0) |" in text
    assert "| general 1 | 9 |  |  | 1 (3) | 1.5 | lost | 2 | 4 |" in text
