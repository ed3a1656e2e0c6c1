"""Products in pieces equal those in one."""

import numpy as np
import pytest

from prssm.linear.products import small_product, small_root


@pytest.mark.parametrize(
    ("rows", "columns", "length"),
    [(3, 1, 10), (20, 2, 5000), (20, 20, 5000), (30, 11, 811), (200, 200, 300), (4, 4, 1)],
)
def test_pieces_add_up(rows: int, columns: int, length: int) -> None:
    random = np.random.default_rng(0)
    left = random.standard_normal((rows, length))
    right = random.standard_normal((columns, length))
    np.testing.assert_allclose(small_product(left, right), left @ right.T, atol=1e-9)


@pytest.mark.parametrize("size", [1, 128, 129, 192, 250])
def test_a_root_block_by_block_is_the_root(size):
    half = np.random.default_rng(size).standard_normal((size, 2 * size))
    matrix = half @ half.T
    root = small_root(matrix)
    np.testing.assert_array_equal(root, np.tril(root))
    np.testing.assert_allclose(root @ root.T, matrix, atol=1e-10 * size)


def test_a_matrix_without_a_root_is_refused_in_any_block():
    for place in (0, 199):
        matrix = np.eye(200)
        matrix[place, place] = -1.0
        with pytest.raises(np.linalg.LinAlgError):
            small_root(matrix)
