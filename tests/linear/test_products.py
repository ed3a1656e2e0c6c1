"""Products in pieces equal those in one."""

import numpy as np
import pytest

from prssm.linear.algebra.products import (
    inverse_root,
    product,
    small_product,
    small_root,
    squared,
    tall_lstsq,
    wide_product,
)


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


@pytest.mark.parametrize("size", [1, 112, 113, 230])
def test_an_inverse_root_by_halves_is_the_inverse_of_the_root(size):
    half = np.random.default_rng(size).standard_normal((size, 2 * size))
    matrix = half @ half.T
    found = inverse_root(matrix)
    np.testing.assert_array_equal(found, np.tril(found))
    np.testing.assert_allclose(found @ np.linalg.cholesky(matrix), np.eye(size), atol=1e-9)


@pytest.mark.parametrize("place", [0, 199])
def test_no_matrix_without_a_root_has_an_inverse_one(place):
    matrix = np.eye(200)
    matrix[place, place] = -1.0
    with pytest.raises(np.linalg.LinAlgError):
        inverse_root(matrix)


@pytest.mark.parametrize("size", [3, 150])
def test_products_of_any_size_equal_those_in_one_piece(size):
    random = np.random.default_rng(size)
    left = random.standard_normal((size, size))
    right = random.standard_normal((size, 2 * size))
    wide = random.standard_normal((size, 3000))
    np.testing.assert_allclose(product(left, right), left @ right, atol=1e-11)
    np.testing.assert_allclose(product(left, right[:, 0]), left @ right[:, 0], atol=1e-11)
    np.testing.assert_allclose(wide_product(left, wide), left @ wide, atol=1e-11)
    np.testing.assert_allclose(squared(right), right.T @ right, atol=1e-11)


@pytest.mark.parametrize("shape", [(5000, 7), (40, 5), (30, 40), (9000, 70)])
def test_least_squares_block_by_block_are_those_in_one(shape):
    random = np.random.default_rng(shape[0])
    matrix = random.standard_normal(shape)
    matrix[:, -1] = matrix[:, 0]  # one direction is not determined
    target = random.standard_normal(shape[0])
    expected = np.linalg.lstsq(matrix, target, rcond=1e-10)[0]
    np.testing.assert_allclose(tall_lstsq(matrix, target, rcond=1e-10), expected, atol=1e-10)
