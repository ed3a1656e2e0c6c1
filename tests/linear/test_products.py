"""Products in pieces equal those in one."""

import numpy as np
import pytest

from prssm.linear.products import small_product


@pytest.mark.parametrize(
    ("rows", "columns", "length"),
    [(3, 1, 10), (20, 2, 5000), (20, 20, 5000), (30, 11, 811), (200, 200, 300), (4, 4, 1)],
)
def test_pieces_add_up(rows: int, columns: int, length: int) -> None:
    random = np.random.default_rng(0)
    left = random.standard_normal((rows, length))
    right = random.standard_normal((columns, length))
    np.testing.assert_allclose(small_product(left, right), left @ right.T, atol=1e-9)
